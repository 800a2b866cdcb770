// The published traces, read whole where they are at hand, to known numbers of jobs and sums.
#include "src/sim/input/read_jobs.h"

#include "tests/unit/sim_files.h"

#include <chrono>

namespace harmony {

using namespace fixtures;

class PublishedTracesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PublishedTracesTest);
  CPPUNIT_TEST(the_whole_philly_trace_is_read_quickly);
  CPPUNIT_TEST(every_workload_of_pollux_has_as_many_jobs_as_its_load_says);
  CPPUNIT_TEST(the_published_workloads_have_their_jobs);
  CPPUNIT_TEST_SUITE_END();

  static double gpu_seconds(const Workload &workload) {
    double sum = 0;
    for (const SimJob &job : workload.jobs) sum += job.duration_s * job.gpus();
    return sum;
  }
  static int gpus(const Workload &workload) {
    int sum = 0;
    for (const SimJob &job : workload.jobs) sum += job.gpus();
    return sum;
  }

  void the_whole_philly_trace_is_read_quickly() {
    const std::string path = published("pollux/traces/philly.csv");
    if (path.empty()) return;
    const auto begin = std::chrono::steady_clock::now();
    const Workload workload = read_jobs(path, {});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    CPPUNIT_ASSERT_EQUAL(std::size_t{82247}, workload.jobs.size());
    CPPUNIT_ASSERT_EQUAL(3521082502.0, gpu_seconds(workload));
    CPPUNIT_ASSERT_EQUAL(9408690.0, workload.jobs.back().submit_s); // 2017-09-04 10:30:41 to 2017-12-22 08:02:11
    CPPUNIT_ASSERT(workload.notes.empty());
    CPPUNIT_ASSERT(took.count() < 5); // 0.1 s; sanitizers and busy machines may take longer
  }

  void every_workload_of_pollux_has_as_many_jobs_as_its_load_says() {
    struct Expected {
      const char *folder;
      std::size_t jobs;
    };
    for (const Expected &expected :
         {Expected{"workloads", 160}, Expected{"workloads-realistic", 160}, Expected{"workloads-0.5", 80},
          Expected{"workloads-1.5", 240}, Expected{"workloads-2.0", 320}})
      for (int i = 1; i <= 8; ++i) {
        const std::string path =
            published(std::string("pollux/") + expected.folder + "/workload-" + std::to_string(i) + ".csv");
        if (path.empty()) return;
        CPPUNIT_ASSERT_EQUAL_MESSAGE(path, expected.jobs, read_jobs(path, {}).jobs.size());
      }
  }

  void the_published_workloads_have_their_jobs() {
    struct Expected {
      const char *path;
      std::size_t jobs;
      int gpus;
      double gpu_seconds; // 0: not known from elsewhere
    };
    for (const Expected &expected : {Expected{"pollux/workloads/workload-1.csv", 160, 1092, 0},
                                     Expected{"pollux/workloads/workload-2.csv", 160, 1077, 0},
                                     Expected{"pollux/workloads/workload-3.csv", 160, 921, 0},
                                     Expected{"pollux/workloads/workload-4.csv", 160, 1043, 0},
                                     Expected{"pollux/workloads/workload-5.csv", 160, 1032, 0},
                                     Expected{"pollux/workloads/workload-6.csv", 160, 1134, 0},
                                     Expected{"pollux/workloads/workload-7.csv", 160, 1151, 0},
                                     Expected{"pollux/workloads/workload-8.csv", 160, 1187, 0},
                                     Expected{"pollux/workloads-realistic/workload-1.csv", 160, 218, 0},
                                     Expected{"pollux/workloads-0.5/workload-1.csv", 80, 546, 0},
                                     Expected{"pollux/workloads-1.5/workload-1.csv", 240, 1616, 0},
                                     Expected{"pollux/workloads-2.0/workload-1.csv", 320, 2225, 0},
                                     Expected{"muri/cluster_trace.csv", 400, 0, 220836929},
                                     Expected{"muri/trace-data/trace1.csv", 1494, 0, 1379976364},
                                     Expected{"muri/trace-data/trace2.csv", 5755, 0, 2966695253},
                                     Expected{"muri/trace-data/trace3.csv", 992, 0, 420084355},
                                     Expected{"muri/trace-data/trace4.csv", 2638, 0, 737647571},
                                     Expected{"tiresias/60_job.csv", 60, 0, 26624},
                                     Expected{"elasticflow/philly_103959.csv", 876, 0, 154137879},
                                     Expected{"gavel/traces/artifact_evaluation.trace", 15, 18, 21421.5},
                                     Expected{"gavel/traces/e13805.trace", 607, 2875, 94387321},
                                     Expected{"gavel/traces/ed69ec.trace", 951, 951, 108837533},
                                     Expected{"gavel/traces/max_min_fairness.trace", 96, 169, 1413455},
                                     Expected{"gavel/traces/minimize_makespan.trace", 100, 175, 2164393}}) {
      const std::string path = published(expected.path);
      if (path.empty()) return;
      const Workload workload = read_jobs(path, {});
      CPPUNIT_ASSERT_EQUAL_MESSAGE(path, expected.jobs, workload.jobs.size());
      if (expected.gpus > 0) CPPUNIT_ASSERT_EQUAL_MESSAGE(path, expected.gpus, gpus(workload));
      if (expected.gpu_seconds > 0) // Gavel's speeds are rounded to four digits
        CPPUNIT_ASSERT_DOUBLES_EQUAL_MESSAGE(path, expected.gpu_seconds, gpu_seconds(workload),
                                             path.find("gavel") == std::string::npos ? 1 : expected.gpu_seconds / 5000);
      CPPUNIT_ASSERT_MESSAGE(path, workload.notes.empty());
    }
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(PublishedTracesTest);

} // namespace harmony
