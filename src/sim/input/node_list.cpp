#include "src/sim/input/node_list.h"

#include "src/sim/input/line_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

constexpr std::size_t longest_name = 128;

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// "1-3,07" as 1, 2, 3, 07.
bool numbers_in(std::string_view text, std::size_t most, std::vector<std::string> &numbers) {
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const std::string_view range = text.substr(0, comma);
    if (more) text.remove_prefix(comma + 1);
    const std::size_t dash = range.find('-');
    const std::string_view first = range.substr(0, dash);
    const std::string_view last = dash == std::string_view::npos ? first : range.substr(dash + 1);
    const auto from = whole_in(first, 0, 999'999'999), to = whole_in(last, 0, 999'999'999);
    if (!from || !to || *from > *to || static_cast<std::size_t>(*to - *from) >= most) return false;
    for (std::int64_t number = *from; number <= *to; ++number)
      numbers.push_back(fmt::format("{:0{}}", number, first.size()));
    if (numbers.size() > most) return false;
  }
  return true;
}

// Every name with every number behind it.
bool cross(std::vector<std::string> &names, const std::vector<std::string> &numbers, std::size_t most) {
  if (names.size() * numbers.size() > most) return false;
  std::vector<std::string> all;
  for (const std::string &name : names)
    for (const std::string &number : numbers) all.push_back(name + number);
  names = std::move(all);
  return true;
}

} // namespace

std::optional<std::vector<std::string>> nodes_of_list(std::string_view text, std::size_t most) {
  std::vector<std::string> nodes, names{""};
  const auto end_name = [&] {
    if (names.front().empty() || names.front().size() > longest_name || nodes.size() + names.size() > most)
      return false;
    nodes.insert(nodes.end(), names.begin(), names.end());
    names = {""};
    return true;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ',') {
      if (!end_name()) return std::nullopt;
    } else if (text[at] == '[') {
      const std::size_t close = text.find(']', at);
      std::vector<std::string> numbers;
      if (close == std::string_view::npos || !numbers_in(text.substr(at + 1, close - at - 1), most, numbers) ||
          !cross(names, numbers, most))
        return std::nullopt;
      at = close;
    } else if (is_name_letter(text[at])) {
      for (std::string &name : names) name += text[at];
    } else {
      return std::nullopt;
    }
  }
  if (!end_name()) return std::nullopt;
  return nodes;
}

} // namespace harmony
