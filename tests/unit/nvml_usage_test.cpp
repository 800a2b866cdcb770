// Drives the real code with the stand-in of tests/nvml.
#include "src/discover/nvml_usage.h"

#include <cppunit/extensions/HelperMacros.h>

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

namespace harmony {

using namespace std::chrono_literals;

class NvmlUsageTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(NvmlUsageTest);
  CPPUNIT_TEST(every_gpu_is_asked_for_use_and_memory);
  CPPUNIT_TEST(pcie_is_asked_of_one_gpu_after_the_other);
  CPPUNIT_TEST(gpus_are_numbered_by_their_device_files_as_slurm_does);
  CPPUNIT_TEST(what_mig_does_not_tell_is_not_known);
  CPPUNIT_TEST(a_lost_gpu_is_left_out_and_the_others_keep_their_numbers);
  CPPUNIT_TEST(an_older_library_tells_what_it_has);
  CPPUNIT_TEST(without_nvml_there_are_no_figures_and_nothing_waits);
  CPPUNIT_TEST(a_driver_that_does_not_start_is_named);
  CPPUNIT_TEST(a_driver_that_hangs_at_its_start_holds_up_nobody);
  CPPUNIT_TEST(a_driver_that_hangs_later_leaves_what_was_learned);
  CPPUNIT_TEST_SUITE_END();

  static std::string stand_in(const char *name, const char *scenario) {
    const char *directory = std::getenv("HARMONY_NVML_STAND_IN");
    const std::string path = std::string(directory ? directory : "tests/nvml/.libs") + "/" + name;
    if (access(path.c_str(), R_OK) != 0)
      CPPUNIT_FAIL("no stand-in for NVML at " + path + ": build tests/nvml, or set HARMONY_NVML_STAND_IN");
    setenv("HARMONY_NVML_SCENARIO", scenario, 1);
    return path;
  }

  static std::vector<GpuUsage> sampled(const char *scenario, int samples, const char *name = "libnvidia-ml.so.1") {
    NvmlUsage gpus(stand_in(name, scenario));
    for (int i = 0; i < samples; ++i) {
      gpus.sample();
      CPPUNIT_ASSERT(gpus.wait(60s));
    }
    CPPUNIT_ASSERT_EQUAL(std::string(), gpus.problem());
    return gpus.means();
  }

  void every_gpu_is_asked_for_use_and_memory() {
    const std::vector<GpuUsage> gpus = sampled("normal8", 2);
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), gpus.size());
    for (int i = 0; i < 8; ++i) {
      CPPUNIT_ASSERT_EQUAL(i, gpus[i].gpu);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(90 - i, gpus[i].busy, 1e-9);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(1000 + i, gpus[i].memory_mb, 1e-9);
    }
  }

  void pcie_is_asked_of_one_gpu_after_the_other() {
    const std::vector<GpuUsage> gpus = sampled("normal8", 3);
    for (int i = 0; i < 3; ++i) {
      CPPUNIT_ASSERT_DOUBLES_EQUAL(1000.0 * (i + 1), gpus[i].pcie_in_mb_s, 1e-9);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(500.0 * (i + 1), gpus[i].pcie_out_mb_s, 1e-9);
    }
    for (int i = 3; i < 8; ++i) CPPUNIT_ASSERT(std::isnan(gpus[i].pcie_in_mb_s) && std::isnan(gpus[i].pcie_out_mb_s));
  }

  // The stand-in's two A100 have their device files the other way round.
  void gpus_are_numbered_by_their_device_files_as_slurm_does() {
    const std::vector<GpuUsage> gpus = sampled("mig", 1);
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), gpus.size());
    CPPUNIT_ASSERT_EQUAL(1, gpus[1].gpu);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1000, gpus[1].memory_mb, 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1001, gpus[0].memory_mb, 1e-9);
  }

  void what_mig_does_not_tell_is_not_known() {
    const std::vector<GpuUsage> gpus = sampled("mig", 1);
    CPPUNIT_ASSERT(std::isnan(gpus.at(0).busy));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(90, gpus.at(1).busy, 1e-9);
  }

  void a_lost_gpu_is_left_out_and_the_others_keep_their_numbers() {
    for (const char *scenario : {"lost", "lost_handle", "unknown_error"}) {
      const std::vector<GpuUsage> gpus = sampled(scenario, 5);
      CPPUNIT_ASSERT_EQUAL_MESSAGE(scenario, std::size_t(7), gpus.size());
      CPPUNIT_ASSERT_EQUAL(2, gpus[2].gpu);
      CPPUNIT_ASSERT_EQUAL(4, gpus[3].gpu);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(86, gpus[3].busy, 1e-9);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(5000, gpus[3].pcie_in_mb_s, 1e-9);
    }
  }

  void an_older_library_tells_what_it_has() {
    const std::vector<GpuUsage> gpus = sampled("normal8", 1, "libnvidia-ml-old.so");
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), gpus.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(90, gpus[0].busy, 1e-9);
    CPPUNIT_ASSERT(std::isnan(gpus[0].pcie_in_mb_s));
  }

  void without_nvml_there_are_no_figures_and_nothing_waits() {
    NvmlUsage gpus("/nonexistent/libnvidia-ml.so.1");
    for (int i = 0; i < 3; ++i) {
      gpus.sample();
      CPPUNIT_ASSERT(gpus.wait(60s));
    }
    CPPUNIT_ASSERT(gpus.means().empty());
    CPPUNIT_ASSERT_MESSAGE(gpus.problem(), gpus.problem().find("GPUs are not observed") != std::string::npos);
  }

  void a_driver_that_does_not_start_is_named() {
    NvmlUsage gpus(stand_in("libnvidia-ml.so.1", "mismatch"));
    gpus.sample();
    CPPUNIT_ASSERT(gpus.wait(60s));
    CPPUNIT_ASSERT(gpus.means().empty());
    CPPUNIT_ASSERT_MESSAGE(gpus.problem(), gpus.problem().find("different versions") != std::string::npos);
  }

  // Waiting for it would take for ever, so the upper bound need not be near.
  void a_driver_that_hangs_at_its_start_holds_up_nobody() {
    const auto before = std::chrono::steady_clock::now();
    {
      NvmlUsage gpus(stand_in("libnvidia-ml.so.1", "hang"));
      for (int i = 0; i < 3; ++i) gpus.sample();
      CPPUNIT_ASSERT(!gpus.wait(50ms));
      CPPUNIT_ASSERT(gpus.means().empty());
    }
    CPPUNIT_ASSERT(std::chrono::steady_clock::now() - before < 30s);
  }

  void a_driver_that_hangs_later_leaves_what_was_learned() {
    NvmlUsage gpus(stand_in("libnvidia-ml.so.1", "hang_in_use"));
    gpus.sample();
    CPPUNIT_ASSERT(gpus.wait(60s));
    gpus.sample();
    CPPUNIT_ASSERT(!gpus.wait(50ms));
    gpus.sample();
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), gpus.means().size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(85, gpus.means()[5].busy, 1e-9);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(NvmlUsageTest);

} // namespace harmony
