#include "src/tool/status.h"
#include "src/values/statistics.h"

#include <cppunit/extensions/HelperMacros.h>
#include <json/json.h>

#include <regex.h>

#include <set>
#include <sstream>
#include <vector>

namespace harmony {

class StatusTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(StatusTest);
  CPPUNIT_TEST(both_overlays_loaded_is_good);
  CPPUNIT_TEST(no_answer_says_why);
  CPPUNIT_TEST(another_slurm_version_is_said_before_all_else);
  CPPUNIT_TEST(a_plugin_dir_without_us_is_named);
  CPPUNIT_TEST(a_listed_overlay_that_is_not_loaded_asks_for_a_restart);
  CPPUNIT_TEST(one_overlay_alone_counts_as_not_loaded);
  CPPUNIT_TEST(an_engine_that_failed_is_degraded);
  CPPUNIT_TEST(json_tells_what_the_text_tells);
  CPPUNIT_TEST(statistics_are_shown_in_sections);
  CPPUNIT_TEST(the_shadow_comparison_is_shown_in_shadow_mode_only);
  CPPUNIT_TEST(a_planner_that_is_down_is_degraded_unless_the_mode_is_off);
  CPPUNIT_TEST(a_refused_harmony_conf_is_said_and_leaves_the_health_good);
  CPPUNIT_TEST(a_model_is_spoken_of_with_policy_learned_only);
  CPPUNIT_TEST(a_model_that_does_not_decide_is_said_and_leaves_the_health_good);
  CPPUNIT_TEST(nobody_misses_a_model_in_mode_off);
  CPPUNIT_TEST(json_has_the_statistics_as_an_object);
  CPPUNIT_TEST(json_has_what_the_model_did);
  CPPUNIT_TEST(broken_statistics_are_not_understood_and_harm_nothing);
  CPPUNIT_TEST(prometheus_metrics_follow_the_grammar);
  CPPUNIT_TEST(prometheus_has_what_the_model_did);
  CPPUNIT_TEST(prometheus_has_something_to_say_without_slurmctld);
  CPPUNIT_TEST(prometheus_labels_survive_hostile_text);
  CPPUNIT_TEST_SUITE_END();

  static ControllerReport stock() {
    ControllerReport report;
    report.answered = true;
    report.host = "ctl";
    report.slurm_version = "22.05.8";
    report.plugin_dir = "/opt/harmony:/usr/lib/slurm";
    return report;
  }

  static ControllerReport loaded() {
    ControllerReport report = stock();
    report.harmony = {{"HarmonyVersion", "0.1.0"}, {"HarmonyBuiltFor", "22.05.8"},
                      {"HarmonyMode", "shadow"},   {"HarmonyEngine", "loaded"},
                      {"HarmonySched", "loaded"},  {"HarmonySelect", "/usr/lib/slurm/s.so"}};
    return report;
  }

  static StatisticsFacts facts(const char *mode, const char *planner) {
    return {"pack", "none", "", "", mode, planner, "/etc/slurm/harmony.conf", "", "/srv/dataset",
            "",     812,    2,  40, 0,    1500000};
  }

  static StatisticsFacts learned() {
    return {"learned", "m1 version 3", "", "closed", "enforce", "running", "/etc/slurm/harmony.conf",
            "",        "/srv/dataset", "", 812,      2,         40,        0,
            1500000};
  }

  static ControllerReport counting(const StatisticsFacts &facts) {
    Statistics statistics;
    statistics.rounds = 1234;
    statistics.last_round = 1700000000;
    statistics.plans_made = 56;
    statistics.shadow_same = 7;
    statistics.fallbacks[static_cast<std::size_t>(Fallback::refused)] = 3;
    statistics.lock.add(150000);
    statistics.gangs_by_model = 41;
    statistics.scores_reused = 4096;
    statistics.model_faults[static_cast<std::size_t>(ModelFault::not_finite)] = 2;
    statistics.inference.add(250000);
    ControllerReport report = loaded();
    report.harmony["HarmonyMode"] = facts.mode;
    report.harmony["HarmonyStatistics"] = statistics_json(statistics, facts);
    return report;
  }

  static std::string text_of(const ControllerReport &report) { return status_text(report, judged(report)); }

  static std::string metrics_of(const ControllerReport &report) { return status_prometheus(report, judged(report)); }

  static Json::Value json_of(const ControllerReport &report) {
    Json::Value root;
    std::istringstream(status_json(report, judged(report))) >> root;
    return root;
  }

  static void has(const std::string &text, const std::string &words) {
    CPPUNIT_ASSERT_MESSAGE(words + " is not in\n" + text, text.find(words) != std::string::npos);
  }

  static void has_not(const std::string &text, const std::string &words) {
    CPPUNIT_ASSERT_MESSAGE(words + " is in\n" + text, text.find(words) == std::string::npos);
  }

  // The groups of an extended regular expression that matches all of the line; none if it does not. (POSIX: gcc 12
  // warns of std::regex under AddressSanitizer.)
  static std::vector<std::string> match(const std::string &line, const char *pattern) {
    regex_t expression;
    CPPUNIT_ASSERT_EQUAL(0, regcomp(&expression, pattern, REG_EXTENDED));
    regmatch_t found[3];
    std::vector<std::string> groups;
    if (regexec(&expression, line.c_str(), 3, found, 0) == 0)
      for (const regmatch_t &group : found)
        groups.push_back(group.rm_so < 0 ? "" : line.substr(group.rm_so, group.rm_eo - group.rm_so));
    regfree(&expression);
    return groups;
  }

  // The text format of Prometheus: each family has its HELP and TYPE once and then its samples, none of them twice.
  static void check_metrics(const std::string &text) {
    CPPUNIT_ASSERT(!text.empty() && text.back() == '\n');
    std::istringstream lines(text);
    std::set<std::string> families, samples;
    std::string family, kind;
    for (std::string line; std::getline(lines, line);) {
      if (const auto help = match(line, "^# HELP (harmony_[a-z0-9_]+) [ -~]+$"); !help.empty()) {
        family = help[1];
        CPPUNIT_ASSERT_MESSAGE(line, families.insert(family).second && std::getline(lines, line));
        const auto type = match(line, "^# TYPE (harmony_[a-z0-9_]+) (counter|gauge|summary)$");
        CPPUNIT_ASSERT_MESSAGE(line, !type.empty() && type[1] == family);
        kind = type[2];
        CPPUNIT_ASSERT_MESSAGE(line, (kind == "counter") == !match(family, "_total$").empty());
        continue;
      }
      const std::string label = R"re([a-z_]+="([^"\]|\\["\n])*")re";
      const std::string pattern = "^(harmony_[a-z0-9_]+)(\\{" + label + "(," + label +
                                  ")*\\})? "
                                  "[0-9]+(\\.[0-9]+)?(e[-+]?[0-9]+)?$";
      const auto sample = match(line, pattern.c_str());
      CPPUNIT_ASSERT_MESSAGE(line, !sample.empty());
      const bool part = kind == "summary" && (sample[1] == family + "_sum" || sample[1] == family + "_count");
      CPPUNIT_ASSERT_MESSAGE(line, sample[1] == family || part);
      CPPUNIT_ASSERT_MESSAGE(line, samples.insert(sample[1] + sample[2]).second);
    }
  }

  static Status judged(const ControllerReport &report) { return judge(report, "/opt/harmony", "22.05.8"); }

  static bool says(const Status &status, const char *words) { return status.advice.find(words) != std::string::npos; }

  void both_overlays_loaded_is_good() {
    const Status status = judged(loaded());
    CPPUNIT_ASSERT(status.health == Health::good);
    CPPUNIT_ASSERT(status_text(loaded(), status).find("mode        shadow") != std::string::npos);
    CPPUNIT_ASSERT(status_text(loaded(), status).find("problem") == std::string::npos);
  }

  void no_answer_says_why() {
    ControllerReport report;
    report.problem = "timed out";
    CPPUNIT_ASSERT(judged(report).health == Health::no_answer);
    CPPUNIT_ASSERT(says(judged(report), "timed out"));
  }

  void another_slurm_version_is_said_before_all_else() {
    ControllerReport report = stock();
    report.slurm_version = "22.05.9";
    CPPUNIT_ASSERT(judged(report).health == Health::not_loaded);
    CPPUNIT_ASSERT(says(judged(report), "slurmctld is Slurm 22.05.9, this build is for 22.05.8"));
  }

  void a_plugin_dir_without_us_is_named() {
    ControllerReport report = stock();
    report.plugin_dir = "/opt/harmony-old:/usr/lib/slurm";
    CPPUNIT_ASSERT(judged(report).health == Health::not_loaded);
    CPPUNIT_ASSERT(says(judged(report), "PluginDir=/opt/harmony-old:/usr/lib/slurm does not list /opt/harmony"));
  }

  void a_listed_overlay_that_is_not_loaded_asks_for_a_restart() {
    CPPUNIT_ASSERT(judged(stock()).health == Health::not_loaded);
    CPPUNIT_ASSERT(says(judged(stock()), "not restarted"));
    CPPUNIT_ASSERT(status_text(stock(), judged(stock())).find("NOT LOADED") != std::string::npos);
  }

  void one_overlay_alone_counts_as_not_loaded() {
    ControllerReport report = loaded();
    report.harmony["HarmonySched"] = "not loaded";
    CPPUNIT_ASSERT(judged(report).health == Health::not_loaded);
    CPPUNIT_ASSERT(says(judged(report), "sched_backfill.so"));
  }

  void an_engine_that_failed_is_degraded() {
    ControllerReport report = loaded();
    report.harmony["HarmonyEngine"] = "failed: slurmctld's log says why";
    CPPUNIT_ASSERT(judged(report).health == Health::degraded);
    CPPUNIT_ASSERT(says(judged(report), "failed"));
  }

  void json_tells_what_the_text_tells() {
    Json::Value root;
    std::istringstream(status_json(loaded(), judged(loaded()))) >> root;
    CPPUNIT_ASSERT_EQUAL(std::string("good"), root["health"].asString());
    CPPUNIT_ASSERT_EQUAL(std::string("22.05.8"), root["slurmctld"]["version"].asString());
    CPPUNIT_ASSERT_EQUAL(std::string("shadow"), root["overlay"]["HarmonyMode"].asString());
    CPPUNIT_ASSERT(root["statistics"].isObject() && root["statistics"].empty());
  }

  void statistics_are_shown_in_sections() {
    const std::string text = text_of(counting(facts("enforce", "running")));
    has(text, "\nPlanner\n  state               running\n  policy              pack\n");
    has(text, "\n  rounds              1234\n");
    has(text, "\nTimes (microseconds)\n  STEP           COUNT         MEAN          P99          MAX\n"
              "  lock               1        150.0        150.0        150.0\n");
    has(text, "\nPlans\n  made                56\n");
    has(text, "\nFallbacks to stock\n  refused             3\n");
    has_not(text, "other_gpus");
    has_not(text, "HarmonyStatistics");
    ControllerReport calm = counting(facts("enforce", "running"));
    calm.harmony["HarmonyStatistics"] = statistics_json(Statistics(), facts("enforce", "running"));
    has(text_of(calm), "\nFallbacks to stock\n  none\n");
    has(text_of(calm), "\n  last round          never\n");
  }

  void the_shadow_comparison_is_shown_in_shadow_mode_only() {
    has(text_of(counting(facts("shadow", "running"))), "  as planned          7\n  otherwise           0\n");
    has_not(text_of(counting(facts("enforce", "running"))), "as planned");
  }

  void a_planner_that_is_down_is_degraded_unless_the_mode_is_off() {
    for (const char *planner : {"unwell: no round for 42 s", "not running: the sched overlay is not loaded"}) {
      const Status status = judged(counting(facts("enforce", planner)));
      CPPUNIT_ASSERT(status.health == Health::degraded);
      CPPUNIT_ASSERT(says(status, planner));
      CPPUNIT_ASSERT(judged(counting(facts("off", planner))).health == Health::good);
    }
    for (const char *planner : {"running", "idle: mode off"})
      CPPUNIT_ASSERT(judged(counting(facts("shadow", planner))).health == Health::good);
  }

  void a_refused_harmony_conf_is_said_and_leaves_the_health_good() {
    StatisticsFacts refused = facts("enforce", "running");
    refused.settings_problem = "line 3: unknown key";
    const Status status = judged(counting(refused));
    CPPUNIT_ASSERT(status.health == Health::good);
    CPPUNIT_ASSERT(says(status, "line 3: unknown key"));
    CPPUNIT_ASSERT(says(status, "/etc/slurm/harmony.conf"));
  }

  void a_model_is_spoken_of_with_policy_learned_only() {
    StatisticsFacts refused = learned();
    refused.model_problem = "m1 version 4: model.pt: wrong digest";
    refused.breaker = "open for 27 s more after 5 faults in a row: late";
    const std::string text = text_of(counting(refused));
    has(text,
        "\nModel\n  in service          m1 version 3\n  problem             m1 version 4: model.pt: wrong digest\n"
        "  breaker             open for 27 s more after 5 faults in a row: late\n");
    has(text, "\n  gangs decided       41\n");
    has(text, "\n  scores reused       4096\n");
    has(text, "\nLeft to the heuristic\n  not_finite          2\n");
    has(text, "\n  inference          1        250.0        250.0        250.0\n");
    has_not(text, "out_of_distribution");
    const std::string other = text_of(counting(facts("enforce", "running")));
    for (const char *words : {"Model", "model", "heuristic", "inference", "encode", "propose", "breaker", "scores"})
      has_not(other, words);
  }

  void a_model_that_does_not_decide_is_said_and_leaves_the_health_good() {
    const auto advice = [](const StatisticsFacts &facts) {
      const Status status = judged(counting(facts));
      CPPUNIT_ASSERT(status.health == Health::good);
      return status.advice;
    };
    CPPUNIT_ASSERT_EQUAL(std::string(), advice(learned()));
    StatisticsFacts facts = learned();
    facts.breaker = "closed, after 2 faults in a row: late";
    CPPUNIT_ASSERT_EQUAL(std::string(), advice(facts));
    facts.breaker = "probing: 1 of 3 good ones, after 5 faults in a row: late";
    CPPUNIT_ASSERT_EQUAL("m1 version 3 is not used, the heuristic decides; the breaker is " + facts.breaker,
                         advice(facts));
    facts.model_problem = "m1 version 4: wrong digest";
    CPPUNIT_ASSERT_EQUAL(std::string("m1 version 3 stays in service: m1 version 4: wrong digest"), advice(facts));
    for (const char *none : {"", "none"}) {
      facts.model = none;
      CPPUNIT_ASSERT_EQUAL(std::string("no model is in service, the heuristic decides: m1 version 4: wrong digest"),
                           advice(facts));
    }
    facts.model_problem = "";
    CPPUNIT_ASSERT_EQUAL(std::string("no model is in service, the heuristic decides"), advice(facts));
    facts.policy = "pack";
    CPPUNIT_ASSERT_EQUAL(std::string(), advice(facts));
  }

  void nobody_misses_a_model_in_mode_off() {
    StatisticsFacts facts = learned();
    facts.model = "";
    facts.mode = "off";
    CPPUNIT_ASSERT_EQUAL(std::string(), judged(counting(facts)).advice);
  }

  void json_has_the_statistics_as_an_object() {
    const Json::Value root = json_of(counting(facts("shadow", "running")));
    CPPUNIT_ASSERT_EQUAL(1234u, root["statistics"]["counters"]["rounds"].asUInt());
    CPPUNIT_ASSERT_EQUAL(std::string("pack"), root["statistics"]["policy"].asString());
    CPPUNIT_ASSERT_EQUAL(150.0, root["statistics"]["times"]["lock"]["max_us"].asDouble());
    CPPUNIT_ASSERT(!root["overlay"].isMember("HarmonyStatistics"));
  }

  void json_has_what_the_model_did() {
    const Json::Value statistics = json_of(counting(learned()))["statistics"];
    CPPUNIT_ASSERT_EQUAL(std::string("m1 version 3"), statistics["model"].asString());
    CPPUNIT_ASSERT_EQUAL(std::string("closed"), statistics["breaker"].asString());
    CPPUNIT_ASSERT(statistics["model_problem"].isString());
    CPPUNIT_ASSERT_EQUAL(41u, statistics["counters"]["gangs_by_model"].asUInt());
    CPPUNIT_ASSERT_EQUAL(2u, statistics["model_faults"]["not_finite"].asUInt());
    CPPUNIT_ASSERT_EQUAL(250.0, statistics["times"]["inference"]["max_us"].asDouble());
  }

  void broken_statistics_are_not_understood_and_harm_nothing() {
    for (const std::string &broken : {std::string(), std::string("{"), std::string(R"({"planner":{"a":1}})"),
                                      std::string(30000, '['), std::string("\0\x1b[2J", 5)}) {
      ControllerReport report = loaded();
      report.harmony["HarmonyStatistics"] = broken;
      CPPUNIT_ASSERT(judged(report).health == Health::good);
      has(text_of(report), "not understood");
      CPPUNIT_ASSERT_EQUAL(std::string("not understood"), json_of(report)["statistics"]["problem"].asString());
      check_metrics(metrics_of(report));
      has(metrics_of(report), "\nharmony_statistics_understood 0\n");
    }
  }

  void prometheus_metrics_follow_the_grammar() {
    const std::string metrics = metrics_of(counting(facts("shadow", "running")));
    check_metrics(metrics);
    for (const char *line :
         {"harmony_up 1\n", "harmony_health{state=\"good\"} 1\n", "harmony_rounds_total 1234\n",
          "harmony_mode_info{mode=\"shadow\",policy=\"pack\",model=\"none\"} 1\n", "harmony_planner_running 1\n",
          "harmony_step_seconds{step=\"lock\",quantile=\"0.99\"} 0.00015\n",
          "harmony_step_seconds_sum{step=\"lock\"} 0.00015\n", "harmony_step_seconds_count{step=\"job_test\"} 0\n",
          "harmony_fallbacks_total{cause=\"refused\"} 3\n", "harmony_fallbacks_total{cause=\"other_gpus\"} 0\n",
          "harmony_last_round_timestamp_seconds 1700000000\n"})
      has(metrics, std::string("\n") + line);
    const std::string unwell = metrics_of(counting(facts("enforce", "unwell: no round for 42 s")));
    check_metrics(unwell);
    has(unwell, "\nharmony_up 1\n");
    has(unwell, "\nharmony_health{state=\"degraded\"} 1\n");
    has(unwell, "\nharmony_planner_running 0\n");
  }

  void prometheus_has_what_the_model_did() {
    const std::string good = metrics_of(counting(learned()));
    check_metrics(good);
    for (const char *line :
         {"harmony_mode_info{mode=\"enforce\",policy=\"learned\",model=\"m1 version 3\"} 1\n",
          "harmony_model_in_service 1\n", "harmony_model_good 1\n", "harmony_breaker_closed 1\n",
          "harmony_gangs_by_model_total 41\n", "harmony_probes_total 0\n", "harmony_models_loaded_total 0\n",
          "harmony_models_refused_total 0\n", "harmony_scores_computed_total 0\n", "harmony_scores_reused_total 4096\n",
          "harmony_model_faults_total{cause=\"not_finite\"} 2\n", "harmony_model_faults_total{cause=\"late\"} 0\n",
          "harmony_step_seconds{step=\"inference\",quantile=\"0.99\"} 0.00025\n",
          "harmony_step_max_seconds{step=\"inference\"} 0.00025\n", "harmony_step_seconds_count{step=\"encode\"} 0\n",
          "harmony_step_seconds_count{step=\"propose\"} 0\n"})
      has(good, std::string("\n") + line);
    StatisticsFacts bad = learned();
    bad.model = "none";
    bad.model_problem = "the store is empty";
    bad.breaker = "open for 3 s more";
    check_metrics(metrics_of(counting(bad)));
    for (const char *line : {"harmony_model_in_service 0\n", "harmony_model_good 0\n", "harmony_breaker_closed 0\n"})
      has(metrics_of(counting(bad)), std::string("\n") + line);
    has_not(metrics_of(counting(facts("enforce", "running"))), "harmony_breaker_closed");
  }

  void prometheus_has_something_to_say_without_slurmctld() {
    for (const ControllerReport &report : {ControllerReport(), stock()}) {
      check_metrics(metrics_of(report));
      has(metrics_of(report), "\nharmony_up 0\n");
    }
    has(metrics_of(ControllerReport()), "\nharmony_health{state=\"no-answer\"} 1\n");
    has(metrics_of(stock()), "\nharmony_health{state=\"not-loaded\"} 1\n");
  }

  void prometheus_labels_survive_hostile_text() {
    StatisticsFacts hostile = facts("shadow", "running");
    hostile.policy = "a\"b\\\n\x1b";
    check_metrics(metrics_of(counting(hostile)));
    has(metrics_of(counting(hostile)), R"(policy="a\"b\\??")");
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(StatusTest);

} // namespace harmony
