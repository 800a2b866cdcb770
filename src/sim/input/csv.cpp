#include "src/sim/input/csv.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

constexpr std::size_t max_columns = 1000;

bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

CsvReader::CsvReader(const std::string &path, const std::vector<std::string> &required,
                     const std::vector<std::string> &optional, char separator)
    : lines_(path), separator_(separator) {
  do {
    if (!lines_.next()) throw BadInput(shown_path(path) + ": has no header: the file is empty");
  } while (without_blanks(lines_.text()).empty());
  split();
  columns_.assign(fields_.begin(), fields_.begin() + static_cast<std::ptrdiff_t>(field_count_));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string &name = columns_[i];
    const bool known = contains(required, name) || contains(optional, name);
    if (known && index(name) < static_cast<int>(i)) refuse(fmt::format("the header has the column {} twice", name));
    if (!known) ignored_.push_back(name.empty() ? fmt::format("column {} (no name)", i + 1) : printable(name));
  }
  for (const std::string &name : required)
    if (index(name) < 0) refuse(fmt::format("the header has no column {}", name));
}

bool CsvReader::next() {
  do {
    field_count_ = 0;
    if (!lines_.next()) return false;
  } while (without_blanks(lines_.text()).empty());
  split();
  if (field_count_ != columns_.size()) {
    const std::size_t found = field_count_;
    field_count_ = 0;
    refuse(fmt::format("the line has {} field{}, the header {}", found, found == 1 ? "" : "s", columns_.size()));
  }
  return true;
}

void CsvReader::split() {
  const std::string &line = lines_.text();
  field_count_ = 0;
  for (std::size_t at = 0;; ++at) {
    if (field_count_ == max_columns) refuse(fmt::format("the line has more than {} fields", max_columns));
    if (field_count_ == fields_.size()) fields_.emplace_back();
    std::string &field = fields_[field_count_++];
    field.clear();
    if (separator_ == ',' && at < line.size() && line[at] == '"') {
      at = read_quoted(at, field);
    } else {
      const std::size_t end = std::min(line.find(separator_, at), line.size());
      field.assign(without_blanks(std::string_view(line).substr(at, end - at)));
      at = end;
    }
    if (at >= line.size()) return;
  }
}

// Reads the field whose opening quote is at `at`; returns where its separator is, or the end of the line.
std::size_t CsvReader::read_quoted(std::size_t at, std::string &field) {
  const std::string &line = lines_.text();
  for (++at; at < line.size(); ++at) {
    if (line[at] == '"' && (at + 1 == line.size() || line[at + 1] != '"')) break;
    if (line[at] == '"') ++at;
    field += line[at];
  }
  if (at >= line.size()) refuse("a quote is not closed");
  if (++at < line.size() && line[at] != separator_) refuse("a field goes on behind its closing quote");
  return at;
}

int CsvReader::index(const std::string &column) const {
  const auto found = std::find(columns_.begin(), columns_.end(), column);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

bool CsvReader::has(const std::string &column) const { return index(column) >= 0; }

const std::string &CsvReader::text(const std::string &column) const {
  static const std::string none;
  const int at = index(column);
  return at < 0 || static_cast<std::size_t>(at) >= field_count_ ? none : fields_[static_cast<std::size_t>(at)];
}

double CsvReader::number(const std::string &column, double least, double most, double otherwise) const {
  const std::string &field = text(column);
  if (field.empty()) return otherwise;
  const auto value = number_in(field, least, most);
  if (!value) refuse(fmt::format("{} is \"{}\", not a number from {} to {}", column, printable(field), least, most));
  return *value;
}

std::int64_t CsvReader::whole(const std::string &column, std::int64_t least, std::int64_t most,
                              std::int64_t otherwise) const {
  const std::string &field = text(column);
  if (field.empty()) return otherwise;
  const auto value = whole_in(field, least, most);
  if (!value)
    refuse(fmt::format("{} is \"{}\", not a whole number from {} to {}", column, printable(field), least, most));
  return *value;
}

} // namespace harmony
