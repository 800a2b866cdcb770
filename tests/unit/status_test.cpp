#include "src/tool/status.h"

#include <cppunit/extensions/HelperMacros.h>
#include <json/json.h>

#include <sstream>

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
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(StatusTest);

} // namespace harmony
