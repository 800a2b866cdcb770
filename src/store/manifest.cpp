#include "src/store/manifest.h"

#include "src/values/job_description.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <initializer_list>
#include <memory>
#include <set>

namespace harmony {
namespace {

constexpr int max_depth = 8;

bool is_feature_name(const std::string &name) {
  const auto allowed = [](char c) { return detail::is_type_letter(c) || c == '_' || c == '.' || c == ':' || c == '-'; };
  return !name.empty() && name.size() <= max_feature_name && detail::is_type_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), allowed);
}

bool is_torch_version(const std::string &text) {
  const auto allowed = [](char c) {
    return detail::is_type_letter(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '+' || c == '-';
  };
  return !text.empty() && text.size() <= 32 && detail::is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), allowed);
}

bool is_digest(const std::string &text) {
  const auto hex = [](char c) { return detail::is_digit(c) || (c >= 'a' && c <= 'f'); };
  return text.size() == 64 && std::all_of(text.begin(), text.end(), hex);
}

bool is_text(const std::string &text) {
  return text.size() <= max_manifest_text && std::all_of(text.begin(), text.end(), is_printable);
}

std::string types_problem(const std::vector<std::string> &types) {
  if (types.size() > max_model_types) return fmt::format("types: more than {}", max_model_types);
  std::set<std::string> seen;
  for (const std::string &type : types) {
    if (!is_type(type)) return fmt::format("types: \"{}\" is not {}", printable(type), type_allowed);
    if (type == "unknown") return "types: \"unknown\" is always there and not listed";
    if (!seen.insert(type).second) return fmt::format("types: \"{}\" is listed twice", type);
  }
  return {};
}

std::string features_problem(const char *kind, const std::vector<FeatureRange> &features) {
  if (features.size() > max_features) return fmt::format("features.{}: more than {}", kind, max_features);
  std::set<std::string> seen;
  for (const FeatureRange &feature : features) {
    if (!is_feature_name(feature.name))
      return fmt::format("features.{}: the name \"{}\" is not 1 to {} of a-z, 0-9, '_', '.', ':' and '-', the first a "
                         "letter or a digit",
                         kind, printable(feature.name), max_feature_name);
    if (!seen.insert(feature.name).second)
      return fmt::format("features.{}: \"{}\" is listed twice", kind, feature.name);
    const auto sound = [](double value) { return std::isfinite(value) && std::fabs(value) <= max_feature_value; };
    if (!sound(feature.low) || !sound(feature.high))
      return fmt::format("features.{}: the range of \"{}\" is not within {:g} and {:g}", kind, feature.name,
                         -max_feature_value, max_feature_value);
    if (feature.low > feature.high)
      return fmt::format("features.{}: the range of \"{}\" ends before it begins", kind, feature.name);
  }
  return {};
}

// From JSON to the value, with the first thing that is not as it has to be. Nothing is converted on the way, as jsoncpp
// would.
class Reader {
public:
  ManifestReading read(const Json::Value &root) {
    Manifest &manifest = reading_.manifest;
    keys(root, "", {"name", "version", "schema", "torch", "sha256", "types", "features", "trained_on", "evaluation"});
    text(root, "name", manifest.name);
    number(root, "version", manifest.version);
    number(root, "schema", manifest.schema);
    text(root, "torch", manifest.torch);
    text(root, "sha256", manifest.sha256);
    types(root);
    if (good()) {
      const Json::Value &features = root["features"];
      keys(features, "features", {"job", "candidates", "gangs"});
      ranges(features, "job", manifest.job);
      ranges(features, "candidates", manifest.candidates);
      ranges(features, "gangs", manifest.gangs);
    }
    text(root, "trained_on", manifest.trained_on);
    text(root, "evaluation", manifest.evaluation);
    if (good()) reading_.problem = manifest_problem(manifest);
    return std::move(reading_);
  }

private:
  bool good() const { return reading_.problem.empty(); }
  void fail(std::string problem) {
    if (good()) reading_.problem = std::move(problem);
  }

  void keys(const Json::Value &value, const std::string &where, std::initializer_list<const char *> expected) {
    if (!good()) return;
    const std::string at = where.empty() ? "" : where + ": ";
    if (!value.isObject()) return fail(fmt::format("{}not an object {{...}}", at));
    for (const char *key : expected)
      if (!value.isMember(key)) return fail(fmt::format("{}there is no \"{}\"", at, key));
    for (const std::string &name : value.getMemberNames())
      if (std::find(expected.begin(), expected.end(), name) == expected.end())
        return fail(fmt::format("{}unknown key \"{}\"", at, printable(name)));
  }

  void text(const Json::Value &object, const char *key, std::string &to) {
    if (!good()) return;
    if (!object[key].isString()) return fail(fmt::format("{}: not a string", key));
    to = object[key].asString();
  }

  void number(const Json::Value &object, const char *key, int &to) {
    if (!good()) return;
    const Json::Value &value = object[key];
    const bool whole = value.type() == Json::intValue || value.type() == Json::uintValue; // isInt() takes 1.0 too
    if (!whole || !value.isInt()) return fail(fmt::format("{}: not a whole number", key));
    to = value.asInt();
  }

  void types(const Json::Value &root) {
    if (!good()) return;
    const Json::Value &list = root["types"];
    if (!list.isArray()) return fail("types: not a list");
    for (const Json::Value &type : list) {
      if (!type.isString()) return fail("types: not strings alone");
      reading_.manifest.types.push_back(type.asString());
    }
  }

  void ranges(const Json::Value &features, const char *kind, std::vector<FeatureRange> &to) {
    if (!good()) return;
    const Json::Value &list = features[kind];
    if (!list.isArray()) return fail(fmt::format("features.{}: not a list", kind));
    for (Json::ArrayIndex i = 0; i < list.size() && good(); ++i) {
      const std::string where = fmt::format("features.{}[{}]", kind, i);
      keys(list[i], where, {"name", "low", "high"});
      if (!good()) return;
      FeatureRange &range = to.emplace_back();
      if (!list[i]["name"].isString()) return fail(where + ": the name is not a string");
      range.name = list[i]["name"].asString();
      if (!list[i]["low"].isNumeric() || !list[i]["high"].isNumeric())
        return fail(where + ": low or high is not a number");
      range.low = list[i]["low"].asDouble() + 0.0; // no negative zero: as text it would read back as another number
      range.high = list[i]["high"].asDouble() + 0.0;
    }
  }

  ManifestReading reading_;
};

// May throw: jsoncpp does when a text is nested too deeply.
ManifestReading parsed(const std::string &json) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  builder["stackLimit"] = max_depth;
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  Json::Value root;
  std::string problems;
  if (!reader->parse(json.data(), json.data() + json.size(), &root, &problems)) {
    std::replace(problems.begin(), problems.end(), '\n', ' ');
    return {{}, fmt::format("not JSON: {}", one_line(problems, 200))};
  }
  return Reader().read(root);
}

std::string quoted(const std::string &text) { return Json::valueToQuotedString(text.c_str()); }

std::string ranges_json(const std::vector<FeatureRange> &features) {
  std::string text;
  for (const FeatureRange &feature : features)
    text += fmt::format("{}\n      {{\"name\": {}, \"low\": {}, \"high\": {}}}", text.empty() ? "" : ",",
                        quoted(feature.name), feature.low + 0.0, feature.high + 0.0);
  return text.empty() ? "[]" : "[" + text + "\n    ]";
}

} // namespace

std::string manifest_problem(const Manifest &manifest) {
  if (!is_type(manifest.name)) return fmt::format("name: \"{}\" is not {}", printable(manifest.name), type_allowed);
  if (manifest.version < 0 || manifest.version > max_model_version)
    return fmt::format("version: {} is not from 0 to {}", manifest.version, max_model_version);
  if (manifest.schema < 1) return fmt::format("schema: {} is not 1 or more", manifest.schema);
  if (!is_torch_version(manifest.torch))
    return fmt::format("torch: \"{}\" is not a version such as 1.13.1", printable(manifest.torch));
  if (!is_digest(manifest.sha256)) return "sha256: not 64 of 0-9 and a-f";
  if (std::string problem = types_problem(manifest.types); !problem.empty()) return problem;
  if (std::string problem = features_problem("job", manifest.job); !problem.empty()) return problem;
  if (std::string problem = features_problem("candidates", manifest.candidates); !problem.empty()) return problem;
  if (std::string problem = features_problem("gangs", manifest.gangs); !problem.empty()) return problem;
  for (const auto &[key, text] : {std::pair("trained_on", &manifest.trained_on), {"evaluation", &manifest.evaluation}})
    if (!is_text(*text))
      return fmt::format("{}: not one line of at most {} printable characters", key, max_manifest_text);
  return {};
}

ManifestReading read_manifest(const std::string &json) {
  if (json.size() > max_manifest_size) return {{}, fmt::format("more than {} bytes", max_manifest_size)};
  ManifestReading reading;
  try {
    reading = parsed(json);
  } catch (const std::exception &problem) {
    reading.problem = fmt::format("not JSON: {}", one_line(problem.what(), 200));
  }
  if (!reading.problem.empty()) reading.manifest = Manifest(); // half a manifest is none
  return reading;
}

std::string manifest_json(const Manifest &manifest) {
  std::string types;
  for (const std::string &type : manifest.types) types += (types.empty() ? "" : ", ") + quoted(type);
  return fmt::format("{{\n  \"name\": {},\n  \"version\": {},\n  \"schema\": {},\n  \"torch\": {},\n  \"sha256\": {},\n"
                     "  \"types\": [{}],\n  \"features\": {{\n    \"job\": {},\n    \"candidates\": {},\n"
                     "    \"gangs\": {}\n  }},\n  \"trained_on\": {},\n  \"evaluation\": {}\n}}\n",
                     quoted(manifest.name), manifest.version, manifest.schema, quoted(manifest.torch),
                     quoted(manifest.sha256), types, ranges_json(manifest.job), ranges_json(manifest.candidates),
                     ranges_json(manifest.gangs), quoted(manifest.trained_on), quoted(manifest.evaluation));
}

} // namespace harmony
