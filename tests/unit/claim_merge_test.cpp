#include "src/observe/claim_merge.h"

#include "tests/unit/merge_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <csignal>
#include <sys/wait.h>

namespace harmony {

using namespace merge_test;

class ClaimMergeTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ClaimMergeTest);
  CPPUNIT_TEST(the_first_claim_is_sent_at_once);
  CPPUNIT_TEST(what_comes_within_the_interval_is_merged_into_one_report);
  CPPUNIT_TEST(a_claim_that_waits_keeps_what_only_it_says);
  CPPUNIT_TEST(many_processes_together_keep_to_the_interval);
  CPPUNIT_TEST(a_call_within_the_interval_returns_at_once);
  CPPUNIT_TEST(waiting_returns_when_it_was_sent);
  CPPUNIT_TEST(all_who_wait_are_told_what_became_of_their_claim);
  CPPUNIT_TEST(what_cannot_be_sent_is_told);
  CPPUNIT_TEST(a_child_tries_again_and_gives_up);
  CPPUNIT_TEST(a_sender_that_is_killed_loses_no_claim);
  CPPUNIT_TEST(a_report_of_another_node_is_waited_for);
  CPPUNIT_TEST(the_child_holds_nothing_of_its_parent);
  CPPUNIT_TEST_SUITE_END();

  void the_first_claim_is_sent_at_once() {
    const MergeMeeting meeting;
    became(Reported::sent, meeting.report(1));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, meeting.sent().size());
    CPPUNIT_ASSERT_EQUAL(getpid(), meeting.sent()[0].pid);
    usleep(static_cast<useconds_t>(interval + 10) * 1000);
    became(Reported::sent, meeting.report(2)); // the interval is over
    CPPUNIT_ASSERT_EQUAL(2.0, meeting.sent(2)[1].claim.epoch);
  }

  void what_comes_within_the_interval_is_merged_into_one_report() {
    const MergeMeeting meeting;
    became(Reported::sent, meeting.report(1));
    for (int epoch = 2; epoch <= 50; ++epoch) became(Reported::merged, meeting.report(epoch));
    const auto sent = meeting.sent(2);
    CPPUNIT_ASSERT_EQUAL(50.0, sent[1].claim.epoch);
    CPPUNIT_ASSERT(sent[1].ms - sent[0].ms >= interval);
    CPPUNIT_ASSERT(sent[1].pid != getpid());
  }

  void a_claim_that_waits_keeps_what_only_it_says() {
    const MergeMeeting meeting;
    meeting.report(1);
    Claim claim = claim_of(2);
    claim.of = 90;
    claim.loss = 0.5;
    meeting.report(claim);
    claim = claim_of(3);
    claim.loss = 0.4;
    meeting.report(claim);
    const Claim sent = meeting.sent(2)[1].claim;
    CPPUNIT_ASSERT_EQUAL(3.0, sent.epoch);
    CPPUNIT_ASSERT_EQUAL(90.0, sent.of.value());
    CPPUNIT_ASSERT_EQUAL(0.4, sent.loss.value());
    CPPUNIT_ASSERT(!sent.samples_per_s);
  }

  void many_processes_together_keep_to_the_interval() {
    const MergeMeeting meeting;
    std::vector<pid_t> processes;
    for (int i = 0; i < 12; ++i)
      processes.push_back(process([&] {
        int failed = 0;
        for (int epoch = 1; epoch <= 40; ++epoch) {
          failed += meeting.report(epoch).what == Reported::failed;
          usleep(20000);
        }
        return failed;
      }));
    for (const pid_t pid : processes) CPPUNIT_ASSERT_EQUAL(0, end_of(pid));
    meeting.report(41);
    for (int i = 0; i < 100 && meeting.sent().back().claim.epoch < 41; ++i) usleep(20000);
    const auto sent = meeting.sent();
    CPPUNIT_ASSERT_EQUAL(41.0, sent.back().claim.epoch);
    CPPUNIT_ASSERT_MESSAGE(std::to_string(sent.size()), sent.size() >= 3);
    for (std::size_t i = 1; i < sent.size(); ++i) CPPUNIT_ASSERT(sent[i].ms - sent[i - 1].ms >= interval);
  }

  void a_call_within_the_interval_returns_at_once() {
    MergeMeeting meeting;
    meeting.options.interval_ms = 1500;
    meeting.report(1);
    const std::int64_t before = boot_ms();
    for (int epoch = 2; epoch < 12; ++epoch) became(Reported::merged, meeting.report(epoch));
    CPPUNIT_ASSERT(boot_ms() - before < 1000);
  }

  void waiting_returns_when_it_was_sent() {
    MergeMeeting meeting;
    meeting.report(1);
    meeting.options.wait = true;
    became(Reported::sent, meeting.report(2));
    const auto sent = meeting.sent();
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, sent.size());
    CPPUNIT_ASSERT_EQUAL(getpid(), sent[1].pid);
    CPPUNIT_ASSERT(sent[1].ms - sent[0].ms >= interval);
    meeting.options.wait = false;
    meeting.report(3); // a child will send it ...
    meeting.options.wait = true;
    became(Reported::sent, meeting.report(4)); // ... and this with it
    CPPUNIT_ASSERT_EQUAL(4.0, meeting.sent().at(2).claim.epoch);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, meeting.sent(3).size());
  }

  void all_who_wait_are_told_what_became_of_their_claim() {
    for (const bool works : {true, false}) {
      MergeMeeting meeting;
      meeting.report(1);
      meeting.options.wait = true;
      if (!works) meeting.answer.problem = "no slurmctld";
      std::vector<pid_t> processes;
      for (int i = 0; i < 5; ++i)
        processes.push_back(process([&] { return meeting.report(2 + i).what == Reported::sent ? 0 : 3; }));
      for (const pid_t pid : processes) CPPUNIT_ASSERT_EQUAL(works ? 0 : 3 << 8, end_of(pid));
    }
  }

  void what_cannot_be_sent_is_told() {
    MergeMeeting meeting;
    meeting.answer.problem = "slurmctld says no";
    const ReportResult result = meeting.report(1);
    became(Reported::failed, result);
    CPPUNIT_ASSERT_EQUAL(std::string("slurmctld says no"), result.problem);
    meeting.sent(1); // and nobody tries again
  }

  void a_child_tries_again_and_gives_up() {
    MergeMeeting meeting;
    meeting.report(1);
    meeting.answer = {"no slurmctld", true, 0};
    became(Reported::merged, meeting.report(2));
    const auto sent = meeting.sent(4); // the first, and three tries
    CPPUNIT_ASSERT_EQUAL(2.0, sent[3].claim.epoch);
    meeting.answer = {};
    became(Reported::sent, meeting.report(3));
  }

  void a_sender_that_is_killed_loses_no_claim() {
    const MergeMeeting meeting;
    const pid_t killed = process([&] {
      report_claim(
          "17", claim_of(7), [](const Claim &) { return raise(SIGKILL), ClaimSent{}; }, meeting.options);
      return 0;
    });
    CPPUNIT_ASSERT_EQUAL(SIGKILL, WTERMSIG(end_of(killed)));
    Claim claim = claim_of(8);
    became(Reported::merged, meeting.report(claim)); // it was a try, so the interval counts
    CPPUNIT_ASSERT_EQUAL(8.0, meeting.sent(1)[0].claim.epoch);
  }

  void a_report_of_another_node_is_waited_for() {
    const MergeMeeting meeting;
    const std::string first = meeting.place / "first";
    const SendClaim send = [&](const Claim &claim) {
      if (access(first.c_str(), F_OK) == 0) return meeting.send()(claim);
      write_text(first, std::to_string(boot_ms()));
      return ClaimSent{{}, false, interval / 2};
    };
    became(Reported::merged, report_claim("17", claim_of(1), send, meeting.options));
    const auto sent = meeting.sent(1);
    const std::int64_t begun = std::stoll(read_text(first));
    CPPUNIT_ASSERT(sent[0].ms - begun >= interval / 2 - 1);
    std::filesystem::remove(first);
    MergeOptions options = meeting.options;
    options.wait = true;
    became(Reported::sent, report_claim("17", claim_of(2), send, options));
    CPPUNIT_ASSERT_EQUAL(2.0, meeting.sent(2)[1].claim.epoch);
  }

  void the_child_holds_nothing_of_its_parent() {
    const MergeMeeting meeting;
    int ends[2];
    CPPUNIT_ASSERT_EQUAL(0, pipe(ends)); // as a training program's, without O_CLOEXEC
    const std::string seen = meeting.place / "seen";
    const pid_t caller = process([&] {
      std::signal(SIGCHLD, SIG_IGN);
      meeting.report(1);
      const SendClaim send = [&](const Claim &claim) {
        std::string list;
        for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
          list += std::filesystem::read_symlink(entry.path()).string() + "\n";
        write_text(seen, fmt::format("parent {} session {}\n{}", getppid(), getsid(0) == getsid(getppid()), list));
        return meeting.send()(claim);
      };
      return static_cast<int>(report_claim("17", claim_of(2), send, meeting.options).what);
    });
    CPPUNIT_ASSERT_EQUAL(static_cast<int>(Reported::merged) << 8, end_of(caller));
    close(ends[1]);
    char byte;
    CPPUNIT_ASSERT_EQUAL(ssize_t{0}, ::read(ends[0], &byte, 1)); // nobody has the other end any more
    CPPUNIT_ASSERT(meeting.sent().size() < 2);                   // and that before the child ended
    close(ends[0]);
    meeting.sent(2);
    const std::string told = read_text(seen);
    CPPUNIT_ASSERT_MESSAGE(told, told.find("pipe:") == std::string::npos);
    CPPUNIT_ASSERT_MESSAGE(told, told.find(fmt::format("parent {} ", caller)) == std::string::npos);
    CPPUNIT_ASSERT_MESSAGE(told, told.find("session false") != std::string::npos);
    CPPUNIT_ASSERT_MESSAGE(told, told.find("/dev/null\n/dev/null\n/dev/null\n") != std::string::npos);
    CPPUNIT_ASSERT_EQUAL(-1, waitpid(-1, nullptr, WNOHANG)); // no zombie of ours
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ClaimMergeTest);

} // namespace harmony
