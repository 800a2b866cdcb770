// Jobs in the formats of others. The published traces themselves: published_traces_test.cpp.
#include "src/sim/input/read_jobs.h"

#include "tests/unit/sim_files.h"

#include <map>

namespace harmony {

using namespace fixtures;

class ReadTracesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ReadTracesTest);
  CPPUNIT_TEST(a_processor_of_swf_is_a_worker_with_a_gpu);
  CPPUNIT_TEST(jobs_of_swf_that_did_not_run_are_left_out);
  CPPUNIT_TEST(bad_lines_of_swf_are_refused);
  CPPUNIT_TEST(jobs_of_sacct_are_read);
  CPPUNIT_TEST(sacct_shows_our_options_in_the_line_that_submitted_the_job);
  CPPUNIT_TEST(sacct_lists_steps_array_tasks_and_requeued_jobs);
  CPPUNIT_TEST(jobs_of_sacct_that_are_no_work_for_gpus_are_left_out);
  CPPUNIT_TEST(durations_of_sacct_come_from_whatever_column_is_there);
  CPPUNIT_TEST(bad_lines_of_sacct_are_refused);
  CPPUNIT_TEST(jobs_of_philly_are_read);
  CPPUNIT_TEST(bad_lines_of_philly_are_refused);
  CPPUNIT_TEST(jobs_of_pollux_are_read);
  CPPUNIT_TEST(bad_lines_of_pollux_are_refused);
  CPPUNIT_TEST(jobs_of_muri_are_in_milliseconds_and_those_of_tiresias_in_seconds);
  CPPUNIT_TEST(bad_lines_of_muri_are_refused);
  CPPUNIT_TEST(jobs_of_gavel_are_read_in_both_forms);
  CPPUNIT_TEST(bad_lines_of_gavel_are_refused);
  CPPUNIT_TEST(every_format_skips_bad_lines_if_that_is_asked);
  CPPUNIT_TEST(types_are_made_up_by_the_seed);
  CPPUNIT_TEST_SUITE_END();

  Files files_;

  Workload read(const std::string &text, ReadJobs how = {}) const {
    return read_jobs(files_.write("trace", text), how);
  }
  std::string refused(const std::string &text) const {
    return thrown([&] { read(text); }, files_.path());
  }
  static bool ends_with(const std::string &text, const std::string &end) {
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
  }

  void a_processor_of_swf_is_a_worker_with_a_gpu() {
    const Workload workload = read("; Version: 2\n;\n 1 100 5 3600 8 -1 -1 16 7200 -1 1 12 3 -1 -1 -1 -1 -1\n"
                                   "2\t160\t-1\t60\t-1\t-1\t-1\t4\t-1\t-1\t1\t-1\t3\t-1\t-1\t-1\t-1\t-1\n");
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, workload.jobs.size());
    const SimJob &first = workload.jobs[0], &second = workload.jobs[1];
    CPPUNIT_ASSERT_EQUAL(8, first.workers);
    CPPUNIT_ASSERT_EQUAL(8, first.gpus());
    CPPUNIT_ASSERT_EQUAL(3600.0, first.duration_s);
    CPPUNIT_ASSERT_EQUAL(7200.0, first.time_limit_s);
    CPPUNIT_ASSERT_EQUAL(12u, first.user);
    CPPUNIT_ASSERT_EQUAL(60.0, second.submit_s);
    CPPUNIT_ASSERT_EQUAL(4, second.workers);
    CPPUNIT_ASSERT_EQUAL(0.0, second.time_limit_s);
  }

  void jobs_of_swf_that_did_not_run_are_left_out() {
    const std::string rest = " -1 -1 -1 -1 -1 5 1 1 1 1 1 -1 -1\n";
    const Workload workload = read("1 0 1 10 4" + rest + "2 0 1 0 4" + rest + "3 0 1 10 -1" + rest);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, workload.jobs.size());
    CPPUNIT_ASSERT(ends_with(workload.notes.at(0), "trace: 2 jobs left out: never ran"));
  }

  void bad_lines_of_swf_are_refused() {
    const std::string rest = " -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1\n", good = ";\n1 0 1 10 4" + rest;
    CPPUNIT_ASSERT_EQUAL(std::string("trace:3: the line has 4 numbers, not 18"), refused(good + "2 0 1 10\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:3: the line has 19 numbers, not 18"),
                         refused(good + "7 2 0 1 10 4" + rest));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:3: field 4 (run time) is \"x\", not a number from -1 to 10000000000"),
                         refused(good + "2 0 1 x 4" + rest));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:3: field 5 (processors) is \"70000\", not a whole number from -1 to 65536"),
                         refused(good + "2 0 1 9 70000" + rest));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:3: job number 1 is that of an earlier line already"),
                         refused(good + "1 0 1 10 4" + rest));
    CPPUNIT_ASSERT_EQUAL(std::string("trace: has no jobs"), refused("; nothing\n"));
  }

  static std::string sacct(const std::string &rows) {
    return "JobID|Submit|ElapsedRaw|AllocTRES|ReqTRES|TimelimitRaw|Priority|UID|State|Account|SubmitLine\n" + rows;
  }

  void jobs_of_sacct_are_read() {
    const Workload workload = read(
        sacct("17|2026-02-28T23:59:50|3600|billing=16,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|"
              "billing=16,cpu=16,gres/gpu:a100=4,mem=64G,node=1|120|4321|1001|COMPLETED|lab|sbatch job.sh\n"
              "18|2026-03-01T00:00:10|60|cpu=1,gres/gpu:a100=2,gres/gpu:v100=1||UNLIMITED|1|0|CANCELLED by 0||\n"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, workload.jobs.size());
    const SimJob &first = workload.jobs[0], &second = workload.jobs[1];
    CPPUNIT_ASSERT_EQUAL(17u, first.id);
    CPPUNIT_ASSERT_EQUAL(4, first.workers);
    CPPUNIT_ASSERT_EQUAL(4, first.cpus_per_worker);
    CPPUNIT_ASSERT_EQUAL(std::string("a100"), first.gpu);
    CPPUNIT_ASSERT_EQUAL(std::string("unknown"), first.type);
    CPPUNIT_ASSERT_EQUAL(0, first.ps);
    CPPUNIT_ASSERT_EQUAL(3600.0, first.duration_s);
    CPPUNIT_ASSERT_EQUAL(7200.0, first.time_limit_s);
    CPPUNIT_ASSERT_EQUAL(4321.0, first.priority);
    CPPUNIT_ASSERT_EQUAL(1001u, first.user);
    CPPUNIT_ASSERT_EQUAL(20.0, second.submit_s);
    CPPUNIT_ASSERT_EQUAL(3, second.workers);
    CPPUNIT_ASSERT_EQUAL(1, second.cpus_per_worker);
    CPPUNIT_ASSERT_EQUAL(std::string(), second.gpu);
    CPPUNIT_ASSERT(ends_with(workload.notes.at(0), "trace: ignored what is not known: Account"));
  }

  void sacct_shows_our_options_in_the_line_that_submitted_the_job() {
    const std::string row = "|2026-03-01T00:00:00|60|cpu=20,gres/gpu=4||1|1|0|COMPLETED||";
    const Workload workload = read(sacct("1" + row + "sbatch -n 5 --harmony-type=vgg16 --harmony-ps=1 a.sh\n2" + row +
                                         "sbatch --harmony-type=$(rm) --harmony-ps=-1 a.sh\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("vgg16"), workload.jobs[0].type);
    CPPUNIT_ASSERT_EQUAL(1, workload.jobs[0].ps);
    CPPUNIT_ASSERT_EQUAL(4, workload.jobs[0].cpus_per_worker);
    CPPUNIT_ASSERT_EQUAL(std::string("unknown"), workload.jobs[1].type);
    CPPUNIT_ASSERT_EQUAL(0, workload.jobs[1].ps);
  }

  void sacct_lists_steps_array_tasks_and_requeued_jobs() {
    const std::string row = "|2026-03-01T00:00:00|60|cpu=20,gres/gpu=4||1|1|0|COMPLETED||\n";
    const Workload workload =
        read(sacct("17" + row + "17.batch" + row + "17.0" + row + "18_3" + row + "17" + row + "20+1" + row));
    std::string ids;
    for (const SimJob &job : workload.jobs) ids += std::to_string(job.id) + " ";
    CPPUNIT_ASSERT_EQUAL(std::string("17 18 19 20 "), ids);
  }

  void jobs_of_sacct_that_are_no_work_for_gpus_are_left_out() {
    const std::string when = "|2026-03-01T00:00:00|";
    const Workload workload =
        read(sacct("1" + when + "60|cpu=20,gres/gpu=4||1|1|0|TIMEOUT||\n2" + when +
                   "60|cpu=20,mem=4G||1|1|0|COMPLETED||\n3" + when + "0||gres/gpu=1|1|1|0|PENDING||\n4" + when +
                   "60|gres/gpu=2||1|1|0|RUNNING||\n5" + when + "60|||1|1|0|FAILED||\n"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, workload.jobs.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, workload.notes.size());
    CPPUNIT_ASSERT(ends_with(workload.notes[1], "trace: 1 job left out: never ran"));
    CPPUNIT_ASSERT(ends_with(workload.notes[2], "trace: 2 jobs left out: no GPUs"));
    CPPUNIT_ASSERT(ends_with(workload.notes[3], "trace: 1 job left out: still running"));
  }

  void durations_of_sacct_come_from_whatever_column_is_there() {
    const auto seconds = [&](const std::string &columns, const std::string &values) {
      return read("JobID|Submit|AllocTRES|" + columns + "\n1|2026-03-01T00:00:00|gres/gpu=1|" + values + "\n")
          .jobs.at(0)
          .duration_s;
    };
    CPPUNIT_ASSERT_EQUAL(3723.0, seconds("Elapsed", "01:02:03"));
    CPPUNIT_ASSERT_EQUAL(90123.0, seconds("Elapsed", "1-01:02:03"));
    CPPUNIT_ASSERT_EQUAL(62.5, seconds("Elapsed", "01:02.500"));
    CPPUNIT_ASSERT_EQUAL(86401.0, seconds("Start|End", "2024-02-28T23:59:59|2024-03-01T00:00:00"));
    CPPUNIT_ASSERT_EQUAL(5.0, seconds("ElapsedRaw|Elapsed", "5|01:02:03"));
  }

  void bad_lines_of_sacct_are_refused() {
    CPPUNIT_ASSERT_EQUAL(
        std::string("trace:1: the header has neither a column AllocTRES nor ReqTRES: there is no telling "
                    "which jobs had GPUs"),
        refused("JobID|Submit|Elapsed\n"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("trace:1: the header has neither a column ElapsedRaw nor Elapsed, nor both Start and "
                    "End"),
        refused("JobID|Submit|AllocTRES|Start\n"));
    const auto with = [&](const std::string &id, const std::string &submit, const std::string &elapsed,
                          const std::string &tres, const std::string &limit) {
      return refused("JobID|Submit|Elapsed|AllocTRES|Timelimit\n" + id + "|" + submit + "|" + elapsed + "|" + tres +
                     "|" + limit + "\n");
    };
    const std::string day = "2026-03-01T00:00:00", gpu = "gres/gpu=1";
    CPPUNIT_ASSERT_EQUAL(std::string(), with("1", day, "00:01:00", gpu, "Partition_Limit"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: JobID is \"x\", not the number of a job"),
                         with("x", day, "00:01:00", gpu, ""));
    for (const char *submit : {"", "Unknown", "2026-02-29T00:00:00", "2026-13-01T00:00:00", "2026-03-01T24:00:00",
                               "2026-03-01", "2026-03-01T00:00:0x"})
      CPPUNIT_ASSERT_EQUAL(std::string("trace:2: Submit is \"") + submit + "\", not of the form 2026-11-16T07:26:11",
                           with("1", submit, "00:01:00", gpu, ""));
    for (const char *elapsed : {"60", "x", "1-2", "1:2:3:4", "-1:00", ":", "1-00:00"})
      CPPUNIT_ASSERT_EQUAL(std::string("trace:2: Elapsed is \"") + elapsed +
                               "\", not of the form [days-]hours:minutes:seconds",
                           with("1", day, elapsed, gpu, ""));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: AllocTRES has \"gres/gpu=x\", not a whole number from 0 to 65536"),
                         with("1", day, "00:01:00", "cpu=1,gres/gpu=x", ""));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: Timelimit is \"7\", not of the form [days-]hours:minutes:seconds"),
                         with("1", day, "00:01:00", gpu, "7"));
  }

  void jobs_of_philly_are_read() {
    const Workload workload = read("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n"
                                   "2017-10-08 07:01:55,100,16,1600,b\n2017-10-10 07:01:55,100,0,0,b\n\n");
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, workload.jobs.size());
    CPPUNIT_ASSERT_EQUAL(2u, workload.jobs[0].id);
    CPPUNIT_ASSERT_EQUAL(16, workload.jobs[0].workers);
    CPPUNIT_ASSERT(workload.jobs[0].ps == 0 || workload.jobs[0].ps == 4);
    CPPUNIT_ASSERT_EQUAL(86400.0, workload.jobs[1].submit_s);
    CPPUNIT_ASSERT_EQUAL(66.0, workload.jobs[1].duration_s);
    CPPUNIT_ASSERT_EQUAL(0, workload.jobs[1].ps);
    CPPUNIT_ASSERT(ends_with(workload.notes.at(0), "trace: 1 job left out: no GPUs"));
  }

  void bad_lines_of_philly_are_refused() {
    const std::string header = "timestamp,duration,num_gpus\n";
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: timestamp is \"yesterday\", not of the form 2017-10-09 07:01:55"),
                         refused(header + "yesterday,1,1\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: duration is \"-1\", not a number from 0 to 10000000000"),
                         refused(header + "2017-10-09 07:01:55,-1,1\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: num_gpus is \"1.5\", not a whole number from 0 to 65536"),
                         refused(header + "2017-10-09 07:01:55,1,1.5\n"));
  }

  // As long as Pollux says of the four classes of its jobs: up to 1, 10, 100 and 1,000 GPU hours.
  void jobs_of_pollux_are_read() {
    const Workload workload = read("name,time,application,num_replicas,batch_size\ncifar10-0,107,cifar10,6,2048\n"
                                   "b,110,bert,12,384\nc,120,yolov3,4,64\nd,130,imagenet,32,6400\n");
    const auto hours = [&](std::size_t i) {
      return workload.jobs.at(i).duration_s * workload.jobs.at(i).gpus() / 3600;
    };
    CPPUNIT_ASSERT_EQUAL(std::string("resnet18"), workload.jobs[0].type);
    CPPUNIT_ASSERT_EQUAL(6, workload.jobs[0].gpus());
    CPPUNIT_ASSERT_EQUAL(0, workload.jobs[0].ps);
    CPPUNIT_ASSERT_EQUAL(3.0, workload.jobs[1].submit_s);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1.35, hours(0), 0.1);
    CPPUNIT_ASSERT(hours(1) > 1 && hours(1) < 10);
    CPPUNIT_ASSERT(hours(2) > 10 && hours(2) < 100);
    CPPUNIT_ASSERT(hours(3) > 100 && hours(3) < 1000);
  }

  void bad_lines_of_pollux_are_refused() {
    const std::string header = "name,time,application,num_replicas,batch_size\n";
    CPPUNIT_ASSERT_EQUAL(
        std::string("trace:2: application is \"chess\", not one of bert, cifar10, deepspeech2, imagenet, "
                    "ncf, yolov3"),
        refused(header + "a,1,chess,1,1\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: the line has no time"), refused(header + "a,,bert,1,1\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: num_replicas is \"0\", not a whole number from 1 to 65536"),
                         refused(header + "a,1,bert,0,1\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: batch_size is \"0\", not a number from 1 to 1000000000"),
                         refused(header + "a,1,bert,1,0\n"));
  }

  void jobs_of_muri_are_in_milliseconds_and_those_of_tiresias_in_seconds() {
    const Workload muri = read("job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time,priority\n"
                               "0,8,0,9,gpt2,5095000,437,0\n1,2,1500,9,a2c,281000,214,1\n");
    CPPUNIT_ASSERT_EQUAL(0u, muri.jobs[0].id);
    CPPUNIT_ASSERT_EQUAL(8, muri.jobs[0].gpus());
    CPPUNIT_ASSERT_EQUAL(5095.0, muri.jobs[0].duration_s);
    CPPUNIT_ASSERT_EQUAL(std::string("dqn"), muri.jobs[1].type);
    CPPUNIT_ASSERT_EQUAL(1.5, muri.jobs[1].submit_s);
    CPPUNIT_ASSERT_EQUAL(1.0, muri.jobs[1].priority);
    const Workload tiresias = read("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
                                   "0,1,0,606,vgg19,164,30\n");
    CPPUNIT_ASSERT_EQUAL(164.0, tiresias.jobs[0].duration_s);
    CPPUNIT_ASSERT(tiresias.notes.empty());
  }

  void bad_lines_of_muri_are_refused() {
    const std::string header = "job_id,num_gpu,submit_time,model_name,duration\n";
    CPPUNIT_ASSERT_EQUAL(std::string("trace:3: job_id is 0, which an earlier line has already"),
                         refused(header + "0,1,0,vgg16,5\n0,1,0,vgg16,5\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: the line has no job_id"), refused(header + ",1,0,vgg16,5\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: the line has no submit_time"), refused(header + "0,1,,vgg16,5\n"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("trace:2: model_name is \"VGG 16\", not 1 to 32 of a-z, 0-9, '_', '.' and '-', the "
                    "first a letter or a digit"),
        refused(header + "0,1,0,VGG 16,5\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: num_gpu is \"x\", not a whole number from 0 to 65536"),
                         refused(header + "0,x,0,vgg16,5\n"));
  }

  void jobs_of_gavel_are_read_in_both_forms() {
    const Workload workload =
        read("ResNet-18 (batch size 128)\tpython3 x | y, z\tdir\t--num_steps\t1\t1799\t1\t1\t-1.000000\t10\n"
             "Transformer (batch size 128)\tcd %s\t-step\t1\t3088\t20.000000\t8\n"
             "A3C\tcd %s\t-step\t1\t7176\t30.5\t12\n");
    CPPUNIT_ASSERT_EQUAL(std::string("resnet18"), workload.jobs[0].type);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(100.0, workload.jobs[0].duration_s, 1e-9);
    CPPUNIT_ASSERT_EQUAL(8, workload.jobs[1].gpus());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(100.0, workload.jobs[1].duration_s, 1e-9);
    CPPUNIT_ASSERT_EQUAL(20.5, workload.jobs[2].submit_s);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1000.0 / 12, workload.jobs[2].duration_s, 1e-9);
  }

  void bad_lines_of_gavel_are_refused() {
    const std::string good = "A3C\tcd\t-step\t1\t7176\t30.5\t12\n";
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: the line has 3 fields, not 7 or 10"), refused(good + "A3C\t1\t2\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: \"A4C\" is no job type of Gavel's"),
                         refused(good + "A4C\tcd\t-step\t1\t7176\t30.5\t12\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: field 5 (steps) is \"0\", not a number from 1 to 1000000000000000"),
                         refused(good + "A3C\tcd\t-step\t1\t0\t30.5\t12\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: field 6 (arrival) is \"-1\", not a number from 0 to 10000000000"),
                         refused(good + "A3C\tcd\t-step\t1\t1\t-1\t12\n"));
    CPPUNIT_ASSERT_EQUAL(std::string("trace:2: field 7 (GPUs) is \"\", not a whole number from 1 to 65536"),
                         refused(good + "A3C\tcd\t-step\t1\t1\t1\t\n"));
  }

  void every_format_skips_bad_lines_if_that_is_asked() {
    ReadJobs how;
    how.skip_bad = true;
    for (const std::string &text :
         {std::string(";\n1 0 1 10 4 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1\nrubbish\n"),
          std::string("JobID|Submit|AllocTRES|Elapsed\nrubbish\n1|2026-03-01T00:00:00|gres/gpu=1|00:01:00\n"),
          std::string("timestamp,duration,num_gpus\n2017-10-09 07:01:55,1,1\nrubbish\n"),
          std::string("name,time,application,num_replicas,batch_size\na,1,bert,1,12\nrubbish\n"),
          std::string("job_id,num_gpu,submit_time,model_name,duration\n0,1,0,vgg16,5\nrubbish\n"),
          std::string("A3C\tcd\t-step\t1\t7176\t30.5\t12\nrubbish\n")}) {
      const Workload workload = read(text, how);
      CPPUNIT_ASSERT_EQUAL(std::size_t{1}, workload.jobs.size());
      CPPUNIT_ASSERT_EQUAL(std::string("1 row skipped, the first at "), workload.notes.at(0).substr(0, 28));
    }
  }

  void types_are_made_up_by_the_seed() {
    std::string text = "timestamp,duration,num_gpus\n";
    for (int i = 0; i < 1000; ++i) text += "2017-10-09 07:01:55,1,8\n";
    ReadJobs other;
    other.seed = 2;
    const Workload one = read(text), again = read(text), two = read(text, other);
    int same = 0, with_ps = 0;
    std::map<std::string, int> types;
    for (std::size_t i = 0; i < one.jobs.size(); ++i) {
      CPPUNIT_ASSERT_EQUAL(one.jobs[i].type, again.jobs[i].type);
      CPPUNIT_ASSERT_EQUAL(one.jobs[i].ps, again.jobs[i].ps);
      same += one.jobs[i].type == two.jobs[i].type;
      with_ps += one.jobs[i].ps == 2;
      ++types[one.jobs[i].type];
    }
    CPPUNIT_ASSERT(same < 200);
    CPPUNIT_ASSERT(with_ps > 440 && with_ps < 560);
    CPPUNIT_ASSERT(types.size() == 15 && types.count("gpt2") == 0);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ReadTracesTest);

} // namespace harmony
