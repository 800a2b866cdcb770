// Copies of slurmctld's job records, as they are. What cannot change while a job stays in its state is copied once and
// kept: a running job's resources, a pending job's options.
#pragma once

#include "plugin/slurm_version.h"

#include "plugin/engine/eligible_nodes.h"
#include "plugin/engine/job_reader.h"
#include "src/values/snapshot.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace harmony {

// What a running job holds.
struct RunningCopy {
  Running running;
  int ps = 0;         // as declared; of a component of a hetjob: its own
  bool alone = false; // nobody else may use its nodes
  Bits nodes;
  Bits cores;                           // of its nodes one after another
  std::vector<std::uint64_t> memory_mb; // one a node, as the following
  std::vector<int> tasks;
  std::vector<Bits> gpus;
  int unnumbered_gpus = 0; // in all, where gres.conf names no device files
};

bool holds_resources(const job_record_t *job);

std::shared_ptr<const RunningCopy> copy_running(const job_record_t &job, const JobDescription &description,
                                                bool managed);

// Where an owner's claim of progress stands: the end of the job's comment, untrusted. Empty if nothing that could be
// one is there.
std::string claim_text(const job_record_t &job);

// A claim of a running managed job that was not there before.
struct ClaimSeen {
  std::uint32_t gang = 0;
  std::string text;
};

// A pending job with what its order depends on.
struct PendingCopy {
  Gang gang; // of one component, which does not know its nodes yet
  EligibleNodes::Answer nodes;
  std::uint32_t het_job = 0;
  std::uint32_t het_offset = 0;
  int het_size = 0; // of the whole hetjob, known of its first component
  std::string left; // why it is not planned
  bool reserved = false;
  int tier = 0;
};

class JobCopies {
public:
  // Copies anew; under slurmctld's read locks.
  void copy(const Settings &settings, std::time_t now);

  // Since the last copy().
  const std::vector<std::shared_ptr<const RunningCopy>> &running() const { return running_; }
  std::vector<PendingCopy> &pending() { return pending_; }
  std::vector<ClaimSeen> take_claims() { return std::exchange(claims_, {}); }

private:
  // What was read of a job before, and by what to see that it is the same still.
  struct Known {
    std::time_t start = 0, resize = 0;
    const void *options = nullptr, *gres = nullptr;
    Manage manage = Manage::annotated;
    bool managed = false;
    JobDescription description;
    std::shared_ptr<const RunningCopy> running;
    std::string claim;
    std::uint64_t seen = 0;
  };
  Known &known(const job_record_t &job, const Settings &settings);
  void forget_the_gone();

  void copy_job(job_record_t &job, const Settings &settings, std::time_t now, EligibleNodes &eligible);

  std::vector<job_record_t *> records_; // while the locks are held
  std::unordered_map<std::uint32_t, Known> known_;
  std::vector<std::shared_ptr<const RunningCopy>> running_;
  std::vector<PendingCopy> pending_;
  std::vector<ClaimSeen> claims_;
  std::uint64_t copies_ = 0;
};

} // namespace harmony
