#include "src/values/statistics.h"

#include <cppunit/extensions/HelperMacros.h>

#include <set>

namespace harmony {

class StatisticsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(StatisticsTest);
  CPPUNIT_TEST(fresh_statistics_are_zero_since_now);
  CPPUNIT_TEST(what_was_counted_reads_back_the_same);
  CPPUNIT_TEST(json_is_one_line_whatever_the_facts_say);
  CPPUNIT_TEST(a_reset_keeps_the_last_round_only);
  CPPUNIT_TEST(a_missing_key_counts_as_nothing);
  CPPUNIT_TEST(every_fault_of_the_model_is_counted_by_its_name);
  CPPUNIT_TEST(an_older_slurmctld_says_nothing_of_models_and_is_understood);
  CPPUNIT_TEST(another_kind_of_value_is_not_understood);
  CPPUNIT_TEST(no_piece_of_a_line_is_taken_for_the_whole);
  CPPUNIT_TEST_SUITE_END();

  void fresh_statistics_are_zero_since_now() {
    const Statistics statistics;
    const StatisticsReport report = read_statistics(statistics_json(statistics, {}));
    CPPUNIT_ASSERT(report.understood);
    CPPUNIT_ASSERT(report.since > 0);
    CPPUNIT_ASSERT_EQUAL(std::time_t{0}, report.last_round);
    CPPUNIT_ASSERT_EQUAL(std::size_t{24}, report.counters.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{10}, report.times.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{fallback_count}, report.fallbacks.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{model_fault_count}, report.model_faults.size());
    for (const auto &[name, count] : report.counters) CPPUNIT_ASSERT_EQUAL_MESSAGE(name, std::uint64_t{0}, count);
    CPPUNIT_ASSERT_EQUAL(std::string("none"), report.facts.settings_file);
  }

  // Every counter has a value of its own, so that none can stand for another.
  void what_was_counted_reads_back_the_same() {
    Statistics s;
    std::uint64_t value = ~std::uint64_t{0};
    for (Statistics::Counter *counter :
         {&s.rounds,       &s.rounds_cut,     &s.gangs_planned,  &s.gangs_not_reached, &s.plans_made,
          &s.plans_used,   &s.plans_stale,    &s.waits,          &s.no_room,           &s.left_to_stock,
          &s.held,         &s.shadow_same,    &s.shadow_other,   &s.settings_refused,  &s.gangs_by_model,
          &s.probes,       &s.models_loaded,  &s.models_refused, &s.scores_computed,   &s.scores_reused,
          &s.claims_taken, &s.claims_refused, &s.usages_taken,   &s.events_lost})
      counter->store(value--);
    s.fallbacks[static_cast<std::size_t>(Fallback::other_gpus)] = 3;
    s.last_round = 1700000000;
    s.lock.add(1234);
    s.job_test.add(5000);
    s.job_test.add(10000);
    s.inference.add(2000);
    const StatisticsReport report = read_statistics(
        statistics_json(s, {"pack", "m1", "m2 is too large", "closed", "shadow", "running", "/etc/slurm/harmony.conf",
                            "line 3: no", "/srv/d", "full", 812, 5, 6, 7, 8}));
    std::set<std::uint64_t> values;
    for (const auto &counter : report.counters) values.insert(counter.second);
    CPPUNIT_ASSERT_EQUAL(std::size_t{24}, values.size());
    CPPUNIT_ASSERT_EQUAL(~std::uint64_t{0}, report.counters.at("rounds"));
    CPPUNIT_ASSERT_EQUAL(~std::uint64_t{0} - 13, report.counters.at("settings_refused"));
    CPPUNIT_ASSERT_EQUAL(~std::uint64_t{0} - 19, report.counters.at("scores_reused"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{3}, report.fallbacks.at("other_gpus"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.fallbacks.at("refused"));
    CPPUNIT_ASSERT_EQUAL(std::time_t{1700000000}, report.last_round);
    CPPUNIT_ASSERT_EQUAL(1.234, report.times.at("lock").max_us);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, report.times.at("job_test").count);
    CPPUNIT_ASSERT_EQUAL(7.5, report.times.at("job_test").mean_us);
    CPPUNIT_ASSERT_EQUAL(15.0, report.times.at("job_test").sum_us);
    CPPUNIT_ASSERT_EQUAL(std::string("pack m1 shadow running"), report.facts.policy + " " + report.facts.model + " " +
                                                                    report.facts.mode + " " + report.facts.planner);
    CPPUNIT_ASSERT_EQUAL(2.0, report.times.at("inference").max_us);
    CPPUNIT_ASSERT_EQUAL(std::string("m2 is too large"), report.facts.model_problem);
    CPPUNIT_ASSERT_EQUAL(std::string("closed"), report.facts.breaker);
    CPPUNIT_ASSERT_EQUAL(std::string("line 3: no"), report.facts.settings_problem);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{812}, report.facts.decisions_kept);
    CPPUNIT_ASSERT_EQUAL(std::string("/srv/d full"), report.facts.dataset + " " + report.facts.dataset_problem);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{5}, report.facts.jobs_followed);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{6}, report.facts.records_written);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7}, report.facts.records_lost);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{8}, report.facts.dataset_bytes);
  }

  void json_is_one_line_whatever_the_facts_say() {
    StatisticsFacts facts;
    facts.settings_problem = "a\n\"b\"\x1b\xff";
    const std::string json = statistics_json(Statistics(), facts);
    for (const char c : json) CPPUNIT_ASSERT(c >= ' ' && c <= '~');
    const StatisticsReport report = read_statistics(json);
    CPPUNIT_ASSERT(report.understood);
    for (const char c : report.facts.settings_problem) CPPUNIT_ASSERT(c >= ' ' && c <= '~');
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, report.facts.settings_problem.find("a?\"b\"?"));
  }

  void a_reset_keeps_the_last_round_only() {
    Statistics statistics;
    statistics.since = 1;
    statistics.last_round = 1700000000;
    statistics.held = 5;
    statistics.fallbacks[0] = 5;
    statistics.model_faults[0] = 5;
    statistics.probes = 5;
    statistics.round.add(5);
    statistics.encode.add(5);
    reset(statistics);
    const StatisticsReport report = read_statistics(statistics_json(statistics, {}));
    CPPUNIT_ASSERT(report.since > 1);
    CPPUNIT_ASSERT_EQUAL(std::time_t{1700000000}, report.last_round);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.counters.at("held"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.fallbacks.at("planner_unwell"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.times.at("round").count);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.model_faults.at("no_model"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.counters.at("probes"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.times.at("encode").count);
  }

  void every_fault_of_the_model_is_counted_by_its_name() {
    Statistics statistics;
    for (std::size_t i = 0; i < model_fault_count; ++i) statistics.model_faults[i] = i + 1;
    const StatisticsReport report = read_statistics(statistics_json(statistics, {}));
    CPPUNIT_ASSERT_EQUAL(std::size_t{model_fault_count}, report.model_faults.size());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{1}, report.model_faults.at("no_model"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, report.model_faults.at("late"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7}, report.model_faults.at("out_of_distribution"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{8}, report.model_faults.at("breaker_open"));
  }

  // Its line, word for word.
  void an_older_slurmctld_says_nothing_of_models_and_is_understood() {
    const StatisticsReport report = read_statistics(
        R"({"counters":{"gangs_not_reached":0,"gangs_planned":3,"held":1,"left_to_stock":0,"no_room":0,"plans_made":3,)"
        R"("plans_stale":0,"plans_used":3,"rounds":7,"rounds_cut":0,"settings_refused":0,"shadow_other":0,)"
        R"("shadow_same":0,"waits":0},"decisions_kept":3,"fallbacks":{"refused":0},"last_round":1700000000,"mode":)"
        R"("enforce","model":"","planner":"running","policy":"pack","settings_file":"none","settings_problem":"",)"
        R"("since":1700000000,"times":{"lock":{"count":7,"max_us":9.5,"mean_us":5.0,"p99_us":9.5,"sum_us":35.0}}})");
    CPPUNIT_ASSERT(report.understood);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{7}, report.counters.at("rounds"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.counters.at("gangs_by_model"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.model_faults.at("late"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.times.at("propose").count);
    CPPUNIT_ASSERT_EQUAL(std::string(), report.facts.breaker + report.facts.model_problem);
  }

  void a_missing_key_counts_as_nothing() {
    const StatisticsReport report = read_statistics(R"({"planner":"running","counters":{"rounds":2},"new":[1]})");
    CPPUNIT_ASSERT(report.understood);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{2}, report.counters.at("rounds"));
    CPPUNIT_ASSERT_EQUAL(std::uint64_t{0}, report.counters.at("held"));
    CPPUNIT_ASSERT_EQUAL(0.0, report.times.at("lock").p99_us);
  }

  void another_kind_of_value_is_not_understood() {
    for (const char *json : {"",
                             "null",
                             "7",
                             "[]",
                             "\"running\"",
                             "{",
                             "{} {}",
                             R"({"planner":1})",
                             R"({"counters":[]})",
                             R"({"counters":{"rounds":-1}})",
                             R"({"counters":{"rounds":1.5}})",
                             R"({"counters":{"rounds":1e300}})",
                             R"({"counters":{"rounds":"1"}})",
                             R"({"fallbacks":7})",
                             R"({"model_faults":7})",
                             R"({"model_faults":{"late":"7"}})",
                             R"({"breaker":7})",
                             R"({"times":{"lock":3}})",
                             R"({"times":{"lock":{"max_us":-1}}})",
                             R"({"times":{"lock":{"max_us":1e999}}})",
                             R"({"times":{"lock":{"max_us":NaN}}})",
                             R"({"since":18446744073709551615})",
                             R"({"since":-1})",
                             R"({"decisions_kept":true})"})
      CPPUNIT_ASSERT_MESSAGE(json, !read_statistics(json).understood);
    CPPUNIT_ASSERT(!read_statistics(std::string(30000, '[')).understood);
    CPPUNIT_ASSERT(!read_statistics("{\"policy\":\"" + std::string(70000, 'x') + "\"}").understood);
  }

  void no_piece_of_a_line_is_taken_for_the_whole() {
    const std::string json = statistics_json(Statistics(), {});
    for (std::size_t length = 0; length < json.size(); ++length)
      CPPUNIT_ASSERT(!read_statistics(json.substr(0, length)).understood);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(StatisticsTest);

} // namespace harmony
