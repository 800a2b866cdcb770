#include "src/publish/extra_field.h"

namespace harmony {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// HM, digits, colon: a later version's word is ours too, to be replaced and never to be left beside a second one.
bool begins_our_word(std::string_view text) {
  if (text.substr(0, 2) != "HM") return false;
  std::size_t i = 2;
  while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
  return i > 2 && i < text.size() && text[i] == ':';
}

} // namespace

std::string_view topology_word(std::string_view extra) {
  for (std::size_t start = 0; start < extra.size();) {
    std::size_t end = start;
    while (end < extra.size() && !is_space(extra[end])) ++end;
    if (begins_our_word(extra.substr(start))) return extra.substr(start, end - start);
    start = end + 1;
  }
  return {};
}

std::string with_topology_word(std::string_view extra, std::string_view word) {
  const std::string_view old = topology_word(extra);
  std::string result(extra);
  if (!old.empty())
    result.replace(static_cast<std::size_t>(old.data() - extra.data()), old.size(), word);
  else
    result.append(extra.empty() || is_space(extra.back()) ? "" : " ").append(word);
  return result;
}

} // namespace harmony
