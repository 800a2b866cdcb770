// Asks a model about one decision at a time: each different row once, everything it answers checked. For one thread.
#pragma once

#include "src/infer/model.h"
#include "src/reward/reward_network.h"
#include "src/store/manifest.h"
#include "src/values/model_fault.h"
#include "src/values/slot_table.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace harmony {

// What the guard found, in one line; the heuristic places the gang then.
struct ModelRefused : std::runtime_error {
  ModelRefused(ModelFault which, const std::string &what) : std::runtime_error(what), fault(which) {}
  ModelFault fault;
};

// A model with what its manifest says of it, ready to be asked.
struct ReadyModel {
  std::shared_ptr<Model> model;
  Manifest manifest;
  std::shared_ptr<const RewardNetwork> reward = nullptr; // nullptr: it has none
  std::string title() const;                             // "harmony-mixed64 version 3"
};

class Scorer {
public:
  explicit Scorer(const ReadyModel &ready) : ready_(ready) {}

  // The next questions are about this job. Throws ModelRefused if its features are beyond the manifest's ranges.
  void ask_about(const JobRow &job);

  // A finite score for each row; rows that were asked about before, for this job, are not asked about again. Throws
  // ModelRefused.
  std::vector<float> candidates(const Rows &rows);
  bool knows(const Rows &candidates) const; // all of them were asked about
  std::vector<float> gangs(const Rows &rows);

  // Throws ModelRefused if the row, which is about to be acted on, is beyond the manifest's ranges.
  void check_candidate(const float *row) const;
  void check_gang(const float *row) const;

  std::uint64_t computed() const { return computed_; }
  std::uint64_t reused() const { return reused_; }
  std::function<void(std::int64_t ns)> timed = [](std::int64_t) {}; // each call of the model

private:
  std::vector<float> ask(const Rows &rows, bool about_gangs);
  int known(const float *row, std::size_t width, std::size_t hash) const;
  int find(const float *row, std::size_t width);
  void forget();

  const ReadyModel &ready_;
  JobRow job_;
  Rows known_;                // rows asked about, of candidates
  std::vector<float> scores_; // of those
  SlotTable table_;           // of those
  Rows fresh_;
  std::uint64_t computed_ = 0, reused_ = 0;
};

} // namespace harmony
