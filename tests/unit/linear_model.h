// A model for tests of what is around it: weights on named features, in plain C++.
#pragma once

#include "src/encode/schema.h"
#include "src/infer/scorer.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace harmony {
namespace fixtures {

using Weights = std::map<std::string, float>;

class LinearModel : public Model {
public:
  LinearModel(const std::vector<std::string> &types, const Weights &candidate, const Weights &gang)
      : candidate_(columns(candidate_features(types), candidate)), gang_(columns(gang_features(types), gang)) {}

  std::vector<float> score_candidates(const JobRow &, const Rows &rows) override {
    calls.push_back(rows);
    return scores(candidate_, rows);
  }
  std::vector<float> score_gangs(const JobRow &job, const Rows &rows) override {
    before_gangs();
    gang_calls.push_back(rows);
    jobs.push_back(job);
    return scores(gang_, rows);
  }

  std::vector<Rows> calls, gang_calls;
  std::vector<JobRow> jobs;
  std::function<void()> before_gangs = [] {};

private:
  using Columns = std::vector<std::pair<std::size_t, float>>;

  static Columns columns(const std::vector<Feature> &features, const Weights &weights) {
    Columns found;
    for (std::size_t i = 0; i < features.size(); ++i)
      if (const auto weight = weights.find(features[i].name); weight != weights.end())
        found.emplace_back(i, weight->second);
    return found;
  }
  static std::vector<float> scores(const Columns &columns, const Rows &rows) {
    std::vector<float> sums;
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row) {
      float sum = 0;
      for (const auto &[column, weight] : columns)
        sum += weight * rows.values[row * static_cast<std::size_t>(rows.width) + column];
      sums.push_back(sum);
    }
    return sums;
  }

  const Columns candidate_, gang_;
};

inline std::vector<FeatureRange> all_of(const std::vector<Feature> &features) {
  std::vector<FeatureRange> ranges;
  for (const Feature &feature : features) ranges.push_back({feature.name, 0, 1});
  return ranges;
}

inline Manifest manifest(const std::vector<std::string> &types = {}) {
  Manifest made;
  made.name = "linear";
  made.version = 1;
  made.schema = schema_version;
  made.torch = "1.13.1";
  made.sha256 = std::string(64, '0');
  made.types = types;
  made.job = all_of(job_features());
  made.candidates = all_of(candidate_features(types));
  made.gangs = all_of(gang_features(types));
  return made;
}

inline ReadyModel ready(const Weights &candidate, const Weights &gang, const std::vector<std::string> &types = {}) {
  return {std::make_shared<LinearModel>(types, candidate, gang), manifest(types)};
}

// Fills nodes up; takes empty ones; waits. Whole gangs are judged by the same.
inline ReadyModel packs() {
  return ready({{"left_after", -1}, {"new_node", -1}}, {{"wait", -9}, {"nodes", -1}, {"left_over", -1}});
}
inline ReadyModel spreads() { return ready({{"left_after", 1}}, {{"wait", -9}, {"nodes", 1}, {"left_over", 1}}); }
inline ReadyModel waits() { return ready({{"left_after", -1}}, {{"wait", 1}}); }

} // namespace fixtures
} // namespace harmony
