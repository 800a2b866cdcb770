#include "src/tool/model_text.h"

#include "src/encode/schema.h"
#include "src/show/json_line.h"
#include "src/values/printable.h"

#include <fmt/format.h>
#include <json/json.h>

namespace harmony {
namespace {

Json::Value entry_json(const ModelEntry &entry, bool in_use) {
  Json::Value value;
  value["version"] = entry.version;
  value["in_use"] = in_use;
  value["problem"] = one_line(entry.problem);
  if (!entry.problem.empty()) return value;
  value["name"] = entry.manifest.name;
  value["schema"] = entry.manifest.schema;
  value["torch"] = entry.manifest.torch;
  value["sha256"] = entry.manifest.sha256;
  value["trained_on"] = entry.manifest.trained_on;
  value["evaluation"] = entry.manifest.evaluation;
  return value;
}

Json::Value ranges_json(const std::vector<FeatureRange> &features) {
  Json::Value list(Json::arrayValue);
  for (const FeatureRange &feature : features) {
    Json::Value value;
    value["name"] = feature.name;
    value["low"] = feature.low;
    value["high"] = feature.high;
    list.append(value);
  }
  return list;
}

std::string ranges_text(const char *kind, const std::vector<FeatureRange> &features) {
  std::string text = fmt::format("{} features of {}\n", features.size(), kind);
  for (const FeatureRange &feature : features)
    text += fmt::format("  {:<28} {:g} to {:g}\n", feature.name, feature.low, feature.high);
  return text;
}

std::string listing_row(const std::string &version, bool in_use, const ModelEntry &entry) {
  const Manifest &manifest = entry.manifest;
  const char *mark = in_use ? "yes" : "";
  return entry.problem.empty() ? fmt::format("{:>7}  {:<6}  {:<32}  {:>6}  {:<8}  {}\n", version, mark, manifest.name,
                                             manifest.schema, manifest.torch, manifest.evaluation)
                               : fmt::format("{:>7}  {:<6}  unsound: {}\n", version, mark, entry.problem);
}

std::string features_of(const char *kind, const std::vector<Feature> &features) {
  std::string text = fmt::format("{}\n", kind);
  for (const Feature &feature : features) text += fmt::format("  {:<28} {}\n", feature.name, feature.meaning);
  return text;
}

} // namespace

std::string listing_text(const ModelListing &listing, const ModelEntry &shipped) {
  std::string text = fmt::format("{:>7}  {:<6}  {:<32}  {:>6}  {:<8}  {}\n", "VERSION", "IN USE", "NAME", "SCHEMA",
                                 "TORCH", "EVALUATION");
  text += listing_row("shipped", listing.none && shipped.problem.empty(), shipped);
  for (const ModelEntry &entry : listing.versions)
    text += listing_row(std::to_string(entry.version), entry.version == listing.in_use, entry);
  return text;
}

std::string listing_json(const std::string &store, const ModelListing &listing, const std::string &shipped_directory,
                         const ModelEntry &shipped) {
  Json::Value root;
  root["store"] = one_line(store);
  root["in_use"] = listing.in_use;
  root["before"] = Json::arrayValue;
  for (const int version : listing.before) root["before"].append(version);
  root["problem"] = one_line(listing.problem);
  root["shipped"] = entry_json(shipped, listing.none && shipped.problem.empty());
  root["shipped"].removeMember("version");
  root["shipped"]["directory"] = one_line(shipped_directory);
  root["versions"] = Json::arrayValue;
  for (const ModelEntry &entry : listing.versions)
    root["versions"].append(entry_json(entry, entry.version == listing.in_use));
  return json_line(root) + "\n";
}

std::string model_text(const std::string &store, const ModelEntry &entry, bool in_use) {
  const Manifest &manifest = entry.manifest;
  std::string types;
  for (const std::string &type : manifest.types) types += (types.empty() ? "" : ", ") + type;
  std::string text;
  for (const auto &[key, value] : {std::pair<const char *, std::string>{"name", manifest.name},
                                   {"version", fmt::format("{}{}", entry.version, in_use ? " (in use)" : "")},
                                   {"schema", std::to_string(manifest.schema)},
                                   {"torch", manifest.torch},
                                   {"sha256", manifest.sha256},
                                   {"job types", types},
                                   {"trained on", manifest.trained_on},
                                   {"evaluation", manifest.evaluation},
                                   {"model card", fmt::format("{}/{}/MODEL_CARD.md", store, entry.version)}})
    text += fmt::format("{:<11} {}\n", key, value);
  return text + ranges_text("the job", manifest.job) + ranges_text("candidates", manifest.candidates) +
         ranges_text("whole gangs", manifest.gangs);
}

std::string model_json(const std::string &store, const ModelEntry &entry, bool in_use) {
  Json::Value root = entry_json(entry, in_use);
  root["store"] = one_line(store);
  root["types"] = Json::arrayValue;
  for (const std::string &type : entry.manifest.types) root["types"].append(type);
  root["features"]["job"] = ranges_json(entry.manifest.job);
  root["features"]["candidates"] = ranges_json(entry.manifest.candidates);
  root["features"]["gangs"] = ranges_json(entry.manifest.gangs);
  return json_line(root) + "\n";
}

std::string verification_text(const ModelReading &reading) {
  std::string text;
  for (const ModelCheck &check : reading.checks)
    text += check.problem.empty() ? fmt::format("ok      {:<12} {}\n", check.name, check.detail)
                                  : fmt::format("FAILED  {:<12} {}\n", check.name, check.problem);
  return text;
}

std::string verification_json(const ModelReading &reading) {
  Json::Value root;
  root["version"] = reading.version;
  root["sound"] = reading.problem.empty();
  root["problem"] = one_line(reading.problem);
  root["checks"] = Json::arrayValue;
  for (const ModelCheck &check : reading.checks) {
    Json::Value value;
    value["name"] = check.name;
    value["ok"] = check.problem.empty();
    value["detail"] = one_line(check.problem.empty() ? check.detail : check.problem);
    root["checks"].append(value);
  }
  return json_line(root) + "\n";
}

std::string features_text(const std::vector<std::string> &types) {
  return fmt::format("schema {}\n", schema_version) + features_of("job", job_features()) +
         features_of("candidates", candidate_features(types)) + features_of("gangs", gang_features(types));
}

std::string features_json(const std::vector<std::string> &types) {
  const auto list = [](const std::vector<Feature> &features) {
    Json::Value all(Json::arrayValue);
    for (const Feature &feature : features) {
      Json::Value value;
      value["name"] = feature.name;
      value["meaning"] = feature.meaning;
      all.append(value);
    }
    return all;
  };
  Json::Value root;
  root["schema"] = schema_version;
  root["job"] = list(job_features());
  root["candidates"] = list(candidate_features(types));
  root["gangs"] = list(gang_features(types));
  return json_line(root) + "\n";
}

} // namespace harmony
