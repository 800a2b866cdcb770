#include "src/reward/network_reward.h"
#include "src/reward/reward_network.h"
#include "src/reward/reward_rows.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cmath>
#include <limits>

namespace harmony {

using namespace fixtures;

namespace {

constexpr int two_types = 3; // unknown, and two

std::vector<float> silent(int types) { return std::vector<float>(RewardNetwork::parameter_count(types), 0); }

// A network that knows nothing but what neighbours of a type cost a type: exp(-cost) of its speed for each.
std::shared_ptr<const RewardNetwork> pairs(int victim, int aggressor, float cost, float part_of_limit = 0) {
  const RewardLayout layout(two_types);
  std::vector<float> parameters = silent(two_types);
  for (std::size_t member = 0; member < reward_members; ++member) {
    float *p = parameters.data() + member * layout.size;
    p[layout.last_bias] = -10;
    p[layout.victim + static_cast<std::size_t>(victim) * reward_pair] = 1;
    p[layout.aggressor + static_cast<std::size_t>(aggressor) * reward_pair] = cost * 8;
  }
  std::fill(parameters.end() - two_types, parameters.end(), part_of_limit);
  return std::make_shared<const RewardNetwork>(two_types, parameters);
}

RewardPlace place(const Topology *topology, const Bits &gpus, int workers, std::vector<RewardTenant> beside = {}) {
  return {topology, topology ? static_cast<int>(topology->gpus.size()) : 8, workers, 0, gpus, std::move(beside)};
}

float value_of(const SparseRows &rows, int row, int column) {
  for (std::size_t i = rows.begin(row); i < rows.end(row); ++i)
    if (rows.entries[i].first == column) return rows.entries[i].second;
  return 0;
}

Bits bits(const std::vector<int> &set, int size = 8) {
  Bits made(size);
  for (const int each : set) made.set(each);
  return made;
}

} // namespace

class RewardTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(RewardTest);
  CPPUNIT_TEST(a_network_that_says_nothing_has_no_doubt);
  CPPUNIT_TEST(what_neighbours_cost_multiplies);
  CPPUNIT_TEST(members_that_differ_are_doubt);
  CPPUNIT_TEST(the_slowest_row_is_the_jobs_pace);
  CPPUNIT_TEST(parameters_that_are_too_few_or_not_finite_are_refused);
  CPPUNIT_TEST(nodes_alike_are_one_row);
  CPPUNIT_TEST(the_order_of_neighbours_changes_nothing);
  CPPUNIT_TEST(a_job_on_two_shared_nodes_counts_once);
  CPPUNIT_TEST(who_is_below_the_same_switch_is_told_apart);
  CPPUNIT_TEST(a_gang_is_told_what_it_loses_and_what_its_neighbours_lose);
  CPPUNIT_TEST(a_neighbour_that_ends_soon_is_delayed_by_little);
  CPPUNIT_TEST(what_is_asked_again_has_the_same_answer_and_networks_are_not_mixed_up);
  CPPUNIT_TEST_SUITE_END();

  void a_network_that_says_nothing_has_no_doubt() {
    const RewardNetwork network(two_types, silent(two_types));
    SparseRows rows;
    RewardEncoder(two_types).append({1, 2, 0, 1, 0}, {place(nullptr, bits({0, 1}), 2)}, rows);
    const Opinion opinion = network.slowest(rows, 0, rows.count());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1 / (1 + std::log(2.0)), opinion.mean, 1e-4);
    CPPUNIT_ASSERT_EQUAL(0.f, opinion.deviation);
  }

  void what_neighbours_cost_multiplies() {
    const auto network = pairs(1, 2, 0.5);
    const Bits none = bits({});
    const auto speed = [&](int neighbours) {
      SparseRows rows;
      std::vector<RewardTenant> beside;
      for (int i = 0; i < neighbours; ++i) beside.push_back({static_cast<std::uint64_t>(i), 2, false, 1, 0, &none});
      RewardEncoder(two_types).append({1, 2, 0, 1, 0}, {place(nullptr, bits({0, 1}), 2, beside)}, rows);
      return static_cast<double>(network->slowest(rows, 0, rows.count()).mean);
    };
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1, speed(0), 1e-3);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(std::exp(-0.5), speed(1), 1e-3);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(speed(1) * speed(1), speed(2), 1e-3);
  }

  void members_that_differ_are_doubt() {
    const RewardLayout layout(two_types);
    std::vector<float> parameters = silent(two_types);
    parameters[layout.last_bias] = -10; // the first member: at its best
    const RewardNetwork network(two_types, parameters);
    SparseRows rows;
    RewardEncoder(two_types).append({1, 2, 0, 1, 0}, {place(nullptr, bits({0}), 1)}, rows);
    const Opinion opinion = network.slowest(rows, 0, 1);
    const double others = 1 / (1 + std::log(2.0));
    CPPUNIT_ASSERT_DOUBLES_EQUAL((1 + 2 * others) / 3, opinion.mean, 1e-3);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(std::sqrt(2.0) / 3 * (1 - others), opinion.deviation, 1e-3);
  }

  void the_slowest_row_is_the_jobs_pace() {
    const RewardLayout layout(two_types);
    std::vector<float> parameters = silent(two_types);
    for (std::size_t member = 0; member < reward_members; ++member) {
      float *p = parameters.data() + member * layout.size;
      p[layout.first + static_cast<std::size_t>(reward_column::gpus_here) * reward_hidden] = 1;
      p[layout.second] = 1;
      p[layout.last] = 4;
    }
    const RewardNetwork network(two_types, parameters);
    SparseRows rows;
    RewardEncoder(two_types).append({1, 3, 0, 2, 0}, {place(nullptr, bits({0}), 1), place(nullptr, bits({0, 1}), 2)},
                                    rows);
    CPPUNIT_ASSERT_EQUAL(2, rows.count());
    CPPUNIT_ASSERT_EQUAL(network.slowest(rows, 1, 2).mean, network.slowest(rows, 0, 2).mean);
    CPPUNIT_ASSERT(network.slowest(rows, 0, 1).mean > network.slowest(rows, 0, 2).mean);
  }

  void parameters_that_are_too_few_or_not_finite_are_refused() {
    std::vector<float> parameters = silent(two_types);
    CPPUNIT_ASSERT_EQUAL(std::string(), RewardNetwork::problem_with(two_types, parameters));
    parameters.back() = std::numeric_limits<float>::quiet_NaN();
    CPPUNIT_ASSERT_EQUAL(std::string("its reward network has a parameter that is not finite"),
                         RewardNetwork::problem_with(two_types, parameters));
    parameters.pop_back();
    CPPUNIT_ASSERT(RewardNetwork::problem_with(two_types, parameters).find("parameters instead of") !=
                   std::string::npos);
  }

  void nodes_alike_are_one_row() {
    SparseRows rows;
    RewardEncoder(two_types).append({1, 4, 0, 2, 0}, {place(nullptr, bits({0, 1}), 2), place(nullptr, bits({2, 3}), 2)},
                                    rows);
    CPPUNIT_ASSERT_EQUAL(1, rows.count());
  }

  void the_order_of_neighbours_changes_nothing() {
    const Bits one = bits({2}), other = bits({3, 4, 5});
    std::vector<RewardTenant> beside{
        {7, 1, true, 1, 0, &one}, {8, 1, false, 3, 1, &other}, {9, 2, true, 0, 2, nullptr}};
    SparseRows rows, turned;
    RewardEncoder encoder(two_types);
    encoder.append({1, 2, 0, 2, 100}, {place(nullptr, bits({0, 1}), 2, beside)}, rows);
    std::reverse(beside.begin(), beside.end());
    encoder.append({1, 2, 0, 2, 100}, {place(nullptr, bits({0, 1}), 2, beside)}, turned);
    CPPUNIT_ASSERT(rows.entries == turned.entries);
  }

  void a_job_on_two_shared_nodes_counts_once() {
    const Bits its = bits({7});
    const std::vector<RewardTenant> beside{{9, 2, true, 1, 0, &its}};
    SparseRows rows;
    RewardEncoder(two_types).append(
        {1, 3, 0, 2, 0}, {place(nullptr, bits({0}), 1, beside), place(nullptr, bits({0, 1}), 2, beside)}, rows);
    for (int row = 0; row < 2; ++row)
      CPPUNIT_ASSERT_EQUAL(0.125f, value_of(rows, row, reward_column_of(reward_group::jobs, 2, two_types)));
  }

  void who_is_below_the_same_switch_is_told_apart() {
    const Snapshot snapshot = cluster(1, "pcie8");
    const Topology *topology = snapshot.nodes[0].topology.get();
    const Bits near = bits({1}), far = bits({7});
    const auto same_domain = [&](const Bits &its) {
      SparseRows rows;
      RewardEncoder(two_types).append({1, 1, 0, 1, 0}, {place(topology, bits({0}), 1, {{9, 2, false, 1, 0, &its}})},
                                      rows);
      return value_of(rows, 0, reward_column_of(reward_group::same_domain, 2, two_types));
    };
    CPPUNIT_ASSERT_EQUAL(0.5f, same_domain(near));
    CPPUNIT_ASSERT_EQUAL(0.f, same_domain(far));
  }

  void a_gang_is_told_what_it_loses_and_what_its_neighbours_lose() {
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 9, {{0, {0, 1}, 0}});
    snapshot.running.back().type = "b";
    const Cluster nodes(snapshot);
    const TypeIndex types({"a", "b"});
    Gang asks = gang(snapshot, 1, 2);
    asks.type = "a";
    Plan beside, apart;
    beside.placements.push_back({0, 0, "n0", 2, 0, Bits(), bits({2, 3})});
    apart.placements.push_back({0, 1, "n1", 2, 0, Bits(), bits({2, 3})});
    const NetworkReward suffers(pairs(1, 2, 11), types), harms(pairs(2, 1, 11), types);
    CPPUNIT_ASSERT(suffers.predict(nodes, asks, beside).speed < 0.5);
    CPPUNIT_ASSERT(suffers.predict(nodes, asks, beside).alone > 0.99);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, suffers.predict(nodes, asks, beside).harm, 1e-3);
    CPPUNIT_ASSERT(suffers.predict(nodes, asks, apart).speed > 0.99);
    CPPUNIT_ASSERT(harms.predict(nodes, asks, beside).harm > 1); // as many GPUs as it has, more than twice as slow
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, harms.predict(nodes, asks, apart).harm, 1e-6);
  }

  // Beside the gang the neighbour goes half as fast, for as long as the shorter of the two runs.
  void a_neighbour_that_ends_soon_is_delayed_by_little() {
    Snapshot snapshot = cluster(1, "pcie8");
    run(snapshot, 9, {{0, {0, 1}, 0}});
    snapshot.running.back().type = "b";
    Gang asks = gang(snapshot, 1, 2);
    asks.type = "a";
    asks.time_limit_min = 30; // usually a third of it
    Plan beside;
    beside.placements.push_back({0, 0, "n0", 2, 0, Bits(), bits({2, 3})});
    const TypeIndex types({"a", "b"});
    const auto delay = [&](std::time_t limit_s, std::time_t ran_s) {
      snapshot.running.back().started = snapshot.taken - ran_s;
      snapshot.running.back().ends = snapshot.running.back().started + limit_s;
      const Cluster nodes(snapshot);
      return NetworkReward(pairs(2, 1, static_cast<float>(std::log(2.0)), 1.0f / 3), types)
          .predict(nodes, asks, beside);
    };
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, delay(100000, 0).delay, 1e-3);           // all of its own time, at half speed
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.5, delay(100000, 0).gpu_delay, 1e-3);       // as many GPUs as it has
    CPPUNIT_ASSERT_DOUBLES_EQUAL(150.0 / 600, delay(3600, 1050).delay, 1e-3);  // of 150 s that were left 300 are made
    CPPUNIT_ASSERT_DOUBLES_EQUAL(120.0 / 600, delay(3600, 36000).delay, 1e-3); // overdue: a tenth of its usual time
  }

  void what_is_asked_again_has_the_same_answer_and_networks_are_not_mixed_up() {
    const auto one = pairs(1, 2, 0.5), other = pairs(1, 2, 0.25);
    const Bits none = bits({});
    SparseRows rows;
    RewardEncoder(two_types).append({1, 2, 0, 1, 0}, {place(nullptr, bits({0}), 1, {{3, 2, false, 1, 0, &none}})},
                                    rows);
    for (int i = 0; i < 3; ++i) {
      CPPUNIT_ASSERT_DOUBLES_EQUAL(std::exp(-0.5), one->slowest(rows, 0, 1).mean, 1e-3);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(std::exp(-0.25), other->slowest(rows, 0, 1).mean, 1e-3);
    }
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(RewardTest);

} // namespace harmony
