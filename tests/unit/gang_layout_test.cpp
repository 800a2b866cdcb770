#include "src/run/gang_layout.h"
#include "src/run/role_environment.h"
#include "src/run/srun_step.h"

#include <cppunit/extensions/HelperMacros.h>
#include <json/json.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace harmony {

class GangLayoutTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(GangLayoutTest);
  CPPUNIT_TEST(counts_are_read_as_slurm_writes_them);
  CPPUNIT_TEST(counts_in_any_other_form_are_refused);
  CPPUNIT_TEST(a_bad_variable_is_named_with_its_value);
  CPPUNIT_TEST(workers_go_to_the_gpus_and_ps_to_the_tasks_left);
  CPPUNIT_TEST(without_gpus_every_node_keeps_a_worker_while_it_can);
  CPPUNIT_TEST(a_plan_puts_the_roles);
  CPPUNIT_TEST(another_jobs_plan_is_noted_and_left);
  CPPUNIT_TEST(a_plan_in_another_form_is_refused);
  CPPUNIT_TEST(a_worker_gets_as_many_gpus_as_every_worker_can_have);
  CPPUNIT_TEST(workers_that_do_not_fit_are_refused_with_the_numbers);
  CPPUNIT_TEST(ps_count_beats_the_declared_number_and_is_bounded);
  CPPUNIT_TEST(ports_stay_in_their_range_for_every_job);
  CPPUNIT_TEST(ports_are_distinct_over_the_gang);
  CPPUNIT_TEST(gpus_of_a_node_are_read_from_scontrol);
  CPPUNIT_TEST(a_layout_survives_its_text);
  CPPUNIT_TEST(no_other_text_is_a_layout);
  CPPUNIT_TEST(a_task_finds_its_index_by_its_node);
  CPPUNIT_TEST(a_worker_finds_what_frameworks_read);
  CPPUNIT_TEST(a_ps_has_no_rank_and_sees_no_gpu);
  CPPUNIT_TEST(an_all_reduce_gang_has_no_dmlc);
  CPPUNIT_TEST(a_gang_too_large_for_the_environment_is_refused);
  CPPUNIT_TEST(srun_gets_each_task_s_node);
  CPPUNIT_TEST(srun_is_not_misled_by_the_jobs_own_options);
  CPPUNIT_TEST(the_first_failure_is_read_from_srun);
  CPPUNIT_TEST_SUITE_END();

  static JobFacts job(std::initializer_list<std::pair<int, int>> tasks_and_gpus) {
    JobFacts facts;
    facts.id = 17;
    for (const auto &[tasks, gpus] : tasks_and_gpus) {
      const std::string name = "n" + std::to_string(facts.nodes.size());
      facts.nodes.push_back({name, "10.0.0." + std::to_string(facts.nodes.size()), tasks, gpus, 0, 0});
    }
    return facts;
  }

  static std::string roles(const LayoutResult &result) {
    if (!result.problem.empty()) return result.problem;
    std::ostringstream text;
    for (const GangNode &node : result.layout.nodes) text << node.workers << "+" << node.ps << " ";
    return text.str() + "x" + std::to_string(result.layout.gpus_per_worker);
  }

  static std::string roles(const JobFacts &facts, int ps, const Environment &environment = {}) {
    return roles(lay_out(facts, environment, {ps, {}}));
  }

  static void says(const std::string &wanted, const std::string &text) {
    CPPUNIT_ASSERT_MESSAGE("'" + text + "' lacks '" + wanted + "'", text.find(wanted) != std::string::npos);
  }

  static void equal(const std::string &wanted, const std::string &found) { CPPUNIT_ASSERT_EQUAL(wanted, found); }

  void counts_are_read_as_slurm_writes_them() {
    CPPUNIT_ASSERT(expand_counts("3", 9) == std::vector<int>({3}));
    CPPUNIT_ASSERT(expand_counts("2(x3),1", 9) == std::vector<int>({2, 2, 2, 1}));
    CPPUNIT_ASSERT(expand_counts("1,4(x2)", 3) == std::vector<int>({1, 4, 4}));
  }

  void counts_in_any_other_form_are_refused() {
    for (const char *text : {"", ",", "x", "0", "-1", "2(x", "2(x)", "2(x3", "2(x0)", "2x3", "2(x3)1", "1,", "9999999",
                             "2(x99999999999)", "2(x1000000)", "1 ", " 1"})
      CPPUNIT_ASSERT_MESSAGE(text, !expand_counts(text, 4));
  }

  void a_bad_variable_is_named_with_its_value() {
    const Environment good{{"SLURM_JOB_ID", "17"}, {"SLURM_TASKS_PER_NODE", "2,1"}, {"SLURM_NTASKS", "3"}};
    CPPUNIT_ASSERT(read_job(good, {"n0", "n1"}).problem.empty());
    const auto problem = [&](const char *name, const char *value) {
      Environment changed = good;
      changed[name] = value;
      const std::string text = read_job(changed, {"n0", "n1"}).problem;
      says(std::string(name) + "=" + (*value ? value : "(unset)"), text);
    };
    problem("SLURM_JOB_ID", "");
    problem("SLURM_JOB_ID", "seventeen");
    problem("SLURM_TASKS_PER_NODE", "2");
    problem("SLURM_TASKS_PER_NODE", "1(x3)");
    problem("SLURM_NTASKS", "4");
    problem("SLURM_GPUS_PER_TASK", "many");
    problem("SLURM_CPUS_PER_TASK", "-2");
    problem("SLURM_HET_SIZE", "2");
    says("SLURM_JOB_NODELIST", read_job(good, {}).problem);
  }

  void workers_go_to_the_gpus_and_ps_to_the_tasks_left() {
    equal("2+1 x1", roles(job({{3, 2}}), 1));
    equal("1+1 1+0 x1", roles(job({{2, 1}, {1, 1}}), 1));
    equal("1+0 1+1 x1", roles(job({{1, 1}, {2, 1}}), 1));
    equal("0+2 2+0 x1", roles(job({{2, 0}, {2, 2}}), 2));
    equal("2+0 2+0 x1", roles(job({{2, 2}, {2, 2}}), 0));
  }

  void without_gpus_every_node_keeps_a_worker_while_it_can() {
    equal("1+1 1+1 2+0 x0", roles(job({{2, 0}, {2, 0}, {2, 0}}), 2));
    equal("0+2 1+1 1+1 x0", roles(job({{2, 0}, {2, 0}, {2, 0}}), 4));
    equal("1+2 1+0 x0", roles(job({{3, 0}, {1, 0}}), 2));
  }

  void a_plan_puts_the_roles() {
    equal("1+2 2+0 x1", roles(job({{3, 2}, {2, 2}}), 2, {{"HARMONY_PLAN", "n0=1+2,n1=2+0"}}));
    equal("1+2 2+0 x1", roles(lay_out(job({{3, 2}, {2, 2}}), {{"HARMONY_PLAN", "n1=2+0,n0=1+2"}}, {})));
  }

  void another_jobs_plan_is_noted_and_left() {
    for (const char *plan : {"n7=2+1", "n0=1+1", "n0=3+0", "n0=4+1", "n0=1+0,n0=1+1", "n0=0+3"}) {
      const LayoutResult result = lay_out(job({{3, 2}}), {{"HARMONY_PLAN", plan}}, {1, {}});
      equal("2+1 x1", roles(result));
      CPPUNIT_ASSERT_EQUAL_MESSAGE(plan, std::size_t{1}, result.notes.size());
      says(plan, result.notes[0]);
    }
  }

  void a_plan_in_another_form_is_refused() {
    for (const char *plan : {"n0", "n0=2", "n0=2+", "=2+1", "n0=2+1,", "n0=2+-1", "n0=2+1;n1=0+0", "n0=a+b"})
      says("HARMONY_PLAN=", roles(job({{3, 2}}), 1, {{"HARMONY_PLAN", plan}}));
  }

  void a_worker_gets_as_many_gpus_as_every_worker_can_have() {
    equal("1+0 1+0 x2", roles(job({{1, 2}, {1, 2}}), 0));
    equal("1+0 1+0 x1", roles(job({{1, 3}, {1, 1}}), 0));
    equal("2+1 x1", roles(job({{3, 3}}), 1));
    JobFacts asked = job({{4, 4}});
    asked.gpus_per_task = 1;
    equal("2+2 x1", roles(asked, 2));
  }

  void workers_that_do_not_fit_are_refused_with_the_numbers() {
    const std::string problem = roles(job({{4, 2}, {1, 2}}), 1);
    says("4 workers do not fit", problem);
    says("n1 has 1 tasks and 2 GPUs", problem);
  }

  void ps_count_beats_the_declared_number_and_is_bounded() {
    equal("2+1 x1", roles(job({{3, 2}}), 1, {{"HARMONY_PS", "2"}}));
    equal("1+2 x2", roles(lay_out(job({{3, 2}}), {{"HARMONY_PS", "2"}}, {})));
    says("--ps-count 3: a number from 0 to 2", roles(job({{3, 2}}), 3));
    for (const char *value : {"3", "-1", "two", "1x"})
      says(std::string("HARMONY_PS=") + value + ": a number from 0 to 2",
           roles(lay_out(job({{3, 2}}), {{"HARMONY_PS", value}}, {})));
  }

  void ports_stay_in_their_range_for_every_job() {
    for (unsigned long id = 1; id < 3000; ++id) {
      JobFacts facts = job({{3, 2}});
      facts.id = id * 7919;
      const int base = lay_out(facts, {}, {1, {}}).layout.base_port;
      CPPUNIT_ASSERT(base >= 20000 && base + 3 + 2 <= 30000);
    }
    CPPUNIT_ASSERT_EQUAL(5000, lay_out(job({{3, 2}}), {}, {1, 5000}).layout.base_port);
    says("--port 65532", lay_out(job({{3, 2}}), {}, {1, 65532}).problem);
    CPPUNIT_ASSERT(lay_out(job({{3, 2}}), {}, {1, 65531}).problem.empty());
  }

  static GangLayout two_nodes() { return lay_out(job({{3, 2}, {2, 1}}), {}, {2, 21000}).layout; } // 2+1, 1+1

  void ports_are_distinct_over_the_gang() {
    std::set<std::string> ports;
    for (Role role : {Role::worker, Role::ps})
      for (const std::string &host : role_hosts(two_nodes(), role)) ports.insert(host.substr(host.rfind(':')));
    const Environment worker = role_environment(two_nodes(), Role::worker, 0).set;
    ports.insert(":" + worker.at("MASTER_PORT"));
    ports.insert(":" + worker.at("DMLC_PS_ROOT_PORT"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{3 + 2 + 2}, ports.size());
  }

  void gpus_of_a_node_are_read_from_scontrol() {
    const std::string text =
        "JobId=16 JobName=x Nodes=n9 CPU_IDs=0 Mem=1 GRES=gpu:9(IDX:0-8) \n"
        "JobId=17 JobName=x NodeList=n[0-2] JOB_GRES=gpu:5 Nodes=n[0-1] CPU_IDs=0-4 Mem=500 "
        "GRES=gpu:v100:2(IDX:0-1),gpu:a100:1(IDX:2) Nodes=n2 CPU_IDs=0 Mem=100 GRES= MinCPUsNode=1\n";
    const std::vector<GpuGroup> groups = gpu_groups(text, 17);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, groups.size());
    equal("n[0-1]", groups[0].hosts);
    CPPUNIT_ASSERT_EQUAL(3, groups[0].gpus);
    equal("n2", groups[1].hosts);
    CPPUNIT_ASSERT_EQUAL(0, groups[1].gpus);
    CPPUNIT_ASSERT(gpu_groups("", 17).empty());
  }

  void a_layout_survives_its_text() {
    const std::string text = layout_text(two_nodes());
    equal("21000/n0@10.0.0.0=2+1,n1@10.0.0.1=1+1", text);
    const auto back = layout_of_text(text);
    CPPUNIT_ASSERT(back && back->workers == 3 && back->ps == 2);
    equal(text, layout_text(*back));
  }

  void no_other_text_is_a_layout() {
    for (const char *text : {"", "/", "21000", "21000/", "x/n0@a=1+0", "0/n0@a=1+0", "21000/n0=1+0", "21000/n0@=1+0",
                             "21000/@a=1+0", "21000/n0@a=1", "21000/n0@a=0+1", "21000/n0@a=1+0,"})
      CPPUNIT_ASSERT_MESSAGE(text, !layout_of_text(text));
  }

  void a_task_finds_its_index_by_its_node() {
    CPPUNIT_ASSERT_EQUAL(1, task_index(two_nodes(), Role::worker, "n0", 1));
    CPPUNIT_ASSERT_EQUAL(2, task_index(two_nodes(), Role::worker, "n1", 0));
    CPPUNIT_ASSERT_EQUAL(1, task_index(two_nodes(), Role::ps, "n1", 0));
    CPPUNIT_ASSERT_EQUAL(-1, task_index(two_nodes(), Role::worker, "n1", 1));
    CPPUNIT_ASSERT_EQUAL(-1, task_index(two_nodes(), Role::worker, "n1", -1));
    CPPUNIT_ASSERT_EQUAL(-1, task_index(two_nodes(), Role::worker, "n2", 0));
  }

  void a_worker_finds_what_frameworks_read() {
    const Environment found = role_environment(two_nodes(), Role::worker, 2).set;
    const Environment wanted{{"HARMONY_ROLE", "worker"},
                             {"HARMONY_INDEX", "2"},
                             {"HARMONY_WORKERS", "3"},
                             {"HARMONY_PS", "2"},
                             {"HARMONY_WORKER_HOSTS", "10.0.0.0:21000,10.0.0.0:21001,10.0.0.1:21002"},
                             {"HARMONY_PS_HOSTS", "10.0.0.0:21003,10.0.0.1:21004"},
                             {"DMLC_ROLE", "worker"},
                             {"DMLC_PS_ROOT_URI", "10.0.0.0"},
                             {"DMLC_PS_ROOT_PORT", "21005"},
                             {"DMLC_NUM_WORKER", "3"},
                             {"DMLC_NUM_SERVER", "2"},
                             {"MASTER_ADDR", "10.0.0.0"},
                             {"MASTER_PORT", "21006"},
                             {"RANK", "2"},
                             {"WORLD_SIZE", "3"},
                             {"LOCAL_RANK", "0"}};
    for (const auto &[name, value] : wanted) CPPUNIT_ASSERT_EQUAL_MESSAGE(name, value, found.at(name));
    Json::Value config;
    std::istringstream(found.at("TF_CONFIG")) >> config;
    equal("10.0.0.1:21004", config["cluster"]["ps"][1].asString());
    equal("10.0.0.1:21002", config["cluster"]["worker"][2].asString());
    equal("worker", config["task"]["type"].asString());
    CPPUNIT_ASSERT_EQUAL(2, config["task"]["index"].asInt());
    GangLayout ipv6 = two_nodes();
    ipv6.nodes[0].address = "fe80::1";
    equal("[fe80::1]:21000", role_hosts(ipv6, Role::worker)[0]);
  }

  void a_ps_has_no_rank_and_sees_no_gpu() {
    const RoleEnvironment found = role_environment(two_nodes(), Role::ps, 1);
    equal("server", found.set.at("DMLC_ROLE"));
    equal("", found.set.at("CUDA_VISIBLE_DEVICES"));
    for (const char *name : {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT"}) {
      CPPUNIT_ASSERT(!found.set.count(name));
      CPPUNIT_ASSERT(std::count(found.unset.begin(), found.unset.end(), name) == 1);
    }
    says("there is no ps 2", role_environment(two_nodes(), Role::ps, 2).problem);
  }

  void an_all_reduce_gang_has_no_dmlc() {
    const Environment found = role_environment(lay_out(job({{2, 2}}), {}, {}).layout, Role::worker, 1).set;
    CPPUNIT_ASSERT(!found.count("DMLC_ROLE") && !found.count("CUDA_VISIBLE_DEVICES"));
    equal("", found.at("HARMONY_PS_HOSTS"));
    CPPUNIT_ASSERT(found.at("TF_CONFIG").find("\"ps\"") == std::string::npos);
  }

  void a_gang_too_large_for_the_environment_is_refused() {
    GangLayout layout = lay_out(job({{8000, 0}}), {}, {}).layout;
    layout.nodes[0].address = "a-node-with-rather-a-long-name.example.org";
    says("an environment variable holds", role_environment(layout, Role::worker, 0).problem);
  }

  static bool has(const SrunStep &step, const std::string &option) {
    return std::count(step.arguments.begin(), step.arguments.end(), option) == 1;
  }

  void srun_gets_each_task_s_node() {
    JobFacts facts = job({{3, 2}, {2, 1}});
    const SrunStep workers = srun_step(two_nodes(), facts, Role::worker, "1");
    CPPUNIT_ASSERT(has(workers, "--nodelist=n0,n0,n1") && has(workers, "--ntasks=3") && has(workers, "--nodes=2"));
    CPPUNIT_ASSERT(has(workers, "--gpus-per-task=1") && !has(workers, "--mem=0"));
    facts.memory_per_node = true;
    facts.cpus_per_task = 4;
    const SrunStep ps = srun_step(two_nodes(), facts, Role::ps, "1");
    CPPUNIT_ASSERT(has(ps, "--nodelist=n0,n1") && has(ps, "--gpus=0") && has(ps, "--mem=0"));
    CPPUNIT_ASSERT(has(ps, "--cpus-per-task=4") && ps.name != workers.name);
  }

  void srun_is_not_misled_by_the_jobs_own_options() {
    for (const char *name : {"SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK", "SLURM_NTASKS_PER_NODE"})
      CPPUNIT_ASSERT_MESSAGE(name, misleads_srun(name));
    for (const char *name : {"SLURM_JOB_ID", "SLURM_CONF", "SLURM_JOB_NODELIST", "PATH", "HARMONY_PS"})
      CPPUNIT_ASSERT_MESSAGE(name, !misleads_srun(name));
  }

  void the_first_failure_is_read_from_srun() {
    CPPUNIT_ASSERT_EQUAL(3, reported_failure("srun: error: n0: task 1: Exited with exit code 3"));
    CPPUNIT_ASSERT_EQUAL(7, reported_failure("srun: error: n[0-1]: tasks 0,2: Exited with exit code 7"));
    CPPUNIT_ASSERT_EQUAL(139, reported_failure("srun: error: n0: task 1: Segmentation fault (core dumped)"));
    CPPUNIT_ASSERT_EQUAL(143, reported_failure("srun: error: n0: tasks 0,2: Terminated"));
    CPPUNIT_ASSERT_EQUAL(137, reported_failure("srun: error: n0: task 0: Out Of Memory"));
    for (const char *line :
         {"", "Exited with exit code 3", "srun: error: Unable to create step for job 17: busy",
          "srun: Force Terminated StepId=20.0", "srun: error: n0: task 1: thinks", "srun: error: : task"})
      CPPUNIT_ASSERT_EQUAL_MESSAGE(line, 0, reported_failure(line));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(GangLayoutTest);

} // namespace harmony
