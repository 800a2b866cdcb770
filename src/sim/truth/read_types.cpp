#include "src/sim/truth/job_type.h"

#include "src/sim/input/json_file.h"
#include "src/sim/input/line_reader.h"
#include "src/values/job_description.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <set>

namespace harmony {
namespace {

constexpr int most_types = 10000;

struct NumberKey {
  const char *name;
  double JobType::*value;
  double least, most;
};

constexpr NumberKey number_keys[] = {
    {"parameters_mb", &JobType::parameters_mb, 0, 1e7},
    {"compute_s", &JobType::compute_s, 1e-6, 1e5},
    {"steps_per_epoch", &JobType::steps_per_epoch, 1e-3, 1e9},
    {"input_mb", &JobType::input_mb, 0, 1e6},
    {"host_mb", &JobType::host_mb, 0, 1e6},
    {"cpu_s", &JobType::cpu_s, 0, 1e5},
    {"memory_mb", &JobType::memory_mb, 0, 1e7},
    {"overlap", &JobType::overlap, 0, 1},
    {"network_efficiency", &JobType::network_efficiency, 0.001, 1},
    {"ring_latency_s", &JobType::ring_latency_s, 0, 1e3},
    {"spread", &JobType::spread, 0, 100},
};

class TypesFile {
public:
  TypesFile(const std::string &path, JobTypes &types) : path_(path), types_(types) {}

  void read() {
    const Json::Value root = read_json_object(path_);
    for (const std::string &key : root.getMemberNames())
      if (key != "types") refuse(fmt::format("\"{}\" is no key of it; there is \"types\" only", printable(key)));
    const Json::Value &list = root["types"];
    if (!list.isArray() || list.size() > most_types)
      refuse(fmt::format("\"types\" is no list of up to {}", most_types));
    for (Json::ArrayIndex i = 0; i < list.size(); ++i) {
      where_ = fmt::format("type {}", i + 1);
      read_type(list[i]);
    }
  }

private:
  [[noreturn]] void refuse(const std::string &what) const {
    throw BadInput(fmt::format("{}: {}{}{}", shown_path(path_), where_, where_.empty() ? "" : ": ", what));
  }

  void read_type(const Json::Value &object) {
    if (!object.isObject()) refuse("is no object");
    const Json::Value &name = object["name"];
    if (!name.isString() || !is_type(name.asString())) refuse(fmt::format("\"name\" is not {}", type_allowed));
    where_ += fmt::format(" ({})", name.asString());
    if (!seen_.insert(name.asString()).second) refuse("the name was there before");
    JobType type = types_.knows(name.asString()) ? types_.of(name.asString()) : JobType();
    type.name = name.asString();
    type.source = "file";
    for (const std::string &key : object.getMemberNames())
      if (key != "name") set(type, key, object[key]);
    types_.set(type);
  }

  void set(JobType &type, const std::string &key, const Json::Value &value) const {
    if (key == "skewed") {
      if (!value.isBool()) refuse("\"skewed\" is not true or false");
      type.skewed = value.asBool();
      return;
    }
    if (key == "source") {
      if (!value.isString()) refuse("\"source\" is no text");
      type.source = printable(value.asString(), 200);
      return;
    }
    for (const NumberKey &known : number_keys)
      if (key == known.name) {
        if (!value.isNumeric() || !(value.asDouble() >= known.least && value.asDouble() <= known.most))
          refuse(fmt::format("\"{}\" is no number from {} to {}", key, known.least, known.most));
        type.*known.value = value.asDouble();
        return;
      }
    refuse(fmt::format("\"{}\" is no key of a type", printable(key)));
  }

  const std::string path_;
  JobTypes &types_;
  std::string where_;
  std::set<std::string> seen_;
};

} // namespace

void read_types(const std::string &path, JobTypes &types) {
  JobTypes read = types; // so that a file that is refused changes nothing
  TypesFile(path, read).read();
  types = read;
}

} // namespace harmony
