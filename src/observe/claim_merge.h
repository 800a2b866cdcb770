// At most one report of a job's progress in 10 s, however many processes of the job on this node make claims: what
// comes in between is merged, and the latest is sent when the time is up.
//
// The processes meet in a directory that only the job's owner can open, BASE/harmony-progress-UID:
//
//   JOB          when the last report was sent, and the claim that waits; locked for moments only
//   JOB.sender   locked for as long as a process is sending, or waits to send
//
// Whoever makes a claim while nobody sends, and no report is younger than 10 s, sends it. Otherwise it leaves the claim
// there, and sees to it that there is a sender: a detached child of its own if there is none. A sender that is killed
// loses its lock with its life. Where there is no such directory, each claim is sent at once.
//
// Times are of CLOCK_BOOTTIME, so that a jump of the clock silences nobody. For programs of one thread: it forks.
#pragma once

#include "src/observe/claim.h"

#include <functional>
#include <string>
#include <vector>

namespace harmony {

// What became of a claim that was to be sent.
struct ClaimSent {
  std::string problem;       // empty: it was sent, or young_ms is set
  bool try_again = false;    // it may work later
  std::int64_t young_ms = 0; // not sent: another node's report is so young that this one has to wait so long yet
};
using SendClaim = std::function<ClaimSent(const Claim &)>;

struct MergeOptions {
  std::vector<std::string> bases; // directories to try in turn; those that are empty or of no use are passed over
  std::int64_t interval_ms = 10000;
  bool wait = false; // return only when the claim, or a later one, was sent
  int tries = 3;     // of a sender that nobody waits for
};

// TMPDIR, /tmp, XDG_RUNTIME_DIR: as the environment has them.
std::vector<std::string> merge_bases();

// left_out: there is no merging here, and some other report is too young.
enum class Reported { sent, merged, left_out, failed };

struct ReportResult {
  Reported what = Reported::failed;
  std::string problem;    // of failed, in one line
  std::string not_merged; // why there is no merging here, in one line; empty if there is
};

// `name` is the job's, a plain word. `send` is called in this process or in a detached child without stdin, stdout and
// stderr, never under a lock that another process waits for.
ReportResult report_claim(const std::string &name, const Claim &claim, const SendClaim &send,
                          const MergeOptions &options);

// The later claim, with what only the earlier one says.
Claim merged_claim(const Claim &earlier, const Claim &later);

} // namespace harmony
