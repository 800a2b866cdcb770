// A place where processes of a job meet to report its progress, with a short interval, and what they sent.
#pragma once

#include "src/observe/claim_merge.h"
#include "src/observe/merge_state.h"

#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>
#include <fmt/format.h>

#include <fstream>
#include <sys/wait.h>

namespace harmony::merge_test {

constexpr std::int64_t interval = 300;

inline Claim claim_of(double epoch) {
  Claim claim;
  claim.epoch = epoch;
  claim.at = 1763300000;
  return claim;
}

// A base directory, and what was sent so far: one line each, by whichever process.
struct MergeMeeting {
  Place place;
  std::string log = place / "sent";
  std::string directory = place / fmt::format("harmony-progress-{}", geteuid());
  MergeOptions options = {{place.path()}, interval, false, 3};
  ClaimSent answer;

  SendClaim send() const {
    return [this](const Claim &claim) {
      std::ofstream(log, std::ios::app) << fmt::format("{} {} {}\n", boot_ms(), getpid(), claim_mark(claim));
      return answer;
    };
  }
  ReportResult report(const Claim &claim) const { return report_claim("17", claim, send(), options); }
  ReportResult report(double epoch) const { return report(claim_of(epoch)); }

  struct Line {
    std::int64_t ms = 0;
    pid_t pid = 0;
    Claim claim;
  };
  std::vector<Line> sent() const {
    std::vector<Line> lines;
    std::ifstream file(log);
    Line line;
    for (std::string mark; file >> line.ms >> line.pid >> mark;) {
      line.claim = read_claim_field(mark).claim.value();
      lines.push_back(line);
    }
    return lines;
  }
  // Until so many were sent, and a moment more for one too many.
  std::vector<Line> sent(std::size_t count) const {
    for (int i = 0; i < 500 && sent().size() < count; ++i) usleep(10000);
    usleep(2 * interval * 1000);
    CPPUNIT_ASSERT_EQUAL(count, sent().size());
    return sent();
  }
  // Whoever sends has ended: it would write where the next test does not look.
  ~MergeMeeting() {
    MergePlace meeting = MergePlace::open(options.bases, "17");
    for (int i = 0; meeting.problem().empty() && i < 500 && !meeting.become_sender(); ++i) usleep(10000);
  }
};

inline void became(Reported expected, const ReportResult &result) {
  CPPUNIT_ASSERT_EQUAL_MESSAGE(result.problem, static_cast<int>(expected), static_cast<int>(result.what));
}

// `work` in a process of its own, whose exit code is what it returns.
inline pid_t process(const std::function<int()> &work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work());
  return pid;
}
inline int end_of(pid_t pid) {
  int status = 0;
  CPPUNIT_ASSERT_EQUAL(pid, waitpid(pid, &status, 0));
  return status;
}

} // namespace harmony::merge_test
