// Tables in text files, with a header and one record a line. Nothing in them is trusted: every error names file and
// line. For one thread.
#pragma once

#include "src/sim/input/line_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

class CsvReader {
public:
  // Reads the header. `required` columns have to be there; those that are neither required nor optional are ignored,
  // and named in ignored(). Fields may be in double quotes if they are separated by commas. Throws BadInput.
  CsvReader(const std::string &path, const std::vector<std::string> &required, const std::vector<std::string> &optional,
            char separator = ',');

  // The next line that is not blank; throws BadLine, after which it can be called again, if it has another number of
  // fields than the header, BadInput if the file cannot be read on.
  bool next();

  bool has(const std::string &column) const;
  const std::string &text(const std::string &column) const; // empty if the column is not there
  // Of the current line; what is no such number, or out of range, is BadLine. The default counts if the column is not
  // there or the field is empty.
  double number(const std::string &column, double least, double most, double otherwise) const;
  std::int64_t whole(const std::string &column, std::int64_t least, std::int64_t most, std::int64_t otherwise) const;

  const std::vector<std::string> &ignored() const { return ignored_; }
  int line() const { return lines_.number(); }
  [[noreturn]] void refuse(const std::string &what) const { lines_.refuse(what); } // throws BadLine: the current line

private:
  int index(const std::string &column) const; // -1: not there
  void split();
  std::size_t read_quoted(std::size_t at, std::string &field);

  LineReader lines_;
  char separator_;
  std::vector<std::string> columns_, ignored_;
  std::vector<std::string> fields_; // at least as many as were met so far: their memory is used again
  std::size_t field_count_ = 0;
};

} // namespace harmony
