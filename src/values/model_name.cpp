#include "src/values/model_name.h"

#include "src/values/topology.h"

namespace harmony {
namespace {

// By hand, since <cctype> follows the locale.
char clean_character(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-') return c;
  return '_';
}

} // namespace

std::string clean_model(std::string_view name) {
  const std::size_t first = name.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  name = name.substr(first, name.find_last_not_of(" \t\r\n") - first + 1).substr(0, max_model_length);
  std::string model;
  for (char c : name) model += clean_character(c);
  return model;
}

} // namespace harmony
