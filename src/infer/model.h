// A policy model as the planner sees it: rows of features in, a score a row out. LibTorch is behind it, in a library of
// its own that is loaded only when a model is (src/infer/torch).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace harmony {

// Features row by row.
struct Rows {
  int count = 0;
  int width = 0;
  std::vector<float> values; // count * width
};

// How wide the model's inputs are; the manifest says so, and src/encode/schema.h what is in them.
struct ModelShape {
  int types = 1; // rows of the type embedding: 0 is "unknown"
  int job = 0;
  int candidate = 0;
  int gang = 0;
};

// What is the same for all candidates of one decision.
struct JobRow {
  std::int64_t type = 0; // index into the manifest's types; 0: unknown
  std::vector<float> features;
};

// The model threw, or something below it did; one line.
struct ModelFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// It answered, in a form that is not asked for; one line.
struct ModelShapeWrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Not for several threads at once.
class Model {
public:
  virtual ~Model() = default;

  // A score for every row, higher is better; comparable within one decision. Whether the scores are finite is the
  // guard's question. No rows: no scores, and the model is not asked.
  virtual std::vector<float> score_candidates(const JobRow &job, const Rows &candidates) = 0;
  virtual std::vector<float> score_gangs(const JobRow &job, const Rows &gangs) = 0;

  // The parameters of its reward network (src/reward/reward_network.h); empty: it has none.
  virtual std::vector<float> reward_parameters() { return {}; }
};

} // namespace harmony
