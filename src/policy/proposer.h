// Diverse whole gangs for one decision, each as a row for the gang-level scores, waiting among them. What policy
// learned chooses from in slurmctld, and what is chosen from in training. For one round and one thread: it keeps the
// features of the round's cluster.
#pragma once

#include "src/encode/encoder.h"
#include "src/encode/job_features.h"
#include "src/encode/openings.h"
#include "src/infer/model.h"
#include "src/policy/policies.h"
#include "src/reward/reward_model.h"
#include "src/reward/reward_network.h"
#include "src/values/settings.h"
#include "src/values/snapshot.h"
#include "src/values/statistics.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace harmony {

// What is to be decided about one gang.
struct Question {
  JobRow job;
  std::vector<Considered> gangs; // at least one
  Rows rows;                     // one a gang, and behind them waiting if it may
  bool may_wait = true;
};

class Proposer {
public:
  // `network` may be nullptr: the linear rule with assumed rates predicts speeds then.
  Proposer(const Snapshot &snapshot, const Settings &settings, const std::vector<std::string> &types,
           const std::shared_ptr<const RewardNetwork> &network, Timing *encoding = nullptr);

  // Makes a gang task by task, or none. The gang it is given may be narrowed to a part of the nodes.
  using TaskByTask = std::function<std::optional<Plan>(const Encoder &, const Gang &, const JobRow &)>;

  // Nothing: it has no room now, and `no_room` says so.
  std::optional<Question> ask(const Cluster &cluster, const Gang &gang, bool may_wait, const TaskByTask &task_by_task,
                              Proposal &no_room);

private:
  const Encoder &encoder(const Cluster &cluster);
  Circumstances circumstances(const Gang &gang, int nodes_at_least, bool may_wait);
  int nodes_to_ask_about(const Gang &gang) const;
  Gang narrowed(GangPlacer &placer, const Encoder &features, const Gang &gang) const;
  std::vector<Considered> gangs_for(GangPlacer &placer, const Gang &gang, const Encoder &features, const JobRow &job,
                                    const TaskByTask &task_by_task) const;

  const Settings &settings_;
  const QueuePressure queue_;
  const QueueByLimit by_limit_;
  const TypeIndex types_;
  const UsualTimes usual_;
  std::unique_ptr<RewardModel> reward_;
  std::unique_ptr<Encoder> encoder_;
  std::unique_ptr<Openings> openings_;
  Timing *const encoding_;
};

} // namespace harmony
