#include "src/sim/input/json_file.h"

#include "src/sim/input/line_reader.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

namespace harmony {
namespace {

constexpr std::size_t max_json_bytes = 4'000'000;
constexpr int max_depth = 20;

std::string text_of(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput(shown_path(path) + ": cannot be opened");
  std::string text(max_json_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) throw BadInput(shown_path(path) + ": cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > max_json_bytes)
    throw BadInput(fmt::format("{}: more than {} bytes", shown_path(path), max_json_bytes));
  return text;
}

} // namespace

Json::Value read_json_object(const std::string &path) {
  const std::string text = text_of(path);
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["stackLimit"] = max_depth;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value root;
  std::string problems;
  bool sound = false;
  try {
    sound = reader->parse(text.data(), text.data() + text.size(), &root, &problems);
  } catch (const Json::Exception &exception) { // nested too deeply
    problems = exception.what();
  }
  std::replace(problems.begin(), problems.end(), '\n', ' ');
  if (!sound) throw BadInput(fmt::format("{}: is not JSON: {}", shown_path(path), one_line(problems, 200)));
  if (!root.isObject()) throw BadInput(shown_path(path) + ": is no JSON object");
  return root;
}

} // namespace harmony
