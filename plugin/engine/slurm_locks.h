// slurmctld's locks, for a scope.
#pragma once

#include "plugin/slurm_version.h"

extern "C" {
#include "src/slurmctld/locks.h"
}

namespace harmony {

class ReadLocks {
public:
  explicit ReadLocks(slurmctld_lock_t locks) : locks_(locks) { lock_slurmctld(locks_); }
  ~ReadLocks() { unlock_slurmctld(locks_); }
  ReadLocks(const ReadLocks &) = delete;
  ReadLocks &operator=(const ReadLocks &) = delete;

private:
  slurmctld_lock_t locks_;
};

// conf, job, node, partition, federation
constexpr slurmctld_lock_t to_read_conf = {READ_LOCK, NO_LOCK, NO_LOCK, NO_LOCK, NO_LOCK};
constexpr slurmctld_lock_t to_read_nodes = {READ_LOCK, NO_LOCK, READ_LOCK, NO_LOCK, NO_LOCK};
constexpr slurmctld_lock_t to_read_jobs = {READ_LOCK, READ_LOCK, NO_LOCK, NO_LOCK, NO_LOCK};
constexpr slurmctld_lock_t to_read_all = {READ_LOCK, READ_LOCK, READ_LOCK, READ_LOCK, NO_LOCK};

} // namespace harmony
