#include "src/encode/schema.h"
#include "src/infer/load_torch.h"
#include "src/infer/model_source.h"

#include <fmt/format.h>

#include <algorithm>

namespace harmony {
namespace {

// "1.13" of "1.13.1+dfsg": models are good within a minor version.
std::string minor_version(const std::string &version) {
  const std::size_t first = version.find('.');
  return first == std::string::npos ? version : version.substr(0, version.find_first_not_of("0123456789", first + 1));
}

// Rows all over the ranges of training, the same ones every time.
Rows specimens(const std::vector<FeatureRange> &ranges, int count) {
  Rows rows;
  rows.count = count;
  rows.width = static_cast<int>(ranges.size());
  std::uint32_t random = 12345;
  for (int i = 0; i < count; ++i)
    for (const FeatureRange &range : ranges) {
      random = random * 1664525u + 1013904223u;
      rows.values.push_back(static_cast<float>(range.low + (range.high - range.low) * (random >> 8) / (1 << 24)));
    }
  return rows;
}

bool all_alike(const std::vector<float> &scores) {
  return std::adjacent_find(scores.begin(), scores.end(), std::not_equal_to<>()) == scores.end();
}

// One that does not care what it is asked would leave every choice to chance.
std::string problem_with_answers(const ReadyModel &ready) {
  constexpr int asked = 64;
  const Rows job = specimens(ready.manifest.job, 1);
  try {
    Scorer scorer(ready);
    scorer.ask_about({0, job.values});
    const std::vector<float> candidates = scorer.candidates(specimens(ready.manifest.candidates, asked));
    const std::vector<float> gangs = scorer.gangs(specimens(ready.manifest.gangs, asked));
    if (all_alike(candidates) && all_alike(gangs)) return "it gives every candidate and every gang the same score";
  } catch (const ModelRefused &refused) {
    return fmt::format("{} ({})", refused.what(), model_fault_name(refused.fault));
  }
  return {};
}

// What is wrong with its reward network, in one line.
std::string take_reward(ReadyModel &ready, int types) {
  std::vector<float> parameters = ready.model->reward_parameters();
  if (parameters.empty()) return {};
  const std::string problem = RewardNetwork::problem_with(types, parameters);
  if (problem.empty()) ready.reward = std::make_shared<const RewardNetwork>(types, std::move(parameters));
  return problem;
}

} // namespace

Prepared prepare_model(const ModelReading &reading, const std::string &torch_library) {
  std::string problem = reading.problem.empty() ? schema_problem(reading.manifest) : reading.problem;
  if (!problem.empty()) return {nullptr, problem};
  const TorchLibrary library = open_torch_library(torch_library);
  if (!library.table) return {nullptr, library.problem};
  if (minor_version(reading.manifest.torch) != minor_version(library.table->torch_version))
    return {nullptr, fmt::format("it was written with LibTorch {}, this is {}; retrain or convert it",
                                 reading.manifest.torch, library.table->torch_version)};
  auto ready = std::make_shared<ReadyModel>();
  ready->manifest = reading.manifest;
  const ModelShape shape = shape_for(reading.manifest.types);
  ready->model = load_model(library, reading.model, shape, problem);
  if (!ready->model) return {nullptr, problem};
  try {
    problem = warm_up(*ready->model, shape);
    if (problem.empty()) problem = take_reward(*ready, shape.types);
  } catch (const std::exception &failed) {
    problem = failed.what();
  }
  if (problem.empty()) problem = problem_with_answers(*ready);
  if (!problem.empty()) return {nullptr, problem};
  return {ready, {}};
}

} // namespace harmony
