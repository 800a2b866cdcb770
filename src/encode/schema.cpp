#include "src/encode/schema.h"

#include "src/values/gang.h"

#include <fmt/format.h>

namespace harmony {
namespace {

#define HARMONY_FEATURE(name, meaning) {#name, meaning},
const std::vector<Feature> of_job{HARMONY_JOB_FEATURES(HARMONY_FEATURE)};
const std::vector<Feature> of_candidate{HARMONY_CANDIDATE_FEATURES(HARMONY_FEATURE)};
const std::vector<Feature> of_gang{HARMONY_GANG_FEATURES(HARMONY_FEATURE)};
#undef HARMONY_FEATURE

void add_types(std::vector<Feature> &features, const std::vector<std::string> &types, const std::string &prefix,
               const std::string &meaning) {
  features.push_back(
      {prefix + unknown_type, fmt::format(fmt::runtime(meaning), "a type that the model does not know")});
  for (const std::string &type : types)
    features.push_back({prefix + type, fmt::format(fmt::runtime(meaning), "type " + type)});
}

std::string columns_problem(const char *which, const std::vector<FeatureRange> &theirs,
                            const std::vector<Feature> &ours) {
  if (theirs.size() != ours.size())
    return fmt::format("its manifest has {} {} features, schema {} has {}", theirs.size(), which, schema_version,
                       ours.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (theirs[i].name != ours[i].name)
      return fmt::format("{} feature {} is {} in its manifest and {} in schema {}", which, i, theirs[i].name,
                         ours[i].name, schema_version);
  return {};
}

} // namespace

std::vector<Feature> job_features() { return of_job; }

std::vector<Feature> candidate_features(const std::vector<std::string> &types) {
  std::vector<Feature> features = of_candidate;
  add_types(features, types, "node_type:", "part of the node's GPUs that jobs of {} hold (of its cores, without GPUs)");
  add_types(features, types, "domain_type:", "part of the domain's GPUs that jobs of {} hold");
  return features;
}

std::vector<Feature> gang_features(const std::vector<std::string> &types) {
  std::vector<Feature> features = of_gang;
  add_types(features, types, "met_type:", "part of its nodes' GPUs that jobs of {} hold, on average");
  return features;
}

ModelShape shape_for(const std::vector<std::string> &types) {
  const int known = 1 + static_cast<int>(types.size());
  return {known, job_column::count, candidate_column::count + 2 * known, gang_column::count + known};
}

std::string schema_problem(const Manifest &manifest) {
  if (manifest.schema != schema_version)
    return fmt::format("it was trained on schema {}, this build speaks schema {}", manifest.schema, schema_version);
  for (const auto &problem : {columns_problem("job", manifest.job, job_features()),
                              columns_problem("candidate", manifest.candidates, candidate_features(manifest.types)),
                              columns_problem("gang", manifest.gangs, gang_features(manifest.types))})
    if (!problem.empty()) return problem;
  return {};
}

} // namespace harmony
