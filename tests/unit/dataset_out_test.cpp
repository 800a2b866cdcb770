#include "src/record/dataset_reader.h"
#include "src/sim/dataset_out.h"
#include "src/sim/truth/undisturbed.h"
#include "tests/unit/sim_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace harmony {

using namespace fixtures;

class DatasetOutTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DatasetOutTest);
  CPPUNIT_TEST(intervals_come_back_as_they_were_and_add_up);
  CPPUNIT_TEST(the_terms_of_an_interval_are_of_its_neighbours);
  CPPUNIT_TEST(a_neighbour_that_does_no_harm_is_seen_too);
  CPPUNIT_TEST(what_is_no_record_is_refused_with_file_and_line);
  CPPUNIT_TEST_SUITE_END();

public:
  void setUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "harmony-dataset-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  void tearDown() override { std::filesystem::remove_all(directory_); }

private:
  void intervals_come_back_as_they_were_and_add_up() {
    SimRun run;
    run.cluster = sim_cluster(3, "pcie8");
    run.workload = random_jobs(60, 4);
    DatasetOut dataset(directory_ + "/new", "servers/6", "pack");
    run.run(&dataset);
    dataset.close();
    std::map<std::uint32_t, double> epochs;
    for (const IntervalRecord &record : read_intervals(directory_ + "/new")) {
      epochs[record.id.job] += *record.epochs;
      CPPUNIT_ASSERT(record.end_s > record.begin_s);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(*record.epochs, *record.relative_speed * (record.end_s - record.begin_s),
                                   1e-6 * (1 + *record.epochs)); // an epoch a second at best
    }
    CPPUNIT_ASSERT_EQUAL(run.workload.jobs.size(), epochs.size());
    for (const SimJob &job : run.workload.jobs)
      CPPUNIT_ASSERT_DOUBLES_EQUAL(job.epochs, epochs[job.id], 1e-6 * job.epochs);
  }

  void the_terms_of_an_interval_are_of_its_neighbours() {
    SimRun run;
    run.cluster = sim_cluster(1, "servers6");
    run.workload.jobs = {sim_job(1, 0, 1, 100), sim_job(2, 50, 1, 100)};
    DatasetOut dataset(directory_, "a", "pack");
    run.run(&dataset);
    dataset.close();
    const std::vector<IntervalRecord> records = read_intervals(directory_);
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, records.size()); // each alone for a while, and beside the other
    CPPUNIT_ASSERT_EQUAL(0.0, records[0].terms.same_domain);
    CPPUNIT_ASSERT_EQUAL(1.0, records[1].terms.same_domain);
    CPPUNIT_ASSERT_EQUAL(0.5, records[1].relative_speed.value());
  }

  void a_neighbour_that_does_no_harm_is_seen_too() {
    SimRun run;
    run.cluster = sim_cluster(1, "servers6");
    run.workload.jobs = {sim_job(1, 0, 1, 100), sim_job(2, 20, 1, 30)};
    const Undisturbed truth;
    BestPlace best(run.cluster, run.types, truth);
    const auto pack = make_policy("pack");
    DatasetOut dataset(directory_, "a", "pack");
    simulate({run.cluster, run.types, run.workload, truth, best}, rounds_of(*pack, run.options.settings), run.options,
             &dataset);
    dataset.close();
    std::vector<double> met; // by the first job, one interval after another
    for (const IntervalRecord &record : read_intervals(directory_))
      if (record.id.job == 1) met.push_back(record.terms.same_domain);
    CPPUNIT_ASSERT(met == (std::vector<double>{0, 1, 0}));
  }

  void what_is_no_record_is_refused_with_file_and_line() {
    const auto problem = [&](const std::string &line) {
      std::ofstream(directory_ + "/a.jsonl")
          << R"({"schema":1,"record":"end","job":1,"type":"vgg16","state":"COMPLETED","end_s":9,"elapsed_s":5,"epochs":2})"
          << "\n"
          << line << "\n";
      try {
        read_intervals(directory_);
      } catch (const std::runtime_error &wrong) {
        return std::string(wrong.what());
      }
      return std::string("read");
    };
    CPPUNIT_ASSERT_EQUAL(std::string("read"), problem(R"({"schema":2,"record":"gap","lost":1,"at_s":3})"));
    CPPUNIT_ASSERT_EQUAL(directory_ + "/a.jsonl:2: no JSON object", problem("[1"));
    CPPUNIT_ASSERT_EQUAL(directory_ + "/a.jsonl:2: job is no whole number from 0 to 4294967295",
                         problem(R"({"schema":1,"record":"interval","job":-1})"));
    CPPUNIT_ASSERT_THROW(read_intervals(directory_ + "/nowhere"), std::runtime_error);
  }

  std::string directory_;
};

CPPUNIT_TEST_SUITE_REGISTRATION(DatasetOutTest);

} // namespace harmony
