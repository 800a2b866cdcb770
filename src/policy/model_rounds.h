// Planning rounds with a model, from one thread: the round is planned on a thread of its own, which is not waited for
// beyond a deadline. When it is late the heuristic plans the round and the late answer is dropped; while it is still at
// it, nobody waits again.
#pragma once

#include "src/infer/deadline_worker.h"
#include "src/plan/planner.h"
#include "src/policy/learned.h"
#include "src/values/say.h"
#include "src/values/statistics.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace harmony {

class ModelRounds {
public:
  // The statistics must live as long as the process: a late answer still counts its time.
  ModelRounds(Statistics &statistics, Say say) : statistics_(statistics), say_(std::move(say)) {}

  // `model` may be nullptr: none is in service, and `problem` says why.
  RoundResult plan(const std::shared_ptr<const Snapshot> &snapshot, const Settings &settings, std::uint64_t round,
                   const std::shared_ptr<const ReadyModel> &model, const std::string &problem);

  // How long the last plan() waited for an answer that did not come.
  std::int64_t waited_in_vain_ms() const { return waited_in_vain_ms_; }

  // From any thread: "closed", "open …".
  std::string breaker() const;

private:
  struct Job; // what one round's thread works with and leaves behind
  void take_in_service(const std::shared_ptr<const ReadyModel> &model, const Settings &settings);
  RoundResult by_heuristic(const Snapshot &snapshot, const Settings &settings, std::uint64_t round,
                           const Unavailable &unavailable);
  void account(const ModelUse &use, const Settings &settings);

  Statistics &statistics_;
  const Say say_;
  DeadlineWorker worker_;
  Breaker breaker_;
  int pause_ms_ = 0; // what it was made with
  std::int64_t waited_in_vain_ms_ = 0;
  std::shared_ptr<const ReadyModel> model_;
  std::array<std::int64_t, model_fault_count> said_{}; // when, in ms; 0: never
  mutable std::mutex mutex_;
  Breaker told_; // as it is; guarded by mutex_
};

} // namespace harmony
