#include "src/sim/input/line_reader.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace harmony {
namespace {

constexpr std::size_t buffer_bytes = 1 << 16;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

// UTF-8 passes: names and comments may have it.
bool is_text(std::string_view line) {
  return std::none_of(line.begin(), line.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < ' ' && c != '\t') || byte == 0x7f;
  });
}

} // namespace

std::string shown_path(const std::string &path) { return one_line(path, 4096); }

LineReader::LineReader(const std::string &path) : path_(path), buffer_(buffer_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw BadInput(shown_path(path) + ": is a directory, not a file");
  file_.open(path, std::ios::binary);
  if (!file_) throw BadInput(fmt::format("{}: cannot be opened: {}", shown_path(path), std::strerror(errno)));
  fill();
  if (std::string_view(buffer_.data(), end_).substr(0, byte_order_mark.size()) == byte_order_mark)
    at_ = byte_order_mark.size();
}

bool LineReader::fill() {
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  at_ = 0;
  end_ = static_cast<std::size_t>(file_.gcount());
  if (file_.bad()) throw BadInput(fmt::format("{}: cannot be read on behind line {}", shown_path(path_), number_));
  return end_ > 0;
}

bool LineReader::next() {
  line_.clear();
  if (at_ == end_ && !fill()) return false;
  if (number_ == max_lines) throw BadInput(fmt::format("{}: has more than {} lines", shown_path(path_), max_lines));
  ++number_;
  bool too_long = false;
  for (bool ended = false; !ended && (at_ < end_ || fill());) {
    const char *from = buffer_.data() + at_;
    const auto *newline = static_cast<const char *>(std::memchr(from, '\n', end_ - at_));
    const std::size_t length = newline ? static_cast<std::size_t>(newline - from) : end_ - at_;
    ended = newline != nullptr;
    at_ += length + (ended ? 1 : 0);
    too_long = too_long || line_.size() + length > max_line_bytes;
    if (!too_long) line_.append(from, length);
  }
  if (too_long) refuse(fmt::format("the line is longer than {} bytes", max_line_bytes));
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  if (!is_text(line_)) refuse("the line has control characters; the file has to be text");
  return true;
}

void LineReader::refuse(const std::string &what) const {
  throw BadLine(fmt::format("{}:{}: {}", shown_path(path_), number_, what));
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> number_in(std::string_view text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value) || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_in(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (value < least || value > most) return std::nullopt;
  return value;
}

} // namespace harmony
