// Text of others, made fit for logs and terminals. Whoever wrote it chose neither its length nor its characters.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace harmony {

constexpr bool is_printable(char c) { return c >= ' ' && c <= '~'; }

// At most `most` characters of the text, reversibly: \xNN for what is not printable ASCII, \" and \\.
inline std::string printable(std::string_view text, std::size_t most = 64) {
  constexpr const char *digits = "0123456789abcdef";
  std::string safe;
  for (const char c : text.substr(0, most)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      safe += {'\\', c};
    else if (is_printable(c))
      safe += c;
    else
      safe += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
  if (text.size() > most) safe += "...";
  return safe;
}

// Text that is a sentence of our own already, from a place that might have been tampered with: '?' for what is not
// printable, so that nothing is escaped twice.
inline std::string one_line(std::string_view text, std::size_t most = 1000) {
  std::string safe(text.substr(0, most));
  for (char &c : safe)
    if (!is_printable(c)) c = '?';
  if (text.size() > most) safe += "...";
  return safe;
}

} // namespace harmony
