// Text files that nobody vouches for, line by line: bounded in line length and number of lines, printable text only.
// For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

// "FILE:LINE: what is wrong", or "FILE: …".
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One line is bad; the reader can go on with the next.
struct BadLine : BadInput {
  using BadInput::BadInput;
};

constexpr std::size_t max_line_bytes = 65536;
constexpr int max_lines = 10'000'000; // of a file, blank ones too

class LineReader {
public:
  // Opens the file and skips a byte order mark. Throws BadInput.
  explicit LineReader(const std::string &path);

  // The next line, without its end (\n or \r\n); false behind the last. Throws BadLine if it is too long or is no text,
  // BadInput if there are too many lines or the file cannot be read on.
  bool next();

  const std::string &text() const { return line_; }
  int number() const { return number_; } // of the current line, from 1
  const std::string &path() const { return path_; }

  [[noreturn]] void refuse(const std::string &what) const; // throws BadLine about the current line

private:
  bool fill();

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::string line_;
  int number_ = 0;
};

std::string_view without_blanks(std::string_view text); // around it

// The whole text as a number in that range; nothing if it is none. Numbers look the same in every locale.
std::optional<double> number_in(std::string_view text, double least, double most);
std::optional<std::int64_t> whole_in(std::string_view text, std::int64_t least, std::int64_t most);

// A file's name in a message: it may be anything.
std::string shown_path(const std::string &path);

} // namespace harmony
