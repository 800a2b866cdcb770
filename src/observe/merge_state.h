// What the processes of a job that report its progress share on a node: one small file, and the lock of the one among
// them that sends. See claim_merge.h. For one thread; the locks are between processes.
#pragma once

#include "src/observe/claim.h"
#include "src/store/descriptor.h"

#include <optional>
#include <string>
#include <vector>

namespace harmony {

// Of the file, whose first line is `last_ms put done failed MARK`.
struct MergeState {
  std::int64_t last_ms = 0; // when a report was last begun, by CLOCK_BOOTTIME; 0: never
  std::uint64_t put = 0;    // claims left here so far
  std::uint64_t done = 0;   // of them, all up to this one were sent, in themselves or in a later one,
  std::uint64_t failed = 0; // and all up to this one were tried
  std::optional<Claim> latest;

  // It stays in the file until it was sent, so that a sender who is killed loses nothing.
  bool has_waiting() const { return latest && put > done && put > failed; }
};

std::string merge_state_line(const MergeState &state);

// Anything but what merge_state_line() writes is an empty state: the worst that follows is a report too early.
MergeState read_merge_state(std::string_view line);

class MergePlace {
public:
  // Makes the directory where it is missing. One that others could have tampered with (of another owner, with rights
  // for others, a link) is passed over. A problem says what is wrong with the last one.
  static MergePlace open(const std::vector<std::string> &bases, const std::string &name);

  const std::string &problem() const { return problem_; }

  // The state's lock. Held for moments, so waiting for it is short; false if it is not to be had within a second.
  bool lock();
  void unlock();

  MergeState read() const;
  bool write(const MergeState &state); // false: full or read-only

  // The sender's lock, which is this process's or that of a child it was left to.
  bool become_sender();
  void stop_sending();

  int state_fd() const { return state_.get(); }
  int sender_fd() const { return sender_.get(); }

private:
  Descriptor state_, sender_;
  std::string problem_;
};

std::int64_t boot_ms();

} // namespace harmony
