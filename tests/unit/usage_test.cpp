#include "src/observe/usage.h"
#include "src/publish/extra_field.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cmath>
#include <string>
#include <vector>

namespace harmony {

class UsageTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(UsageTest);
  CPPUNIT_TEST(a_usage_travels_through_the_field);
  CPPUNIT_TEST(a_figure_that_is_not_known_stays_so);
  CPPUNIT_TEST(the_mark_is_as_documented);
  CPPUNIT_TEST(the_sites_text_and_the_topology_stay_as_they_are);
  CPPUNIT_TEST(publishing_a_topology_leaves_the_marks_alone);
  CPPUNIT_TEST(marks_of_several_steps_stand_beside_each_other);
  CPPUNIT_TEST(the_same_watch_sent_twice_is_there_once);
  CPPUNIT_TEST(marks_together_stay_small_and_the_newest_are_kept);
  CPPUNIT_TEST(a_mark_of_a_node_with_all_gpus_there_can_be_is_sound);
  CPPUNIT_TEST(damaged_and_hostile_marks_are_refused);
  CPPUNIT_TEST(a_refused_mark_is_dropped_when_the_next_is_written);
  CPPUNIT_TEST(what_only_mentions_a_mark_is_the_sites_text);
  CPPUNIT_TEST(figures_out_of_range_become_the_nearest_allowed);
  CPPUNIT_TEST_SUITE_END();

  static StepUsage usage_of(std::uint32_t job, const std::string &step = "0") {
    StepUsage usage;
    usage.job = job;
    usage.step = step;
    usage.begin_s = 1763300000;
    usage.seconds = 620;
    usage.cpu = 3.82;
    usage.nic_rx_mb_s = 812.5;
    usage.nic_tx_mb_s = 790.1;
    usage.gpus = {{0, 93, 12000, 810, 320}, {1, 91, 12001, 811, 321}};
    return usage;
  }

  static constexpr const char *sound = "harmony-usage[job=17;step=0;begin=1;seconds=2.0;cpu=3.00;rx=4.0;tx=5.0]";
  static constexpr const char *mark_of_17 =
      "harmony-usage[job=17;step=0;begin=1763300000;seconds=620.0;cpu=3.82;rx=812.5;tx=790.1;"
      "gpus=0:93.0:12000.0:810.0:320.0,1:91.0:12001.0:811.0:321.0]";

  static std::string replaced(std::string text, const std::string &old, const std::string &now) {
    return text.replace(text.find(old), old.size(), now);
  }

  void a_usage_travels_through_the_field() {
    const UsageField field = read_usage_field(with_usage("", usage_of(17, "batch")), "n3");
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), field.usages.size());
    CPPUNIT_ASSERT_EQUAL(0, field.refused);
    const StepUsage &got = field.usages[0];
    CPPUNIT_ASSERT_EQUAL(std::uint32_t(17), got.job);
    CPPUNIT_ASSERT_EQUAL(std::string("batch"), got.step);
    CPPUNIT_ASSERT_EQUAL(std::string("n3"), got.node);
    CPPUNIT_ASSERT_EQUAL(std::int64_t(1763300000), got.begin_s);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(620, got.seconds, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(3.82, got.cpu, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(812.5, got.nic_rx_mb_s, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(790.1, got.nic_tx_mb_s, 1e-9);
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), got.gpus.size());
    CPPUNIT_ASSERT_EQUAL(1, got.gpus[1].gpu);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(91, got.gpus[1].busy, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(12001, got.gpus[1].memory_mb, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(811, got.gpus[1].pcie_in_mb_s, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(321, got.gpus[1].pcie_out_mb_s, 1e-9);
  }

  void a_figure_that_is_not_known_stays_so() {
    StepUsage usage = usage_of(17);
    usage.gpus = {{2, not_known, 5, not_known, not_known}};
    const std::string field = with_usage("", usage);
    CPPUNIT_ASSERT_MESSAGE(field, field.find("gpus=2::5.0::]") != std::string::npos);
    const GpuUsage got = read_usage_field(field, "n0").usages.at(0).gpus.at(0);
    CPPUNIT_ASSERT(std::isnan(got.busy) && std::isnan(got.pcie_in_mb_s) && std::isnan(got.pcie_out_mb_s));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(5, got.memory_mb, 1e-9);
  }

  void the_mark_is_as_documented() { CPPUNIT_ASSERT_EQUAL(std::string(mark_of_17), with_usage("", usage_of(17))); }

  void the_sites_text_and_the_topology_stay_as_they_are() {
    for (const std::string text : {"rack=7  owner=\"lab 3\" HM1:s1;.", " two  blanks ", "a\nb\tc", "HM1:s1;. behind"}) {
      std::string field = text;
      for (std::uint32_t job = 1; job < 100; ++job) {
        field = with_usage(field, usage_of(job));
        CPPUNIT_ASSERT_EQUAL(text + " harmony-usage[", field.substr(0, text.size() + 15));
        CPPUNIT_ASSERT_EQUAL(std::string(topology_word(text)), std::string(topology_word(field)));
      }
    }
  }

  void publishing_a_topology_leaves_the_marks_alone() {
    std::string field = with_usage("rack=7", usage_of(17));
    field = with_usage(with_topology_word(field, "HM1:s1;."), usage_of(18));
    field = with_topology_word(field, "HM1:s2;.");
    CPPUNIT_ASSERT_EQUAL(std::string("rack=7 ") + mark_of_17 + " HM1:s2;. " + replaced(mark_of_17, "job=17", "job=18"),
                         field);
  }

  void marks_of_several_steps_stand_beside_each_other() {
    const std::string field = with_usage(with_usage("rack=7", usage_of(17, "0")), usage_of(17, "1"));
    const UsageField read = read_usage_field(field, "n0");
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), read.usages.size());
    CPPUNIT_ASSERT_EQUAL(std::string("0"), read.usages[0].step);
    CPPUNIT_ASSERT_EQUAL(std::string("1"), read.usages[1].step);
  }

  void the_same_watch_sent_twice_is_there_once() {
    const std::string once = with_usage("rack=7", usage_of(17));
    CPPUNIT_ASSERT_EQUAL(once, with_usage(once, usage_of(17)));
    StepUsage again = usage_of(17); // of a requeued job
    again.begin_s += 1000;
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), read_usage_field(with_usage(once, again), "n0").usages.size());
  }

  void marks_together_stay_small_and_the_newest_are_kept() {
    std::string field = "rack=7";
    for (std::uint32_t job = 1; job <= 1000; ++job) {
      field = with_usage(field, usage_of(job));
      CPPUNIT_ASSERT(field.size() <= 7 + most_usage_marks);
    }
    const UsageField read = read_usage_field(field, "n0");
    CPPUNIT_ASSERT(read.usages.size() > 10);
    for (std::size_t i = 0; i < read.usages.size(); ++i)
      CPPUNIT_ASSERT_EQUAL(std::uint32_t(1001 - read.usages.size() + i), read.usages[i].job);
  }

  void a_mark_of_a_node_with_all_gpus_there_can_be_is_sound() {
    StepUsage usage = usage_of(4000000000);
    usage.gpus.clear();
    for (int gpu = 0; gpu < 256; ++gpu) usage.gpus.push_back({gpu, 100, 1e9, 1e7, 1e7});
    const UsageField read = read_usage_field(with_usage(with_usage("", usage_of(1)), usage), "n0");
    CPPUNIT_ASSERT_EQUAL(0, read.refused);
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), read.usages.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t(256), read.usages[0].gpus.size());
  }

  static std::vector<std::string> bad_marks() {
    const std::string good = sound;
    const std::string gpus = good.substr(0, good.size() - 1) + ";gpus=";
    return {good.substr(0, good.size() - 1),
            good + "x",
            good + "]",
            "harmony-usage[",
            "harmony-usage[]",
            replaced(good, "job=17", "job=0"),
            replaced(good, "job=17", "job=-1"),
            replaced(good, "job=17", "job=4294967295"),
            replaced(good, "job=17", "job=99999999999999999999"),
            replaced(good, "job=17;", ""),
            replaced(good, "step=0", "step="),
            replaced(good, "step=0", "step=<script>"),
            replaced(good, "step=0", "step=12345678901"),
            replaced(good, "begin=1", "begin=-1"),
            replaced(good, "begin=1", "begin=1.5"),
            replaced(good, "begin=1", "begin=9999999999999"),
            replaced(good, "seconds=2.0", "seconds=nan"),
            replaced(good, "seconds=2.0", "seconds=inf"),
            replaced(good, "seconds=2.0", "seconds=1e3"),
            replaced(good, "seconds=2.0", "seconds=0x10"),
            replaced(good, "cpu=3.00", "cpu=+3"),
            replaced(good, "cpu=3.00", "cpu="),
            replaced(good, "cpu=3.00", "cpu=65537"),
            replaced(good, "cpu=3.00", "cpu=" + std::string(400, '9')),
            replaced(good, "rx=4.0;tx=5.0", "tx=5.0;rx=4.0"),
            gpus + "]",
            gpus + "0:1:2:3]",
            gpus + "0:1:2:3:4:5]",
            gpus + "0:101:2:3:4]",
            gpus + "256:1:2:3:4]",
            gpus + "1:1:2:3:4,1:1:2:3:4]",
            gpus + "1:1:2:3:4,0:1:2:3:4]",
            gpus + "0:1:2:3:4,]",
            gpus + std::string(longest_usage_mark, '0') + "]"};
  }

  void damaged_and_hostile_marks_are_refused() {
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), read_usage_field(sound, "n0").usages.size());
    for (const std::string &mark : bad_marks()) {
      const UsageField read = read_usage_field("rack=7 " + mark + " " + sound, "n0");
      CPPUNIT_ASSERT_EQUAL_MESSAGE(mark, std::size_t(1), read.usages.size());
      CPPUNIT_ASSERT_EQUAL_MESSAGE(mark, 1, read.refused);
    }
  }

  void a_refused_mark_is_dropped_when_the_next_is_written() {
    for (const std::string &mark : bad_marks())
      CPPUNIT_ASSERT_EQUAL(std::string("rack=7 HM1:s1;. ") + mark_of_17,
                           with_usage("rack=7 " + mark + " HM1:s1;.", usage_of(17)));
    CPPUNIT_ASSERT_EQUAL(std::string("rack=7 ") + mark_of_17, with_usage("harmony-usage[ rack=7", usage_of(17)));
  }

  void what_only_mentions_a_mark_is_the_sites_text() {
    const std::string text = std::string("note=") + sound + " \"harmony-usage[\" HARMONY-USAGE[";
    const UsageField read = read_usage_field(text, "n0");
    CPPUNIT_ASSERT(read.usages.empty() && read.refused == 0);
    CPPUNIT_ASSERT_EQUAL(text + " " + mark_of_17, with_usage(text, usage_of(17)));
  }

  void figures_out_of_range_become_the_nearest_allowed() {
    StepUsage usage = usage_of(0, "rm -rf");
    usage.begin_s = -5;
    usage.seconds = not_known;
    usage.cpu = -1;
    usage.nic_rx_mb_s = std::numeric_limits<double>::infinity();
    usage.nic_tx_mb_s = 1e300;
    usage.gpus = {{-1, 1, 1, 1, 1}, {3, 1000, -1, 1, 1}, {3, 1, 1, 1, 1}, {300, 1, 1, 1, 1}};
    const UsageField read = read_usage_field(with_usage("", usage), "n0");
    CPPUNIT_ASSERT_EQUAL(0, read.refused);
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), read.usages.at(0).gpus.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(100, read.usages[0].gpus[0].busy, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1e7, read.usages[0].nic_tx_mb_s, 1e-9);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(UsageTest);

} // namespace harmony
