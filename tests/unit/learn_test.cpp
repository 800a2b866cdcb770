#include "src/learn/gym.h"
#include "src/learn/search.h"
#include "src/learn/training_data.h"
#include "src/learn/workloads.h"
#include "src/learn/reward_report.h"
#include "src/sim/compare.h"
#include "src/sim/dataset_out.h"
#include "src/sim/input/scenario.h"
#include "src/sim/sim_policies.h"
#include "src/sim/truth/contention.h"
#include "src/sim/truth/learned_truth.h"
#include "src/sim/truth/tables.h"
#include "src/reward/network_reward.h"
#include "src/record/dataset_reader.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

namespace harmony {
namespace {

// What a reward model sees when a gang starts, from slurmctld's side: kept by job.
class Watch : public SimWatcher {
public:
  Watch(const std::string &directory, const std::string &name, const std::vector<std::string> &types)
      : dataset_(directory, name, "pack"), types_(types), encoder_(types_.count()) {}

  void started(const SimJob &job, const Gang &gang, const Plan &plan, const Snapshot &snapshot, double now,
               double speed, double best) override {
    dataset_.started(job, gang, plan, snapshot, now, speed, best);
    const Cluster cluster(snapshot);
    std::vector<RewardPlace> places;
    std::map<int, RewardPlace> by_node;
    for (const Placement &placement : plan.placements) {
      RewardPlace &place = by_node[placement.node];
      const NodeState &node = cluster.node(placement.node);
      place.topology = node.topology.get();
      place.node_gpus = node.free_gpus.size();
      place.workers += placement.workers;
      place.ps += placement.ps;
      place.gpus.join(placement.gpus);
    }
    for (auto &[index, place] : by_node) {
      for (const Tenant &tenant : cluster.node(index).tenants) {
        const Running &other = cluster.job_of(tenant);
        if (other.job == gang.job) continue;
        place.beside.push_back({other.job, types_.of(other.type), other.distributed(), tenant.workers, tenant.ps,
                                &tenant.gpus, other.workers, other.ps});
      }
      places.push_back(std::move(place));
    }
    SparseRows rows;
    encoder_.append({types_.of(gang.type), gang.workers(), gang.ps(), static_cast<int>(places.size()),
                     static_cast<double>(gang.model_kb)},
                    places, rows);
    std::sort(rows.ends.begin(), rows.ends.end());
    at_start[now] = std::move(rows);
  }
  void went(const SimJob &job, const Progress::Change &change, const Snapshot &snapshot, double now,
            bool ended) override {
    dataset_.went(job, change, snapshot, now, ended);
  }
  void at(double, std::size_t ended, std::size_t all) override {
    if (ended == all) dataset_.close();
  }

  std::map<double, SparseRows> at_start; // by time

private:
  DatasetOut dataset_;
  const TypeIndex types_;
  RewardEncoder encoder_;
};

struct Simulated {
  Simulated() : scenario(make_scenario("servers6")), truth(make_contention(scenario.cluster, types)) {}

  // Sixty jobs of the scenario, recorded.
  void record(const std::string &directory, Watch *watch = nullptr) {
    const Workload workload = scenario_jobs(scenario, 0.9, 60, 5);
    BestPlace best(scenario.cluster, types, *truth);
    std::unique_ptr<Watch> own;
    if (!watch) {
      own = std::make_unique<Watch>(directory, "sim", std::vector<std::string>());
      watch = own.get();
    }
    const auto policy = make_sim_policy("pack", {});
    simulate({scenario.cluster, types, workload, *truth, best}, rounds_of(*policy, {}), {}, watch);
  }

  JobTypes types;
  Scenario scenario;
  std::unique_ptr<Truth> truth;
};

} // namespace

class LearnTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(LearnTest);
  CPPUNIT_TEST(a_search_finds_the_bottom_of_a_bowl);
  CPPUNIT_TEST(the_same_seed_searches_the_same_way);
  CPPUNIT_TEST(what_is_learned_from_is_what_was_seen_when_the_gang_started);
  CPPUNIT_TEST(a_dataset_becomes_its_cluster_and_its_jobs);
  CPPUNIT_TEST(jobs_that_neighbours_nearly_stopped_are_as_long_as_they_would_be_alone);
  CPPUNIT_TEST(a_small_dataset_says_what_is_missing);
  CPPUNIT_TEST(no_user_counts_for_more_than_a_part);
  CPPUNIT_TEST(workloads_have_the_load_that_is_asked_for);
  CPPUNIT_TEST(jobs_are_split_by_time);
  CPPUNIT_TEST(what_is_tested_on_was_not_trained_on);
  CPPUNIT_TEST(learned_physics_slows_those_on_one_node);
  CPPUNIT_TEST(being_worse_somewhere_costs_three_times_what_being_better_gains);
  CPPUNIT_TEST_SUITE_END();

  std::string directory_;

public:
  void setUp() override {
    char name[] = "/tmp/harmony-learn.XXXXXX";
    directory_ = mkdtemp(name);
  }
  void tearDown() override { std::filesystem::remove_all(directory_); }

private:
  void a_search_finds_the_bottom_of_a_bowl() {
    Search search({0, 0, 0}, {1, 1, 1}, 12, 3);
    const std::vector<double> bottom{2, -3, 0.5};
    for (int i = 0; i < 120; ++i) {
      std::vector<double> costs;
      for (const std::vector<double> &each : search.candidates()) {
        double cost = 0;
        for (std::size_t k = 0; k < bottom.size(); ++k)
          cost += (each[k] - bottom[k]) * (each[k] - bottom[k]) * std::pow(10, k);
        costs.push_back(cost);
      }
      search.told(costs);
    }
    for (std::size_t k = 0; k < bottom.size(); ++k) CPPUNIT_ASSERT_DOUBLES_EQUAL(bottom[k], search.centre()[k], 0.05);
  }

  void the_same_seed_searches_the_same_way() {
    Search one({0}, {1}, 6, 9), other({0}, {1}, 6, 9);
    CPPUNIT_ASSERT(one.candidates() == other.candidates());
  }

  // The encoder's rows from a cluster and from records are the same, bit for bit.
  void what_is_learned_from_is_what_was_seen_when_the_gang_started() {
    Simulated simulated;
    simulated.record(directory_);
    TrainingData data = read_training_data({directory_});
    std::filesystem::remove_all(directory_);
    Watch watch(directory_, "sim", data.types);
    simulated.record(directory_, &watch);
    data = read_training_data({directory_});
    int same = 0;
    for (const RewardExample &each : data.examples) {
      const auto seen = watch.at_start.find(each.at_s);
      if (seen == watch.at_start.end()) continue;
      const SparseRows &rows = seen->second;
      if (rows.count() != each.end - each.first) continue;
      bool equal = true;
      std::size_t at = 0;
      for (std::size_t i = data.rows.begin(each.first); i < data.rows.end(each.end - 1); ++i, ++at)
        equal = equal && at < rows.entries.size() && rows.entries[at] == data.rows.entries[i];
      same += equal && at == rows.entries.size();
    }
    CPPUNIT_ASSERT(same >= 50); // of 60 gangs; several start at one time, and the last of them is kept
  }

  void a_dataset_becomes_its_cluster_and_its_jobs() {
    Simulated simulated;
    simulated.record(directory_);
    const TrainingData data = read_training_data({directory_});
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, data.clusters.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{6}, data.clusters[0].cluster.nodes.size());
    CPPUNIT_ASSERT_EQUAL(12, data.clusters[0].cluster.gpus());
    CPPUNIT_ASSERT_EQUAL(std::size_t{60}, data.clusters[0].jobs.size());
    CPPUNIT_ASSERT(data.types.size() > 5);
    assert_lasts_as_in_scenario(simulated, data);
  }

  // Beside another job every one goes at 0.004 of its speed.
  void jobs_that_neighbours_nearly_stopped_are_as_long_as_they_would_be_alone() {
    Simulated simulated;
    std::set<std::string> types;
    for (const SimJob &job : scenario_jobs(simulated.scenario, 0.9, 60, 5).jobs) types.insert(job.type);
    const std::string pairs = directory_ + ".pairs";
    std::ofstream file(pairs);
    file << "victim,aggressor,ratio\n";
    for (const std::string &victim : types)
      for (const std::string &other : types) file << victim << ',' << other << ",0.004\n";
    file.close();
    simulated.truth = make_tables("", pairs, Combine::min, std::move(simulated.truth));
    std::filesystem::remove(pairs);
    simulated.record(directory_);
    const TrainingData data = read_training_data({directory_});
    const auto slower = [](const RewardExample &a, const RewardExample &b) { return a.speed < b.speed; };
    const auto slowest = std::min_element(data.examples.begin(), data.examples.end(), slower);
    CPPUNIT_ASSERT(slowest != data.examples.end() && slowest->speed < 0.01f);
    assert_lasts_as_in_scenario(simulated, data);
  }

  static void assert_lasts_as_in_scenario(const Simulated &simulated, const TrainingData &data) {
    const Workload workload = scenario_jobs(simulated.scenario, 0.9, 60, 5);
    for (const SimJob &job : data.clusters[0].jobs) {
      const auto same = [&](const SimJob &each) { return std::abs(each.submit_s - job.submit_s) < 1e-3; };
      const auto found = std::find_if(workload.jobs.begin(), workload.jobs.end(), same);
      CPPUNIT_ASSERT(found != workload.jobs.end());
      CPPUNIT_ASSERT_DOUBLES_EQUAL(found->duration_s, job.duration_s, found->duration_s * 0.01);
    }
  }

  void a_small_dataset_says_what_is_missing() {
    Simulated simulated;
    simulated.record(directory_);
    const TrainingData data = read_training_data({directory_});
    CPPUNIT_ASSERT(what_is_missing(data, {10, 10}).empty());
    const std::vector<std::string> missing = what_is_missing(data, {1000000, 10});
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, missing.size());
    CPPUNIT_ASSERT(missing[0].find("and it takes 1000000 at least") != std::string::npos);
    CPPUNIT_ASSERT(missing[1].find("pairs of types never seen") != std::string::npos);
  }

  void no_user_counts_for_more_than_a_part() {
    Simulated simulated;
    simulated.record(directory_);
    // One user for all jobs but a few.
    std::vector<Record> records;
    read_dataset(directory_, [&](const Record &record) { records.push_back(record); });
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    {
      std::ofstream file(directory_ + "/users.jsonl");
      for (Record &record : records) {
        if (auto *start = std::get_if<StartRecord>(&record)) start->user = start->id.job % 10 == 0 ? "few" : "many";
        file << to_line(record) << '\n';
      }
    }
    const TrainingData data = read_training_data({directory_});
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, data.users);
    std::map<int, std::pair<double, int>> by_user; // weight and examples
    for (const RewardExample &each : data.examples) {
      by_user[each.user].first += static_cast<double>(each.weight);
      ++by_user[each.user].second;
    }
    const auto &[one, other] = std::make_pair(by_user[0], by_user[1]);
    const auto &many = one.second > other.second ? one : other;
    CPPUNIT_ASSERT(many.second > 0.8 * static_cast<double>(data.examples.size()));
    CPPUNIT_ASSERT(many.first <= (most_of_one_user + 0.01) * (one.first + other.first));
  }

  void workloads_have_the_load_that_is_asked_for() {
    Simulated simulated;
    simulated.record(directory_);
    const TrainingData data = read_training_data({directory_});
    const TrainingCluster &cluster = data.clusters.front();
    for (const double load : {0.5, 0.9}) {
      const Workload made = make_workload(cluster.cluster, cluster.jobs, {200, load, 3});
      CPPUNIT_ASSERT_EQUAL(std::size_t{200}, made.jobs.size());
      CPPUNIT_ASSERT_DOUBLES_EQUAL(load, load_of(made.jobs, cluster.cluster), 0.01);
    }
  }

  void jobs_are_split_by_time() {
    Simulated simulated;
    simulated.record(directory_);
    const JobSplit split = split_by_time(read_training_data({directory_}).clusters.front());
    CPPUNIT_ASSERT(split.apart);
    CPPUNIT_ASSERT_EQUAL(std::size_t{60}, split.train.size() + split.held_out.size());
    CPPUNIT_ASSERT(split.train.back().submit_s <= split.held_out.front().submit_s);
  }

  void what_is_tested_on_was_not_trained_on() {
    Simulated simulated;
    simulated.record(directory_);
    const TrainingData data = read_training_data({directory_});
    const RewardSplit split = split_examples(data, 1);
    std::set<int> trained_runs;
    for (const int i : split.train) trained_runs.insert(data.examples[static_cast<std::size_t>(i)].run);
    for (const int i : split.runs) CPPUNIT_ASSERT(!trained_runs.count(data.examples[static_cast<std::size_t>(i)].run));
    for (const int i : split.train)
      CPPUNIT_ASSERT(data.examples[static_cast<std::size_t>(i)].type != split.held_out_type);
    CPPUNIT_ASSERT(!split.train.empty() && !split.runs.empty() && !split.time.empty());
  }

  // By a network in which any neighbour costs something.
  void being_worse_somewhere_costs_three_times_what_being_better_gains() {
    const std::vector<double> one{110, 100 / 1.1}, others{100, 100};
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, against(one, others), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(std::log(1.1), cost_against(one, others), 1e-9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(against(others, {110, 110}), cost_against(others, {110, 110}), 1e-9);
  }

  void learned_physics_slows_those_on_one_node() {
    Simulated simulated;
    std::vector<float> parameters(RewardNetwork::parameter_count(1), 0);
    const RewardLayout layout(1);
    for (std::size_t member = 0; member < reward_members; ++member) {
      float *p = parameters.data() + member * layout.size;
      p[layout.last_bias] = -6;
      p[layout.victim] = 1;
      p[layout.aggressor] = 40;
    }
    const auto physics =
        make_learned_truth(simulated.scenario.cluster, {std::make_shared<const RewardNetwork>(1, parameters), {}, {}});
    Bits first(2), second(2);
    first.set(0);
    second.set(1);
    const Occupant one{"x", 1, 0, {{0, 1, 0, 2, first}}}, other{"y", 1, 0, {{0, 1, 0, 2, second}}};
    physics->start(0, one);
    const double alone = physics->speed(0);
    physics->start(1, other);
    CPPUNIT_ASSERT(physics->speed(0) < alone && physics->speed(1) < physics->alone(other));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(std::exp(-40. / 8), physics->speed(0) / alone, 1e-3); // however slow that is
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, physics->touched().size());
    physics->end(1);
    CPPUNIT_ASSERT_EQUAL(alone, physics->speed(0));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(LearnTest);

} // namespace harmony
