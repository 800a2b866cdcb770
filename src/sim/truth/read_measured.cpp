#include "src/sim/truth/read_measured.h"

#include "src/sim/input/json_file.h"
#include "src/sim/input/line_reader.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace harmony {
namespace {

// What the calibration's machines can hold.
constexpr int most_gpus = 8, most_nodes = 8;

std::string our_name(const std::string &name) {
  if (name == "mobilenet_v2") return "mobilenet";
  if (name == "inception_v3") return "inception3";
  return name;
}

class Table {
public:
  explicit Table(const std::string &path) : path_(path) {}

  std::map<std::string, std::vector<Measured>> read() {
    const Json::Value root = read_json_object(path_);
    std::map<std::string, std::vector<Measured>> made;
    for (const std::string &model : root.getMemberNames()) {
      where_ = printable(model);
      std::vector<Measured> &entries = made[our_name(model)];
      for (const std::string &gpus : members(root[model]))
        for (const std::string &nodes : members(root[model][gpus])) {
          where_ = fmt::format("{}, {} GPUs, {} nodes", printable(model), printable(gpus), printable(nodes));
          entries.push_back(entry(our_name(model), gpus, nodes, root[model][gpus][nodes]));
        }
      std::sort(entries.begin(), entries.end(), [](const Measured &one, const Measured &other) {
        return std::tie(one.gpus, one.nodes) < std::tie(other.gpus, other.nodes);
      });
    }
    return made;
  }

private:
  [[noreturn]] void refuse(const std::string &what) const {
    throw BadInput(fmt::format("{}: {}: {}", shown_path(path_), where_, what));
  }

  std::vector<std::string> members(const Json::Value &value) const {
    if (!value.isObject()) refuse("is no object by GPUs, then by nodes");
    return value.getMemberNames();
  }

  Measured entry(const std::string &type, const std::string &gpus, const std::string &nodes,
                 const Json::Value &ratio) const {
    Measured made;
    made.type = type;
    made.nodes = static_cast<int>(whole_in(nodes, 1, most_nodes).value_or(0));
    if (made.nodes == 0) refuse(fmt::format("the nodes are no whole number from 1 to {}", most_nodes));
    made.gpus = static_cast<int>(whole_in(gpus, made.nodes, most_gpus).value_or(0));
    if (made.gpus == 0) refuse(fmt::format("the GPUs are no whole number from the nodes to {}", most_gpus));
    if (!ratio.isNumeric() || !(ratio.asDouble() > 0 && ratio.asDouble() <= 10))
      refuse("the relative speed is no number above 0 and up to 10");
    made.ratio = ratio.asDouble();
    return made;
  }

  const std::string path_;
  std::string where_;
};

} // namespace

std::map<std::string, std::vector<Measured>> read_measured(const std::string &path) { return Table(path).read(); }

} // namespace harmony
