#include "src/observe/merge_state.h"

#include "tests/unit/merge_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace harmony {

using namespace merge_test;

class MergeStateTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(MergeStateTest);
  CPPUNIT_TEST(a_directory_that_others_may_have_touched_is_not_used);
  CPPUNIT_TEST(the_next_base_is_used_if_one_is_of_no_use);
  CPPUNIT_TEST(without_a_directory_each_claim_is_sent_once);
  CPPUNIT_TEST(a_full_disk_makes_it_send_at_once);
  CPPUNIT_TEST(a_disk_that_becomes_full_makes_no_flood);
  CPPUNIT_TEST(files_that_are_not_files_are_not_used);
  CPPUNIT_TEST(a_state_that_makes_no_sense_is_an_empty_one);
  CPPUNIT_TEST(a_node_that_was_started_anew_silences_nobody);
  CPPUNIT_TEST(what_jobs_of_last_month_left_behind_is_taken_away);
  CPPUNIT_TEST_SUITE_END();

  void sends_alone(const MergeMeeting &meeting, const std::string &why) {
    const std::size_t before = meeting.sent().size();
    for (int i = 0; i < 3; ++i) {
      const ReportResult result = meeting.report(1);
      became(Reported::sent, result);
      CPPUNIT_ASSERT_MESSAGE(result.not_merged, result.not_merged.find(why) != std::string::npos);
    }
    CPPUNIT_ASSERT_EQUAL(before + 3, meeting.sent().size());
  }

  void a_directory_that_others_may_have_touched_is_not_used() {
    const MergeMeeting meeting;
    for (const mode_t mode : {0755, 0770, 0701, 0777, 01700, 02700}) {
      make_directory(meeting.directory);
      CPPUNIT_ASSERT_EQUAL(0, chmod(meeting.directory.c_str(), mode));
      sends_alone(meeting, "it has to be yours alone, with mode 700");
      CPPUNIT_ASSERT(std::filesystem::is_empty(meeting.directory));
      std::filesystem::remove(meeting.directory);
    }
    make_directory(meeting.place / "elsewhere");
    chmod((meeting.place / "elsewhere").c_str(), 0700);
    std::filesystem::create_symlink(meeting.place / "elsewhere", meeting.directory);
    sends_alone(meeting, meeting.directory + ": ");
    CPPUNIT_ASSERT(std::filesystem::is_empty(meeting.place / "elsewhere"));
    std::filesystem::remove(meeting.directory);
    if (geteuid() != 0) return; // only root can give a directory away
    make_directory(meeting.directory);
    chmod(meeting.directory.c_str(), 0700);
    CPPUNIT_ASSERT_EQUAL(0, chown(meeting.directory.c_str(), 65534, 65534));
    sends_alone(meeting, "belongs to uid 65534");
  }

  void the_next_base_is_used_if_one_is_of_no_use() {
    MergeMeeting meeting;
    meeting.options.bases = {"", "relative", "/nonexistent", "/proc", meeting.place.path()};
    became(Reported::sent, meeting.report(1));
    became(Reported::merged, meeting.report(2));
    meeting.sent(2);
    CPPUNIT_ASSERT(!std::filesystem::exists("relative"));
  }

  void without_a_directory_each_claim_is_sent_once() {
    MergeMeeting meeting;
    meeting.options.bases = {"/nonexistent"};
    sends_alone(meeting, "/nonexistent/harmony-progress-");
    meeting.options.bases = {};
    sends_alone(meeting, "no directory");
    meeting.answer.young_ms = 50;
    const ReportResult result = meeting.report(1);
    became(Reported::left_out, result);
    CPPUNIT_ASSERT(!result.not_merged.empty());
    CPPUNIT_ASSERT_EQUAL(std::size_t{7}, meeting.sent().size());
  }

  void a_full_disk_makes_it_send_at_once() {
    const MergeMeeting meeting;
    const pid_t caller = process([&] {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit none = {0, 0}; // no file may grow
      int sent = 0;
      const SendClaim send = [&](const Claim &) { return ++sent, ClaimSent{}; };
      if (setrlimit(RLIMIT_FSIZE, &none) != 0) return 9;
      for (int i = 0; i < 3; ++i)
        if (report_claim("17", claim_of(1), send, meeting.options).not_merged.empty()) return 8;
      return sent;
    });
    CPPUNIT_ASSERT_EQUAL(3 << 8, end_of(caller));
  }

  void a_disk_that_becomes_full_makes_no_flood() {
    const MergeMeeting meeting;
    meeting.report(1);
    void *shared = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CPPUNIT_ASSERT(shared != MAP_FAILED);
    volatile int *sent = static_cast<int *>(shared);
    const SendClaim send = [&](const Claim &) {
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit none = {0, 0};
      setrlimit(RLIMIT_FSIZE, &none);
      *sent = *sent + 1;
      return ClaimSent{};
    };
    became(Reported::merged, report_claim("17", claim_of(2), send, meeting.options));
    usleep(3 * interval * 1000);
    CPPUNIT_ASSERT_EQUAL(1, static_cast<int>(*sent));
    munmap(shared, sizeof(int));
  }

  void files_that_are_not_files_are_not_used() {
    const MergeMeeting meeting;
    make_directory(meeting.directory);
    chmod(meeting.directory.c_str(), 0700);
    const std::string file = meeting.directory + "/17";
    CPPUNIT_ASSERT_EQUAL(0, mkfifo(file.c_str(), 0600));
    sends_alone(meeting, "is not a file");
    std::filesystem::remove(file);
    std::filesystem::create_symlink(meeting.place / "victim", file);
    sends_alone(meeting, "17: ");
    CPPUNIT_ASSERT(!std::filesystem::exists(meeting.place / "victim"));
    std::filesystem::remove(file);
  }

  void a_state_that_makes_no_sense_is_an_empty_one() {
    MergeState state;
    state.last_ms = 5;
    state.put = 7;
    state.done = 6;
    state.failed = 2;
    state.latest = claim_of(3);
    const std::string line = merge_state_line(state);
    CPPUNIT_ASSERT(read_merge_state(line).has_waiting());
    CPPUNIT_ASSERT_EQUAL(line, merge_state_line(read_merge_state(line)));
    for (const std::string text :
         {"", "\n", "5", "5 7 6 2", "-5x 7 6 2 \n", "5 -7 6 2 \n", "a b c d e\n", "5 7 6 2 harmony[epoch=-3;at=1]\n",
          "5 7 6 2 x harmony[epoch=3;at=1]\n", "99999999999999999999 7 6 2 \n", "\xff\xfe"}) {
      CPPUNIT_ASSERT_EQUAL_MESSAGE(text, std::uint64_t{0}, read_merge_state(text).put);
      CPPUNIT_ASSERT_MESSAGE(text, !read_merge_state(text).has_waiting());
    }
    for (std::size_t cut = 0; cut + 1 < line.size(); ++cut)
      CPPUNIT_ASSERT_MESSAGE(line.substr(0, cut), !read_merge_state(line.substr(0, cut)).has_waiting());
    const MergeMeeting meeting;
    meeting.report(1);
    write_text(meeting.directory + "/17", std::string(100000, 'x'));
    became(Reported::sent, meeting.report(2));
  }

  void a_node_that_was_started_anew_silences_nobody() {
    const MergeMeeting meeting;
    meeting.report(1);
    MergeState state = read_merge_state(read_text(meeting.directory + "/17"));
    state.last_ms = boot_ms() + 1000000;
    write_text(meeting.directory + "/17", merge_state_line(state));
    became(Reported::sent, meeting.report(2));
    CPPUNIT_ASSERT(read_merge_state(read_text(meeting.directory + "/17")).last_ms <= boot_ms());
  }

  void what_jobs_of_last_month_left_behind_is_taken_away() {
    const MergeMeeting meeting;
    meeting.report(1);
    for (const char *name : {"3", "3.sender", "4"}) write_text(meeting.directory + "/" + name, "");
    const timespec old[2] = {{1000, 0}, {1000, 0}};
    for (const char *name : {"3", "3.sender"})
      CPPUNIT_ASSERT_EQUAL(0, utimensat(AT_FDCWD, (meeting.directory + "/" + name).c_str(), old, 0));
    report_claim("18", claim_of(1), meeting.send(), meeting.options);
    CPPUNIT_ASSERT(!std::filesystem::exists(meeting.directory + "/3"));
    CPPUNIT_ASSERT(!std::filesystem::exists(meeting.directory + "/3.sender"));
    CPPUNIT_ASSERT(std::filesystem::exists(meeting.directory + "/4"));
    CPPUNIT_ASSERT(std::filesystem::exists(meeting.directory + "/17"));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(MergeStateTest);

} // namespace harmony
