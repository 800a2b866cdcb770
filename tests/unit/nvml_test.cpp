// Drives the real loading code with the stand-in of tests/nvml.
#include "src/discover/nvml.h"

#include <cppunit/extensions/HelperMacros.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace harmony {

using namespace std::chrono_literals;

class NvmlTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(NvmlTest);
  CPPUNIT_TEST(each_gpu_is_described);
  CPPUNIT_TEST(straight_links_are_counted_for_each_peer);
  CPPUNIT_TEST(nvswitches_join_every_gpu_with_every_other);
  CPPUNIT_TEST(mig_is_seen_on_the_gpu_that_has_it);
  CPPUNIT_TEST(the_device_file_follows_the_minor_number);
  CPPUNIT_TEST(no_devices_is_present_and_noted);
  CPPUNIT_TEST(a_driver_library_mismatch_is_named);
  CPPUNIT_TEST(a_driver_that_is_not_loaded_is_named);
  CPPUNIT_TEST(missing_permission_is_named);
  CPPUNIT_TEST(a_lost_gpu_is_listed_as_lost_and_the_others_are_unaffected);
  CPPUNIT_TEST(a_gpu_lost_before_its_handle_is_listed_without_an_address);
  CPPUNIT_TEST(a_gpu_with_unknown_errors_counts_as_lost);
  CPPUNIT_TEST(an_older_library_is_read_by_its_older_names);
  CPPUNIT_TEST(each_missing_newer_function_is_noted);
  CPPUNIT_TEST(an_older_library_still_tells_nvswitches);
  CPPUNIT_TEST(an_older_library_does_not_take_a_lost_gpu_for_an_nvswitch);
  CPPUNIT_TEST(texts_are_bounded_and_printable);
  CPPUNIT_TEST(an_absent_library_is_a_report_and_not_an_error);
  CPPUNIT_TEST(a_library_that_is_not_nvml_is_refused);
  CPPUNIT_TEST(a_hanging_driver_is_given_up_after_the_limit);
  CPPUNIT_TEST(a_slow_driver_is_given_up_after_the_limit);
  CPPUNIT_TEST(a_driver_that_was_given_up_does_not_disturb_the_next_reading);
  CPPUNIT_TEST(the_callers_signal_mask_is_left_as_it_was);
  CPPUNIT_TEST_SUITE_END();

  static std::string stand_in(const char *name) {
    const char *directory = std::getenv("HARMONY_NVML_STAND_IN");
    const std::string path = std::string(directory ? directory : "tests/nvml/.libs") + "/" + name;
    if (access(path.c_str(), R_OK) != 0)
      CPPUNIT_FAIL("no stand-in for NVML at " + path + ": build tests/nvml, or set HARMONY_NVML_STAND_IN");
    return path;
  }

  static NvmlReport read(const char *scenario, const char *library = "libnvidia-ml.so.1",
                         std::chrono::milliseconds limit = 60s) {
    const std::string path = stand_in(library);
    setenv("HARMONY_NVML_SCENARIO", scenario, 1);
    return read_nvml(limit, path.c_str());
  }

  static bool contains(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

  static bool noted(const NvmlReport &report, const char *part) {
    return std::any_of(report.notes.begin(), report.notes.end(),
                       [&](const std::string &note) { return contains(note, part); });
  }

  static std::map<std::string, int> peers(const NvmlGpu &gpu) {
    std::map<std::string, int> result;
    for (const NvmlPeer &peer : gpu.peers) result[peer.bus_id] = peer.links;
    return result;
  }

  // What does not change with the scenario: absent, with a problem that names the cause and what happens now.
  static void assert_absent(const NvmlReport &report, const char *cause) {
    CPPUNIT_ASSERT(!report.present);
    CPPUNIT_ASSERT(report.gpus.empty());
    CPPUNIT_ASSERT_MESSAGE(report.problem, contains(report.problem, cause));
    CPPUNIT_ASSERT_MESSAGE(report.problem, contains(report.problem, "hwloc alone"));
  }

  void each_gpu_is_described() {
    const NvmlReport report = read("normal8");
    CPPUNIT_ASSERT_EQUAL(std::string(), report.problem);
    CPPUNIT_ASSERT(report.present);
    CPPUNIT_ASSERT(report.notes.empty());
    CPPUNIT_ASSERT_EQUAL(std::string("535.104.05"), report.driver);
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), report.gpus.size());
    const NvmlGpu &gpu = report.gpus[3];
    CPPUNIT_ASSERT_EQUAL(std::string("0000:0b:00.0"), gpu.bus_id);
    CPPUNIT_ASSERT_EQUAL(std::string("GPU-00000000-0000-0000-0000-000000000003"), gpu.uuid);
    CPPUNIT_ASSERT_EQUAL(std::string("Tesla V100-SXM2-32GB"), gpu.name);
    CPPUNIT_ASSERT_EQUAL(std::string("/dev/nvidia3"), gpu.device);
    CPPUNIT_ASSERT_EQUAL(std::uint32_t(32768), gpu.memory_mb);
    CPPUNIT_ASSERT(!gpu.mig && !gpu.lost);
    CPPUNIT_ASSERT_EQUAL(3, gpu.pcie_generation);
    CPPUNIT_ASSERT_EQUAL(16, gpu.pcie_width);
  }

  void straight_links_are_counted_for_each_peer() {
    const NvmlReport report = read("normal8");
    const std::map<std::string, int> wanted = {
        {"0000:07:00.0", 1}, {"0000:0a:00.0", 1}, {"0000:0b:00.0", 2}, {"0000:85:00.0", 2}};
    CPPUNIT_ASSERT(peers(report.gpus.at(0)) == wanted);
  }

  void nvswitches_join_every_gpu_with_every_other() {
    const NvmlReport report = read("nvswitch16");
    CPPUNIT_ASSERT_EQUAL(std::size_t(16), report.gpus.size());
    for (const NvmlGpu &gpu : report.gpus) {
      CPPUNIT_ASSERT_EQUAL(std::size_t(15), gpu.peers.size());
      for (const NvmlPeer &peer : gpu.peers) CPPUNIT_ASSERT_EQUAL(6, peer.links);
    }
  }

  void mig_is_seen_on_the_gpu_that_has_it() {
    const NvmlReport report = read("mig");
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), report.gpus.size());
    CPPUNIT_ASSERT(!report.gpus[0].mig);
    CPPUNIT_ASSERT(report.gpus[1].mig);
    CPPUNIT_ASSERT(report.gpus[0].peers.empty());
  }

  void the_device_file_follows_the_minor_number() {
    const NvmlReport report = read("mig");
    CPPUNIT_ASSERT_EQUAL(std::string("/dev/nvidia1"), report.gpus.at(0).device);
    CPPUNIT_ASSERT_EQUAL(std::string("/dev/nvidia0"), report.gpus.at(1).device);
  }

  void no_devices_is_present_and_noted() {
    const NvmlReport report = read("no_devices");
    CPPUNIT_ASSERT(report.present);
    CPPUNIT_ASSERT(report.gpus.empty());
    CPPUNIT_ASSERT(noted(report, "sees no GPU"));
  }

  void a_driver_library_mismatch_is_named() { assert_absent(read("mismatch"), "different versions"); }
  void a_driver_that_is_not_loaded_is_named() { assert_absent(read("driver_missing"), "driver is not loaded"); }
  void missing_permission_is_named() { assert_absent(read("no_permission"), "no permission"); }

  void a_lost_gpu_is_listed_as_lost_and_the_others_are_unaffected() {
    const NvmlReport report = read("lost");
    CPPUNIT_ASSERT(report.present);
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), report.gpus.size());
    for (std::size_t i = 0; i < 8; ++i) {
      CPPUNIT_ASSERT_EQUAL(i == 3, report.gpus[i].lost);
      CPPUNIT_ASSERT_EQUAL(std::size_t(0), peers(report.gpus[i]).count("0000:0b:00.0"));
      if (i != 3) CPPUNIT_ASSERT_EQUAL(std::string("Tesla V100-SXM2-32GB"), report.gpus[i].name);
    }
    CPPUNIT_ASSERT_EQUAL(std::string("0000:0b:00.0"), report.gpus[3].bus_id);
    CPPUNIT_ASSERT(noted(report, "GPU 3 of NVML (0000:0b:00.0) is lost: GPU is lost"));
    CPPUNIT_ASSERT_EQUAL(2, peers(report.gpus[0])["0000:85:00.0"]);
  }

  void a_gpu_lost_before_its_handle_is_listed_without_an_address() {
    const NvmlReport report = read("lost_handle");
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), report.gpus.size());
    CPPUNIT_ASSERT(report.gpus[3].lost);
    CPPUNIT_ASSERT(report.gpus[3].bus_id.empty());
    CPPUNIT_ASSERT(noted(report, "GPU 3 of NVML (PCI address not known) is lost"));
    CPPUNIT_ASSERT_EQUAL(std::size_t(3), report.gpus[0].peers.size());
  }

  void a_gpu_with_unknown_errors_counts_as_lost() {
    const NvmlReport report = read("unknown_error");
    CPPUNIT_ASSERT(report.gpus.at(3).lost);
    CPPUNIT_ASSERT(!report.gpus.at(4).lost);
    CPPUNIT_ASSERT(noted(report, "NVML error 999"));
  }

  void an_older_library_is_read_by_its_older_names() {
    const NvmlReport old = read("normal8", "libnvidia-ml-old.so"), today = read("normal8");
    CPPUNIT_ASSERT_EQUAL(std::string(), old.problem);
    CPPUNIT_ASSERT_EQUAL(today.gpus.size(), old.gpus.size());
    for (std::size_t i = 0; i < old.gpus.size(); ++i) {
      CPPUNIT_ASSERT_EQUAL(today.gpus[i].bus_id, old.gpus[i].bus_id);
      CPPUNIT_ASSERT_EQUAL(today.gpus[i].uuid, old.gpus[i].uuid);
      CPPUNIT_ASSERT(peers(today.gpus[i]) == peers(old.gpus[i]));
    }
  }

  void each_missing_newer_function_is_noted() {
    const NvmlReport report = read("mig", "libnvidia-ml-old.so");
    CPPUNIT_ASSERT(noted(report, "without nvmlInit_v2: using nvmlInit"));
    CPPUNIT_ASSERT(noted(report, "without nvmlDeviceGetCount_v2"));
    CPPUNIT_ASSERT(noted(report, "without nvmlDeviceGetPciInfo_v3: using nvmlDeviceGetPciInfo"));
    CPPUNIT_ASSERT(noted(report, "without nvmlDeviceGetNvLinkRemotePciInfo_v2: using"));
    CPPUNIT_ASSERT(noted(report, "without nvmlDeviceGetNvLinkRemoteDeviceType"));
    CPPUNIT_ASSERT(noted(report, "without nvmlDeviceGetMigMode: taking MIG as off"));
    CPPUNIT_ASSERT(!report.gpus.at(1).mig);
  }

  void an_older_library_still_tells_nvswitches() {
    const NvmlReport report = read("nvswitch16", "libnvidia-ml-old.so");
    CPPUNIT_ASSERT_EQUAL(std::size_t(16), report.gpus.size());
    for (const NvmlGpu &gpu : report.gpus) {
      CPPUNIT_ASSERT_EQUAL(std::size_t(15), gpu.peers.size());
      for (const NvmlPeer &peer : gpu.peers) CPPUNIT_ASSERT_EQUAL(6, peer.links);
    }
  }

  void an_older_library_does_not_take_a_lost_gpu_for_an_nvswitch() {
    const NvmlReport old = read("lost_handle", "libnvidia-ml-old.so"), today = read("lost_handle");
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), old.gpus.size());
    for (std::size_t i = 0; i < 8; ++i) CPPUNIT_ASSERT(peers(today.gpus[i]) == peers(old.gpus[i]));
    CPPUNIT_ASSERT(noted(old, "are not counted"));
  }

  void texts_are_bounded_and_printable() {
    const NvmlReport report = read("rude");
    const NvmlGpu &gpu = report.gpus.at(0);
    CPPUNIT_ASSERT_EQUAL("N" + std::string(95, '?'), gpu.name);
    CPPUNIT_ASSERT_EQUAL("N" + std::string(95, '?'), gpu.uuid);
    CPPUNIT_ASSERT_EQUAL("N" + std::string(79, '?'), report.driver);
  }

  void an_absent_library_is_a_report_and_not_an_error() {
    assert_absent(read_nvml(60s, "/nonexistent/libnvidia-ml.so.1"), "/nonexistent/libnvidia-ml.so.1");
  }

  void a_library_that_is_not_nvml_is_refused() { assert_absent(read_nvml(60s, "libm.so.6"), "nvmlInit_v2"); }

  // Waiting for the stand-in would take minutes (slow) or for ever (hang), so the upper bound need not be near the
  // limit.
  static void assert_given_up(const char *scenario) {
    const auto before = std::chrono::steady_clock::now();
    const NvmlReport report = read(scenario, "libnvidia-ml.so.1", 200ms);
    const auto took = std::chrono::steady_clock::now() - before;
    assert_absent(report, "no answer within 200 ms");
    CPPUNIT_ASSERT(took >= 200ms);
    CPPUNIT_ASSERT(took < 30s);
  }

  void a_hanging_driver_is_given_up_after_the_limit() { assert_given_up("hang"); }
  void a_slow_driver_is_given_up_after_the_limit() { assert_given_up("slow"); }

  void a_driver_that_was_given_up_does_not_disturb_the_next_reading() {
    assert_absent(read("hang", "libnvidia-ml.so.1", 50ms), "no answer");
    CPPUNIT_ASSERT_EQUAL(std::size_t(16), read("nvswitch16", "libnvidia-ml-old.so").gpus.size());
  }

  void the_callers_signal_mask_is_left_as_it_was() {
    sigset_t mask;
    read("no_devices");
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    CPPUNIT_ASSERT_EQUAL(0, sigismember(&mask, SIGTERM));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(NvmlTest);

} // namespace harmony
