#include "src/sim/truth/calibrate.h"

#include "tests/unit/sim_files.h"
#include "tests/unit/topology_tables.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cstdlib>

namespace harmony {
class CalibrateTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(CalibrateTest);
  CPPUNIT_TEST(what_is_built_in_is_what_the_published_table_gives);
  CPPUNIT_TEST(a_table_made_by_the_model_is_found_again);
  CPPUNIT_TEST(names_that_are_no_type_are_passed_over_and_told);
  CPPUNIT_TEST(bad_tables_are_refused_with_the_entry);
  CPPUNIT_TEST_SUITE_END();

  void what_is_built_in_is_what_the_published_table_gives() {
    const std::string path = fixtures::published("chronus/model_info.json");
    if (path.empty()) return;
    const JobTypes types;
    const Calibration calibration = calibrate(path, types);
    CPPUNIT_ASSERT_EQUAL(std::size_t{5}, calibration.types.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{50}, calibration.entries.size());
    for (const Measured &entry : calibration.entries)
      CPPUNIT_ASSERT_MESSAGE(calibration_text(calibration), std::abs(entry.error()) <= calibration_goal);
    for (const JobType &fitted : calibration.types) {
      const JobType &built_in = types.of(fitted.name);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(built_in.overlap, fitted.overlap, 1e-9);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(built_in.network_efficiency, fitted.network_efficiency, 1e-9);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(built_in.ring_latency_s, fitted.ring_latency_s, 1e-9);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(built_in.spread, fitted.spread, 1e-9);
    }
  }

  // The speeds of a gang that loses a half on two nodes and two thirds on four can be met.
  void a_table_made_by_the_model_is_found_again() {
    const TemporaryFile file(R"({"vgg16": {"4": {"1": 1.0, "2": 0.5, "4": 0.33}}})");
    const Calibration calibration = calibrate(file.path, JobTypes());
    CPPUNIT_ASSERT(calibration.worst() < 0.03);
    CPPUNIT_ASSERT_EQUAL(calibration_text(calibration), calibration_text(calibrate(file.path, JobTypes())));
  }

  void names_that_are_no_type_are_passed_over_and_told() {
    const TemporaryFile file(R"({"what": {"4": {"1": 1.0, "2": 0.5}}})");
    const Calibration calibration = calibrate(file.path, JobTypes());
    CPPUNIT_ASSERT(calibration.types.empty() && calibration.entries.empty());
    CPPUNIT_ASSERT(calibration.passed_over == std::vector<std::string>{"what"});
    CPPUNIT_ASSERT(calibration_text(calibration).find("what: no such job type, passed over") != std::string::npos);
  }

  static void assert_refused(const std::string &text, const std::string &problem) {
    const TemporaryFile file(text);
    try {
      calibrate(file.path, JobTypes());
    } catch (const std::runtime_error &bad) {
      CPPUNIT_ASSERT_MESSAGE(bad.what(), std::string(bad.what()).find(problem) != std::string::npos);
      CPPUNIT_ASSERT_MESSAGE(bad.what(), std::string(bad.what()).find(file.path) == 0);
      return;
    }
    CPPUNIT_FAIL("was not refused: " + problem);
  }

  void bad_tables_are_refused_with_the_entry() {
    assert_refused("{", "is not JSON");
    assert_refused(R"({"vgg16": 3})", "vgg16: is no object by GPUs, then by nodes");
    assert_refused(R"({"vgg16": {"4": 3}})", "vgg16: is no object by GPUs, then by nodes");
    assert_refused(R"({"vgg16": {"4": {"x": 1}}})", "vgg16, 4 GPUs, x nodes: the nodes are no whole number");
    assert_refused(R"({"vgg16": {"16": {"1": 1}}})", "vgg16, 16 GPUs, 1 nodes: the GPUs are no whole number");
    assert_refused(R"({"vgg16": {"2": {"4": 1}}})", "vgg16, 2 GPUs, 4 nodes: the GPUs are no whole number");
    assert_refused(R"({"vgg16": {"2": {"2": "1"}}})", "vgg16, 2 GPUs, 2 nodes: the relative speed is no number");
    assert_refused(R"({"vgg16": {"2": {"2": 0}}})", "vgg16, 2 GPUs, 2 nodes: the relative speed is no number");
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(CalibrateTest);

} // namespace harmony
