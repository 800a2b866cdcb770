#include "src/record/records.h"
#include "src/sim/truth/job_type.h"
#include "src/sim/sim_policies.h"
#include "tests/unit/sim_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

namespace harmony {

using namespace fixtures;

namespace {

std::string problem_of(const std::string &name, const PolicyNeeds &needs) {
  try {
    make_sim_policy(name, needs);
    return {};
  } catch (const std::runtime_error &error) {
    return error.what();
  }
}

// A dataset of its own, gone at the end.
class Dataset {
public:
  explicit Dataset(int records) : path_(std::filesystem::temp_directory_path() / "harmony-sim-policies-test") {
    std::filesystem::create_directories(path_);
    std::ofstream file(path_ / "intervals.jsonl");
    Random random(1, "records");
    for (int i = 0; i < records; ++i) {
      IntervalRecord record;
      record.id.job = static_cast<std::uint32_t>(i + 1);
      record.type = "resnet50";
      record.workers = 2;
      record.nodes = 1;
      record.end_s = 60;
      record.epochs = 1;
      record.terms.same_domain = random.below(3);
      record.terms.cores = random.unit();
      record.relative_speed = 1 - 0.1 * record.terms.same_domain - 0.1 * record.terms.cores;
      file << to_line(record) << "\n";
    }
  }
  ~Dataset() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

private:
  const std::filesystem::path path_;
};

} // namespace

class SimPoliciesTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SimPoliciesTest);
  CPPUNIT_TEST(every_name_makes_the_policy_of_that_name);
  CPPUNIT_TEST(every_policy_of_slurmctld_can_be_simulated);
  CPPUNIT_TEST(an_unknown_name_is_refused_with_those_there_are);
  CPPUNIT_TEST(a_need_that_is_not_met_is_named);
  CPPUNIT_TEST(random_is_the_same_for_the_same_seed_and_job);
  CPPUNIT_TEST(random_keeps_the_limits_on_nodes);
  CPPUNIT_TEST(every_policy_runs_a_whole_workload_the_same_way_twice);
  CPPUNIT_TEST(stock_proposes_what_slurm_would_choose);
  CPPUNIT_TEST(tiresias_and_the_job_types_agree_on_what_is_skewed);
  CPPUNIT_TEST_SUITE_END();

  void every_name_makes_the_policy_of_that_name() {
    const Dataset dataset(100);
    const ShareOfNode rules;
    for (const PolicyName &each : sim_policy_names()) {
      CPPUNIT_ASSERT_EQUAL(each.name, std::string(make_sim_policy(each.name, {&rules, 1, dataset.path()})->name()));
      CPPUNIT_ASSERT(!each.about.empty());
    }
  }

  void every_policy_of_slurmctld_can_be_simulated() {
    std::set<std::string> names;
    for (const PolicyName &each : sim_policy_names()) names.insert(each.name);
    for (const std::string &name : without_model()) CPPUNIT_ASSERT_MESSAGE(name, names.count(name));
  }

  void an_unknown_name_is_refused_with_those_there_are() {
    const std::string problem = problem_of("packs", {});
    CPPUNIT_ASSERT(problem.find("there is no policy 'packs'; there are stock, pack, ") == 0);
    CPPUNIT_ASSERT(!problem_of("", {}).empty());
  }

  void a_need_that_is_not_met_is_named() {
    for (const char *name : {"oracle-greedy", "oracle-linear", "oracle-exhaustive"})
      CPPUNIT_ASSERT_EQUAL(fmt::format("policy {} needs a ground truth, and there is none", name),
                           problem_of(name, {}));
    for (const char *name : {"lif-linear", "lif-quadratic", "greedy"})
      CPPUNIT_ASSERT(problem_of(name, {}).find(fmt::format("policy {} is fitted from a dataset", name)) == 0);
    const Dataset empty(0);
    PolicyNeeds needs;
    needs.dataset = empty.path();
    CPPUNIT_ASSERT_EQUAL(fmt::format("policy greedy: there are no intervals in the dataset {}", empty.path()),
                         problem_of("greedy", needs));
  }

  void random_is_the_same_for_the_same_seed_and_job() {
    const Snapshot snapshot = cluster(8, "pcie8");
    PolicyNeeds one, other;
    other.seed = 2;
    const auto place = [&](const PolicyNeeds &needs, std::uint32_t job) {
      return nodes_text(
          make_sim_policy("random", needs)->propose(Cluster(snapshot), gang(snapshot, job, 6, 2), true).plan);
    };
    CPPUNIT_ASSERT_EQUAL(place(one, 1), place(one, 1));
    CPPUNIT_ASSERT(place(one, 1) != place(other, 1));
    CPPUNIT_ASSERT(place(one, 1) != place(one, 2));
  }

  void random_keeps_the_limits_on_nodes() {
    const Snapshot snapshot = cluster(6, "pcie8");
    const auto policy = make_sim_policy("random", {});
    for (std::uint32_t job = 1; job <= 50; ++job) {
      Gang one = gang(snapshot, job, 6);
      one.components.front().min_nodes = 2;
      one.components.front().max_nodes = 3;
      one.components.front().required.set(4);
      const Proposal proposal = policy->propose(Cluster(snapshot), one, true);
      CPPUNIT_ASSERT(proposal.verdict == Verdict::place);
      CPPUNIT_ASSERT(nodes_used(proposal) >= 2 && nodes_used(proposal) <= 3);
      const std::vector<int> nodes = nodes_of(proposal.plan);
      CPPUNIT_ASSERT(std::find(nodes.begin(), nodes.end(), 4) != nodes.end());
    }
  }

  void every_policy_runs_a_whole_workload_the_same_way_twice() {
    const Dataset dataset(100);
    const ShareOfNode rules;
    SimRun run;
    run.cluster = sim_cluster(4, "pcie8");
    run.workload = random_jobs(60, 3);
    run.options.settings.max_wait_s = 300;
    for (const PolicyName &each : sim_policy_names()) {
      const auto first = run.run(*make_sim_policy(each.name, {&rules, 1, dataset.path()}));
      const auto again = run.run(*make_sim_policy(each.name, {&rules, 1, dataset.path()}));
      CPPUNIT_ASSERT_EQUAL_MESSAGE(each.name, run.workload.jobs.size(), first.jobs.size());
      CPPUNIT_ASSERT_EQUAL_MESSAGE(each.name, first.makespan_s, again.makespan_s);
    }
  }

  void stock_proposes_what_slurm_would_choose() {
    Snapshot snapshot = cluster(2, "pcie8");
    const auto policy = make_sim_policy("stock", {});
    const Proposal proposal = policy->propose(Cluster(snapshot), gang(snapshot, 1, 4, 2), true);
    CPPUNIT_ASSERT(proposal.verdict == Verdict::place);
    CPPUNIT_ASSERT_EQUAL(std::string("n0 4+2"), nodes_text(proposal.plan));
    CPPUNIT_ASSERT(policy->propose(Cluster(snapshot), gang(snapshot, 1, 17), true).verdict == Verdict::no_room);
  }

  void tiresias_and_the_job_types_agree_on_what_is_skewed() {
    Snapshot snapshot = cluster(4, "pcie8");
    run(snapshot, 90, {{0, {0, 1, 2, 3, 4, 5, 6}}});
    const JobTypes types;
    for (const std::string &name : types.names()) {
      Gang one = gang(snapshot, 1, 4);
      one.type = name;
      const bool consolidated = nodes_used(ask("tiresias-skew", snapshot, one)) == 1;
      CPPUNIT_ASSERT_EQUAL_MESSAGE(name, types.of(name).skewed, consolidated);
    }
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(SimPoliciesTest);

} // namespace harmony
