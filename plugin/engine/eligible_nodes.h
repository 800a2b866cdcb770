// Which nodes a job may use at all, whatever is free: partition, constraints, --exclude, reservations. What Slurm
// allows and we do not follow exactly is left out: a plan must never be one that Slurm refuses.
//
// Under slurmctld's read locks, for as long as one snapshot is taken.
#pragma once

#include "plugin/slurm_version.h"

#include "src/values/bits.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace harmony {

// The job's time limit; without one, as long as its partition lets it run, a year at most. As backfill takes it.
std::uint32_t minutes_allowed(const job_record_t &job);

class EligibleNodes {
public:
  explicit EligibleNodes(std::time_t now);

  // Most jobs may use the nodes of their partition and no more is to be said of them; so it is cheap to copy.
  struct Answer {
    std::shared_ptr<const Bits> partition;
    std::optional<Bits> within; // constraints, the job's own reservation
    Bits without;               // --exclude, reservations of others
    Bits required;              // --nodelist
    std::string left;           // why this cannot be told; empty if it can

    Bits eligible() const;
  };
  Answer of(const job_record_t &job);

  // Whether some reservation is still to begin.
  bool reservation_comes() const { return reservation_comes_; }

private:
  struct Reservation {
    const slurmctld_resv_t *record = nullptr;
    Bits nodes;
  };
  void reserve(const job_record_t &job, Answer &answer) const;

  std::time_t now_;
  std::vector<Reservation> reservations_;
  bool reservation_comes_ = false;
  std::unordered_map<const part_record_t *, std::shared_ptr<const Bits>> partitions_;
};

} // namespace harmony
