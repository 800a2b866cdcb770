#include "src/record/records.h"
#include "tests/unit/record_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <limits>
#include <stdexcept>

namespace harmony {

using namespace fixtures;

namespace {

std::string problem_with_line(const std::string &line) {
  try {
    record_of_line(line);
  } catch (const std::runtime_error &wrong) {
    return wrong.what();
  }
  return "read";
}

// The record as it comes back; what is written twice is the same.
template <class R> R again(const R &record) {
  const std::string line = to_line(record);
  CPPUNIT_ASSERT(line.size() <= longest_record);
  const Record back = record_of_line(line);
  CPPUNIT_ASSERT_EQUAL(line, to_line(back));
  return std::get<R>(back);
}

bool is_clean(const std::string &line) {
  for (const char c : line)
    if (c < ' ' || c > '~') return false;
  return true;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  CPPUNIT_ASSERT_MESSAGE(from, at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TasksAt tasks_at(const std::string &node) {
  TasksAt tasks;
  tasks.node = node;
  tasks.workers = 2;
  tasks.gpus = Bits(8);
  tasks.gpus.set(1);
  tasks.gpus.set(2);
  tasks.domains = {{3, tasks.gpus}};
  return tasks;
}

} // namespace

class RecordsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(RecordsTest);
  CPPUNIT_TEST(every_kind_comes_back_as_it_was);
  CPPUNIT_TEST(a_start_comes_back_key_by_key);
  CPPUNIT_TEST(a_resumed_run_is_a_record_of_its_own_kind);
  CPPUNIT_TEST(texts_of_others_become_harmless_and_short);
  CPPUNIT_TEST(numbers_that_are_none_leave_a_line_that_can_be_read);
  CPPUNIT_TEST(an_end_is_never_before_its_begin);
  CPPUNIT_TEST(cores_beyond_all_machines_are_left_out);
  CPPUNIT_TEST(a_record_that_is_too_long_loses_the_end_of_its_lists_and_says_so);
  CPPUNIT_TEST(what_simulations_wrote_before_is_still_read);
  CPPUNIT_TEST(keys_of_a_later_version_are_passed_over);
  CPPUNIT_TEST(what_is_wrong_is_told_by_its_key);
  CPPUNIT_TEST(broken_lines_are_refused);
  CPPUNIT_TEST_SUITE_END();

  void every_kind_comes_back_as_it_was() {
    RandomRecords random(1);
    for (int i = 0; i < 3000; ++i) {
      const Record record = random.any();
      const std::string line = to_line(record);
      CPPUNIT_ASSERT(is_clean(line));
      const Record back = record_of_line(line);
      CPPUNIT_ASSERT_EQUAL(record.index(), back.index());
      CPPUNIT_ASSERT_EQUAL(line, to_line(back));
    }
  }

  void a_start_comes_back_key_by_key() {
    StartRecord record;
    record.id = {"linux", 17, 2};
    record.array_job = 15;
    record.array_task = 0;
    record.components = {17, 18};
    record.type = "vgg16";
    record.workers = 4;
    record.ps = 1;
    record.gpus = 4;
    record.epochs = 90;
    record.policy = "learned";
    record.by_plan = true;
    record.model = "mixed version 3";
    record.predicted_speed = 0.1; // has no short form in binary
    record.submit_s = 1763300000.25;
    record.begin_s = 1763300001;
    record.placement = {tasks_at("n1")};
    record.neighbours = {{9, "resnet50", 1, 0, 1, {tasks_at("n1")}}};
    const StartRecord back = again(record);
    CPPUNIT_ASSERT(record.id == back.id && back.array_job == 15U && back.array_task == 0U);
    CPPUNIT_ASSERT(back.components == record.components && back.user.empty() && back.why_stock.empty());
    CPPUNIT_ASSERT_EQUAL(90U, back.epochs);
    CPPUNIT_ASSERT_EQUAL(0U, back.model_kb);
    CPPUNIT_ASSERT(back.by_plan && !back.resumed && !back.cut);
    CPPUNIT_ASSERT_EQUAL(0.1, back.predicted_speed.value());
    CPPUNIT_ASSERT_EQUAL(1763300000.25, back.submit_s);
    CPPUNIT_ASSERT(back.placement.at(0).gpus.test(1) && back.placement.at(0).gpus.count() == 2);
    CPPUNIT_ASSERT_EQUAL(3, back.placement[0].domains.at(0).domain);
    CPPUNIT_ASSERT_EQUAL(std::string("n1"), back.neighbours.at(0).on.at(0).node);
  }

  void a_resumed_run_is_a_record_of_its_own_kind() {
    StartRecord record;
    record.resumed = true;
    CPPUNIT_ASSERT(to_line(record).find("\"record\":\"resume\"") != std::string::npos);
    CPPUNIT_ASSERT(again(record).resumed);
  }

  void texts_of_others_become_harmless_and_short() {
    StartRecord record;
    record.type = "a\nb\x80\xff<script>\"\\";
    record.why_stock = std::string(10 << 20, 'x');
    record.user = std::string("a\0b", 3);
    record.placement = {tasks_at(std::string(10 << 20, '\n'))};
    const std::string line = to_line(record);
    CPPUNIT_ASSERT(is_clean(line) && line.size() < 2000);
    const StartRecord back = again(record);
    CPPUNIT_ASSERT_EQUAL(std::string("a?b?"
                                     "?<script>\"\\"),
                         back.type);
    CPPUNIT_ASSERT_EQUAL(std::string("a?b"), back.user);
    CPPUNIT_ASSERT_EQUAL(std::string(509, 'x') + "...", back.why_stock);
  }

  void numbers_that_are_none_leave_a_line_that_can_be_read() {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    IntervalRecord record;
    record.begin_s = nan;
    record.end_s = nan;
    record.workers = -3;
    record.epochs = nan;
    record.relative_speed = -inf;
    record.terms.cores = inf;
    record.claim = Claim{inf, nan, 1e300, -inf, -5};
    const IntervalRecord back = again(record);
    CPPUNIT_ASSERT_EQUAL(0.0, back.begin_s);
    CPPUNIT_ASSERT_EQUAL(0, back.workers);
    CPPUNIT_ASSERT(!back.epochs && !back.relative_speed);
    CPPUNIT_ASSERT_EQUAL(1e6, back.terms.cores);
    CPPUNIT_ASSERT(back.claim && !back.claim->of && !back.claim->loss);
    CPPUNIT_ASSERT_EQUAL(most_claimed_epochs, back.claim->epoch);
    CPPUNIT_ASSERT_EQUAL(most_samples_per_s, back.claim->samples_per_s.value());
    CPPUNIT_ASSERT_EQUAL(std::int64_t{0}, back.claim->at);
  }

  void an_end_is_never_before_its_begin() {
    EndRecord record;
    record.begin_s = 100;
    record.end_s = 40; // the clock was turned back
    CPPUNIT_ASSERT_EQUAL(100.0, again(record).end_s);
    CPPUNIT_ASSERT(
        problem_with_line(replaced(to_line(record), "\"end_s\":100.0", "\"end_s\":99")).find("end_s is no") == 0);
  }

  void cores_beyond_all_machines_are_left_out() {
    StartRecord record;
    record.placement = {tasks_at("n1")};
    record.placement[0].cores = Bits(100000);
    record.placement[0].cores.set_all();
    CPPUNIT_ASSERT_EQUAL(8192, again(record).placement.at(0).cores.count());
  }

  void a_record_that_is_too_long_loses_the_end_of_its_lists_and_says_so() {
    StartRecord record;
    for (int i = 0; i < 30000; ++i) record.placement.push_back(tasks_at("node" + std::to_string(i)));
    record.neighbours = {{9, "resnet50", 1, 0, 1, record.placement}};
    const StartRecord back = again(record);
    CPPUNIT_ASSERT(back.cut && back.neighbours.empty());
    CPPUNIT_ASSERT(back.placement.size() > 1000 && back.placement.size() < 30000);
    CPPUNIT_ASSERT_EQUAL(std::string("node999"), back.placement[999].node);
  }

  void what_simulations_wrote_before_is_still_read() {
    const auto interval = std::get<IntervalRecord>(record_of_line(
        R"({"begin_s":1.5,"end_s":60.0,"epochs":2.0,"job":3,"nodes":1,"ps":0,"record":"interval","relative_speed":0.5,)"
        R"("schema":1,"terms":{"across_nodes":0.0,"cores":0.25,"same_domain":1.0,"same_nic":0.0,"same_socket":0.0},)"
        R"("type":"vgg16","workers":2})"));
    CPPUNIT_ASSERT(interval.id == (RunId{"", 3, 0}) && interval.relative_speed == 0.5 && interval.terms.cores == 0.25);
    const auto start = std::get<StartRecord>(record_of_line(
        R"({"begin_s":0.0,"epochs":100,"gpus":1,"job":1,"model_kb":0,"placement":[{"cores":"0","gpus":"0","node":"n0",)"
        R"("ps":0,"workers":1}],"policy":"pack","ps":0,"record":"start","schema":1,"submit_s":0.0,"type":"vgg16",)"
        R"("workers":1})"));
    CPPUNIT_ASSERT(start.by_plan && start.placement.at(0).gpus.test(0));
    const auto end = std::get<EndRecord>(record_of_line(
        R"({"elapsed_s":40.0,"end_s":100.0,"epochs":9.5,"job":1,"record":"end","schema":1,"state":"COMPLETED",)"
        R"("type":"vgg16"})"));
    CPPUNIT_ASSERT(end.begin_s == 60 && end.epochs == 9.5 && end.state == "COMPLETED");
  }

  void keys_of_a_later_version_are_passed_over() {
    const std::string line = to_line(GapRecord{"c", 3, 1, "full"});
    CPPUNIT_ASSERT_EQUAL(line, to_line(record_of_line(replaced(line, "{", "{\"colour\":[{}],"))));
  }

  void what_is_wrong_is_told_by_its_key() {
    StartRecord record;
    record.id = {"c", 17, 0};
    record.type = "vgg16";
    record.placement = {tasks_at("n1"), tasks_at("n2")};
    const std::string line = to_line(record);
    const auto wrong = [&line](const std::string &from, const std::string &to) {
      return problem_with_line(replaced(line, from, to));
    };
    CPPUNIT_ASSERT_EQUAL(std::string("read"), problem_with_line(line));
    CPPUNIT_ASSERT_EQUAL(std::string("job is no whole number from 0 to 4294967295"), wrong(":17,", ":17.5,"));
    CPPUNIT_ASSERT_EQUAL(std::string("job is no whole number from 0 to 4294967295"), wrong(":17,", ":-1,"));
    CPPUNIT_ASSERT_EQUAL(std::string("job is no whole number from 0 to 4294967295"), wrong(":17,", ":\"17\","));
    CPPUNIT_ASSERT_EQUAL(std::string("type is no text of at most 128 printable characters"),
                         wrong("\"vgg16\"", "\"vgg\\n16\""));
    CPPUNIT_ASSERT_EQUAL(std::string("type is missing"), wrong("\"type\"", "\"kind\""));
    CPPUNIT_ASSERT_EQUAL(std::string("by_plan is neither true nor false"), wrong("\"by_plan\":false", "\"by_plan\":0"));
    CPPUNIT_ASSERT_EQUAL(std::string("placement[1].node is missing"), wrong("\"node\":\"n2\",", ""));
    for (const char *list : {"2,1", "1-", "1,,2", "3-2", "99999", "1 ", "a", ",1", "1,1", "-1"})
      CPPUNIT_ASSERT_EQUAL(std::string("placement[0].domains[0].gpus is no ascending list of numbers below 1024"),
                           wrong("\"1-2\"", std::string("\"") + list + "\""));
    CPPUNIT_ASSERT_EQUAL(std::string("schema is none of 1 to 2, which this version reads"),
                         wrong("\"schema\":2", "\"schema\":3"));
    CPPUNIT_ASSERT_EQUAL(std::string("record is none of node, start, resume, interval, end, shadow, usage and gap"),
                         wrong("\"start\"", "\"begin\""));
  }

  void broken_lines_are_refused() {
    const std::string line = to_line(GapRecord{"c", 3, 1, "full"});
    for (std::size_t i = 0; i < line.size(); ++i)
      CPPUNIT_ASSERT_EQUAL(std::string("no JSON object"), problem_with_line(line.substr(0, i)));
    CPPUNIT_ASSERT_EQUAL(std::string("no JSON object"), problem_with_line(line + line));
    CPPUNIT_ASSERT_EQUAL(std::string("no JSON object"), problem_with_line(std::string(line.size(), '\0')));
    CPPUNIT_ASSERT_EQUAL(std::string("no JSON object"), problem_with_line(std::string(100000, '[')));
    CPPUNIT_ASSERT_EQUAL(std::string("no JSON object"), problem_with_line(replaced(line, "{", "{\"lost\":3,")));
    CPPUNIT_ASSERT_EQUAL(std::string("the line is longer than 1048576 bytes"),
                         problem_with_line(std::string(longest_record + 1, ' ')));
    for (const char *number : {"NaN", "Infinity", "1e999", "-1", "9007199254740994", "nan", "0x10"})
      CPPUNIT_ASSERT(problem_with_line(replaced(line, "\"lost\":3", std::string("\"lost\":") + number)) != "read");
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(RecordsTest);

} // namespace harmony
