// Our own CSV of jobs, and what holds for every format. The formats of others: read_traces_test.cpp.
#include "src/sim/input/read_jobs.h"

#include "tests/unit/sim_files.h"

namespace harmony {

using namespace fixtures;

class ReadJobsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ReadJobsTest);
  CPPUNIT_TEST(every_column_is_read);
  CPPUNIT_TEST(whatever_is_left_out_has_its_default);
  CPPUNIT_TEST(the_architecture_goes_by_ps_if_it_is_not_said);
  CPPUNIT_TEST(a_job_with_ps_needs_one_and_all_reduce_has_none);
  CPPUNIT_TEST(jobs_are_sorted_and_begin_at_0);
  CPPUNIT_TEST(jobs_without_a_number_come_behind_those_with_one);
  CPPUNIT_TEST(only_the_first_jobs_are_taken_if_that_is_asked);
  CPPUNIT_TEST(columns_that_are_not_known_are_named_once);
  CPPUNIT_TEST(many_columns_that_are_not_known_are_not_all_named);
  CPPUNIT_TEST(a_bad_row_is_refused_with_file_and_line);
  CPPUNIT_TEST(a_number_given_twice_is_refused);
  CPPUNIT_TEST(bad_rows_are_counted_if_that_is_asked);
  CPPUNIT_TEST(a_file_without_a_job_is_refused);
  CPPUNIT_TEST(a_format_that_is_not_known_is_refused);
  CPPUNIT_TEST(a_file_whose_format_cannot_be_told_is_refused);
  CPPUNIT_TEST_SUITE_END();

  Files files_;

  Workload read(const std::string &text, ReadJobs how = {}) const {
    return read_jobs(files_.write("jobs.csv", text), how);
  }
  std::string refused(const std::string &text, ReadJobs how = {}) const {
    return thrown([&] { read(text, how); }, files_.path());
  }
  // What is wrong with a job that has this value in this column.
  std::string refused(const std::string &column, const std::string &value) const {
    const std::string problem = refused(column + ",workers\n" + value + ",1\n");
    return problem.substr(0, 12) == "jobs.csv:2: " ? problem.substr(12) : "not on line 2: " + problem;
  }
  std::string note(const Workload &workload, std::size_t index) const {
    CPPUNIT_ASSERT(index < workload.notes.size());
    std::string text = workload.notes[index];
    for (std::size_t at; (at = text.find(files_.path() + "/")) != std::string::npos;)
      text.erase(at, files_.path().size() + 1);
    return text;
  }

  void every_column_is_read() {
    const Workload workload =
        read("job_id,submit_s,type,arch,workers,ps,gpus_per_worker,cpus_per_worker,cpus_per_ps,epochs,duration_s,"
             "time_limit_s,priority,user,gpu\n17,30.5,vgg16,ps,4,2,2,6,3,12.5,100,7200,50,1001,v100\n");
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv"), workload.name);
    CPPUNIT_ASSERT(workload.notes.empty());
    const SimJob &job = workload.jobs.at(0);
    CPPUNIT_ASSERT_EQUAL(17u, job.id);
    CPPUNIT_ASSERT_EQUAL(std::string("vgg16"), job.type);
    CPPUNIT_ASSERT_EQUAL(4, job.workers);
    CPPUNIT_ASSERT_EQUAL(2, job.ps);
    CPPUNIT_ASSERT_EQUAL(8, job.gpus());
    CPPUNIT_ASSERT_EQUAL(6, job.cpus_per_worker);
    CPPUNIT_ASSERT_EQUAL(3, job.cpus_per_ps);
    CPPUNIT_ASSERT_EQUAL(12.5, job.epochs);
    CPPUNIT_ASSERT_EQUAL(100.0, job.duration_s);
    CPPUNIT_ASSERT_EQUAL(7200.0, job.time_limit_s);
    CPPUNIT_ASSERT_EQUAL(50.0, job.priority);
    CPPUNIT_ASSERT_EQUAL(1001u, job.user);
    CPPUNIT_ASSERT_EQUAL(std::string("v100"), job.gpu);
  }

  void whatever_is_left_out_has_its_default() {
    for (const char *text : {"workers\n1\n", "job_id,workers,type,ps,epochs\n,1,,,\n"}) {
      const SimJob job = read(text).jobs.at(0);
      CPPUNIT_ASSERT_EQUAL(1u, job.id);
      CPPUNIT_ASSERT_EQUAL(0.0, job.submit_s);
      CPPUNIT_ASSERT_EQUAL(std::string("unknown"), job.type);
      CPPUNIT_ASSERT_EQUAL(0, job.ps);
      CPPUNIT_ASSERT_EQUAL(1, job.gpus());
      CPPUNIT_ASSERT_EQUAL(1, job.cpus_per_worker);
      CPPUNIT_ASSERT_EQUAL(0.0, job.epochs);
      CPPUNIT_ASSERT_EQUAL(3600.0, job.duration_s);
      CPPUNIT_ASSERT_EQUAL(0.0, job.time_limit_s);
      CPPUNIT_ASSERT(job.gpu.empty());
    }
    const SimJob job = read("job_id,cpus_per_worker\n0,5\n").jobs.at(0);
    CPPUNIT_ASSERT_EQUAL(0u, job.id);
    CPPUNIT_ASSERT_EQUAL(5, job.cpus_per_ps);
  }

  void the_architecture_goes_by_ps_if_it_is_not_said() {
    CPPUNIT_ASSERT_EQUAL(3, read("workers,ps\n4,3\n").jobs.at(0).ps);
    CPPUNIT_ASSERT_EQUAL(0, read("workers,ps\n4,0\n").jobs.at(0).ps);
    CPPUNIT_ASSERT_EQUAL(1, read("workers,arch\n4,ps\n").jobs.at(0).ps);
    CPPUNIT_ASSERT_EQUAL(0, read("workers,arch\n4,allreduce\n").jobs.at(0).ps);
  }

  void a_job_with_ps_needs_one_and_all_reduce_has_none() {
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv:2: ps is 0, but arch is ps: that needs 1 at least"),
                         refused("arch,ps\nps,0\n"));
    const Workload workload = read("arch,ps\nallreduce,2\nallreduce,0\nps,2\n");
    CPPUNIT_ASSERT_EQUAL(0, workload.jobs.at(0).ps);
    CPPUNIT_ASSERT_EQUAL(2, workload.jobs.at(2).ps);
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv: ps is taken for 0 in 1 row with arch allreduce"), note(workload, 0));
  }

  void jobs_are_sorted_and_begin_at_0() {
    const Workload workload = read("job_id,submit_s\n5,100\n4,50.5\n9,-10\n3,50.5\n");
    std::string order;
    for (const SimJob &job : workload.jobs) order += std::to_string(job.id) + " ";
    CPPUNIT_ASSERT_EQUAL(std::string("9 3 4 5 "), order);
    CPPUNIT_ASSERT_EQUAL(0.0, workload.jobs.at(0).submit_s);
    CPPUNIT_ASSERT_EQUAL(60.5, workload.jobs.at(1).submit_s);
    CPPUNIT_ASSERT_EQUAL(110.0, workload.jobs.at(3).submit_s);
  }

  void jobs_without_a_number_come_behind_those_with_one() {
    const Workload workload = read("job_id,submit_s\n,3\n7,2\n,1\n");
    CPPUNIT_ASSERT_EQUAL(9u, workload.jobs.at(0).id);
    CPPUNIT_ASSERT_EQUAL(7u, workload.jobs.at(1).id);
    CPPUNIT_ASSERT_EQUAL(8u, workload.jobs.at(2).id);
  }

  void only_the_first_jobs_are_taken_if_that_is_asked() {
    ReadJobs how;
    how.most_jobs = 2;
    const Workload workload = read("job_id,submit_s\n1,30\n2,20\n3,10\n", how);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, workload.jobs.size());
    CPPUNIT_ASSERT_EQUAL(3u, workload.jobs.at(0).id);
    CPPUNIT_ASSERT_EQUAL(2u, workload.jobs.at(1).id);
  }

  void columns_that_are_not_known_are_named_once() {
    const Workload workload = read("job_id,colour,shape\n1,red,round\n2,blue,square\n");
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, workload.notes.size());
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv: ignored what is not known: colour, shape"), note(workload, 0));
  }

  void many_columns_that_are_not_known_are_not_all_named() {
    std::string header = "job_id", row = "1";
    for (int i = 0; i < 50; ++i) {
      header += ",x" + std::to_string(i);
      row += ",";
    }
    const std::string text = note(read(header + "\n" + row + "\n"), 0);
    CPPUNIT_ASSERT(text.find("x19 and 30 more") != std::string::npos);
    CPPUNIT_ASSERT(text.find("x20") == std::string::npos);
  }

  void a_bad_row_is_refused_with_file_and_line() {
    CPPUNIT_ASSERT_EQUAL(std::string("workers is \"0\", not a whole number from 1 to 65536"),
                         refused("user,workers\n1,0\n").substr(12));
    CPPUNIT_ASSERT_EQUAL(std::string("arch is \"ring\", not ps or allreduce"), refused("arch", "ring"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("type is \"VGG\", not 1 to 32 of a-z, 0-9, '_', '.' and '-', the first a letter or "
                    "a digit"),
        refused("type", "VGG"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("gpu is \"A 100\", not the name of a GPU model: 1 to 48 of a-z, 0-9, '_', '.', '+' "
                    "and '-'"),
        refused("gpu", "A 100"));
    CPPUNIT_ASSERT_EQUAL(std::string("ps is \"1025\", not a whole number from 0 to 1024"), refused("ps", "1025"));
    CPPUNIT_ASSERT_EQUAL(std::string("submit_s is \"soon\", not a number from -10000000000 to 10000000000"),
                         refused("submit_s", "soon"));
    CPPUNIT_ASSERT_EQUAL(std::string("the job has no work: neither epochs nor duration_s is above 0"),
                         refused("epochs", "0"));
    for (const char *column : {"job_id", "ps", "gpus_per_worker", "cpus_per_worker", "cpus_per_ps", "epochs",
                               "duration_s", "time_limit_s", "priority", "user"})
      for (const char *value : {"-1", "x", "nan", "1e40"}) {
        const std::string problem = refused(column, value);
        CPPUNIT_ASSERT_EQUAL(std::string(column) + " is \"" + value + "\", not a ",
                             problem.substr(0, std::string(column).size() + std::string(value).size() + 14));
      }
    for (const char *column : {"gpus_per_worker", "cpus_per_worker", "cpus_per_ps"})
      CPPUNIT_ASSERT(refused(column, "0").find(" from 1 to ") != std::string::npos);
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv:4: the line has 1 field, the header 2"),
                         refused("job_id,workers\n1,1\n\n2\n"));
  }

  void a_number_given_twice_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv:3: job_id is 7, which an earlier line has already"),
                         refused("job_id\n7\n7\n"));
  }

  void bad_rows_are_counted_if_that_is_asked() {
    ReadJobs how;
    how.skip_bad = true;
    const std::string text = "job_id,workers\n1,1\n2,x\n3\n4,2\n4,2\n";
    const Workload workload = read(text, how);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, workload.jobs.size());
    CPPUNIT_ASSERT_EQUAL(
        std::string("3 rows skipped, the first at jobs.csv:3: workers is \"x\", not a whole number from "
                    "1 to 65536"),
        note(workload, 0));
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv:3: workers is \"x\", not a whole number from 1 to 65536"),
                         refused(text));
  }

  void a_file_without_a_job_is_refused() {
    ReadJobs how;
    how.skip_bad = true;
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv: has no jobs: the file is empty"), refused(""));
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv: has no jobs"), refused("job_id,workers\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv: has no jobs; 1 row skipped, the first at jobs.csv:2: the line has 1 "
                                     "field, the header 2"),
                         refused("job_id,workers\n1\n", how));
  }

  void a_format_that_is_not_known_is_refused() {
    ReadJobs how;
    how.format = "xml";
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv: \"xml\" is no format of jobs; they are auto, csv, swf, sacct, philly, "
                                     "pollux, muri, gavel"),
                         refused("job_id\n1\n", how));
  }

  void a_file_whose_format_cannot_be_told_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("jobs.csv:2: this line does not tell the format of the jobs; name it: csv, swf, "
                                     "sacct, philly, pollux, muri, gavel"),
                         refused("\ncolour,shape\n1,2\n"));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ReadJobsTest);

} // namespace harmony
