#include "src/encode/candidate_features.h"
#include "src/encode/gang_features.h"
#include "src/encode/openings.h"
#include "src/encode/scale.h"
#include "src/encode/schema.h"
#include "tests/unit/linear_model.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <set>
#include <sstream>

namespace harmony {

using namespace fixtures;

namespace {

const std::vector<std::string> known_types{"vgg16", "bert"};

// Nodes of several kinds, half of them with jobs of several types and sizes.
Snapshot mixed_cluster(unsigned seed, int nodes) {
  std::mt19937 random(seed);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  std::vector<std::string> profiles;
  for (int i = 0; i < nodes; ++i)
    profiles.push_back(std::vector<std::string>{"pcie8", "dgx2", "servers6"}[static_cast<std::size_t>(below(2))]);
  Snapshot snapshot = cluster(profiles);
  for (int i = 0; i + 1 < nodes; i += 2) {
    const auto at = static_cast<std::size_t>(i);
    std::vector<int> gpus;
    for (int gpu = below(3); gpu < snapshot.nodes[at].free_gpus.size(); gpu += 1 + below(3)) gpus.push_back(gpu);
    if (gpus.empty()) continue;
    run(snapshot, static_cast<std::uint32_t>(100 + i), {{i, gpus, below(2)}, {i + 1, {gpus.front()}, 0}}, 1 + below(3));
    Running &job = snapshot.running.back();
    job.type = std::vector<std::string>{"vgg16", "bert", "odd"}[static_cast<std::size_t>(below(3))];
    job.model_kb = static_cast<std::uint32_t>(below(3) * 400000);
    job.ends = now + 60 * (1 + below(10000));
  }
  return snapshot;
}

// The rows of a gang's first worker on every kind of node.
Rows rows_of(const Encoder &encoder, const Gang &gang, std::vector<int> *nodes = nullptr) {
  View view(encoder.cluster());
  const Rooms rooms = find_rooms(view, gang.components.front(), {}, true, &encoder.states());
  const CandidateRows candidates(encoder, gang, gang.components.front(), rooms, false);
  Rows rows;
  std::vector<int> domains;
  for (const NodeClass &node : rooms.classes) {
    candidates.append(node, {}, rows, domains);
    if (nodes) nodes->resize(domains.size(), node.first);
  }
  return rows;
}

std::set<std::vector<float>> as_set(const Rows &rows) {
  std::set<std::vector<float>> all;
  for (int i = 0; i < rows.count; ++i)
    all.emplace(rows.values.begin() + i * rows.width, rows.values.begin() + (i + 1) * rows.width);
  return all;
}

bool within_limits(const std::vector<float> &values) {
  for (const float value : values)
    if (!(value >= 0 && value <= 1)) return false;
  return true;
}

Circumstances circumstances() {
  Circumstances made;
  made.queue = {5, 20};
  made.shorter = {2, 3};
  made.displaced = 1.5;
  made.usual_s = 1000;
  made.next_end_s = 100;
  made.opening_s = 500;
  made.max_wait_s = 600;
  return made;
}

std::vector<float> row_of(const Encoder &encoder, const Gang &gang, const Plan &plan) {
  return gang_row(encoder, gang, plan, make_assumed_reward()->predict(encoder.cluster(), gang, plan), circumstances());
}

// All features of a cluster and a gang, a line each: name and value.
std::string told(const Snapshot &snapshot, const Gang &gang, const Plan &plan) {
  const Cluster cluster(snapshot);
  const TypeIndex types(known_types);
  const Encoder encoder(cluster, types);
  std::ostringstream text;
  text.precision(9);
  const auto tell = [&text](const std::vector<Feature> &features, const float *values, const std::string &what) {
    for (std::size_t i = 0; i < features.size(); ++i)
      text << what << ' ' << features[i].name << ' ' << values[i] << '\n';
  };
  tell(job_features(), job_row(encoder, gang, circumstances()).features.data(), "job");
  const Rows rows = rows_of(encoder, gang);
  for (int i = 0; i < rows.count; ++i)
    tell(candidate_features(known_types), rows.values.data() + i * rows.width, "candidate" + std::to_string(i));
  tell(gang_features(known_types), row_of(encoder, gang, plan).data(), "gang");
  tell(gang_features(known_types), wait_row(encoder, gang, circumstances()).data(), "wait");
  return text.str();
}

} // namespace

class EncoderTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(EncoderTest);
  CPPUNIT_TEST(numbers_of_any_size_become_features_within_0_and_1);
  CPPUNIT_TEST(every_column_has_a_name_of_its_own_and_a_meaning);
  CPPUNIT_TEST(a_manifest_of_other_features_is_refused);
  CPPUNIT_TEST(features_are_finite_and_within_0_and_1_for_any_cluster);
  CPPUNIT_TEST(the_same_snapshot_gives_the_same_features_as_in_the_golden_file);
  CPPUNIT_TEST(nodes_alike_are_one_state);
  CPPUNIT_TEST(only_the_nodes_of_a_started_gang_are_encoded_again_and_that_is_as_good_as_all);
  CPPUNIT_TEST(permuting_nodes_permutes_candidates_and_nothing_else);
  CPPUNIT_TEST(domains_alike_are_one_candidate);
  CPPUNIT_TEST(a_neighbour_is_told_by_type_and_by_what_it_loads);
  CPPUNIT_TEST(tasks_of_the_gang_already_there_are_told);
  CPPUNIT_TEST(waiting_is_a_row_of_its_own);
  CPPUNIT_TEST(shorter_gangs_that_would_lose_their_room_are_counted_by_how_much_shorter_they_are);
  CPPUNIT_TEST(nodes_open_when_the_jobs_there_usually_end);
  CPPUNIT_TEST(openings_follow_what_is_planned);
  CPPUNIT_TEST_SUITE_END();

  void numbers_of_any_size_become_features_within_0_and_1() {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double value : {-inf, -1.0, 0.0, 0.5, 1e300, inf, nan})
      for (const float feature : {scaled_log(value, 16), part(value, 3), part(1, value), steady(value) / 1e6f})
        CPPUNIT_ASSERT(feature >= 0 && feature <= 1);
    CPPUNIT_ASSERT_EQUAL(1.0f, scaled_log(16, 16));
    CPPUNIT_ASSERT_EQUAL(0.0f, part(1, 0));
  }

  void every_column_has_a_name_of_its_own_and_a_meaning() {
    for (const auto &features : {job_features(), candidate_features(known_types), gang_features(known_types)}) {
      std::set<std::string> names;
      for (const Feature &feature : features) {
        CPPUNIT_ASSERT_MESSAGE(feature.name, names.insert(feature.name).second);
        CPPUNIT_ASSERT_MESSAGE(feature.name, feature.meaning.size() > 8);
      }
    }
    const ModelShape shape = shape_for(known_types);
    CPPUNIT_ASSERT_EQUAL(job_features().size(), static_cast<std::size_t>(shape.job));
    CPPUNIT_ASSERT_EQUAL(candidate_features(known_types).size(), static_cast<std::size_t>(shape.candidate));
    CPPUNIT_ASSERT_EQUAL(gang_features(known_types).size(), static_cast<std::size_t>(shape.gang));
    CPPUNIT_ASSERT_EQUAL(3, shape.types);
  }

  void a_manifest_of_other_features_is_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string(), schema_problem(manifest(known_types)));
    Manifest other = manifest();
    other.schema = schema_version + 1;
    CPPUNIT_ASSERT_EQUAL(std::string("it was trained on schema 4, this build speaks schema 3"), schema_problem(other));
    other = manifest();
    other.gangs.pop_back();
    CPPUNIT_ASSERT(schema_problem(other).find("gang features") != std::string::npos);
    other = manifest();
    other.job[1].name = "parameter_servers";
    CPPUNIT_ASSERT_EQUAL(std::string("job feature 1 is parameter_servers in its manifest and ps in schema 3"),
                         schema_problem(other));
    other = manifest(known_types);
    other.types = {"vgg16"};
    CPPUNIT_ASSERT(!schema_problem(other).empty());
  }

  void features_are_finite_and_within_0_and_1_for_any_cluster() {
    for (unsigned seed = 1; seed <= 30; ++seed) {
      Snapshot snapshot = mixed_cluster(seed, 12);
      if (seed % 3 == 0) snapshot.nodes[1].topology = nullptr;
      if (seed % 5 == 0) snapshot.nodes[2].memory_mb = 0;
      if (seed % 7 == 0) snapshot.running.front().ends = std::numeric_limits<std::time_t>::max() / 2;
      Gang asks = gang(snapshot, 1, static_cast<int>(1 + seed % 9), static_cast<int>(seed % 3));
      asks.model_kb = seed % 2 ? std::numeric_limits<std::uint32_t>::max() : 0;
      asks.epochs = asks.time_limit_min = asks.model_kb;
      asks.eligible_since = seed % 2 ? 0 : now + 1000;
      const Cluster cluster(snapshot);
      const TypeIndex types(known_types);
      const Encoder encoder(cluster, types);
      CPPUNIT_ASSERT(within_limits(job_row(encoder, asks, circumstances()).features));
      CPPUNIT_ASSERT(within_limits(rows_of(encoder, asks).values));
      CPPUNIT_ASSERT(within_limits(wait_row(encoder, asks, circumstances())));
      for (const std::string &policy : placing()) {
        const Proposal proposal = make_policy(policy)->propose(cluster, asks, false);
        if (proposal.verdict == Verdict::place) CPPUNIT_ASSERT(within_limits(row_of(encoder, asks, proposal.plan)));
      }
    }
  }

  // Made with HARMONY_WRITE_GOLDEN=1, when the schema changes.
  void the_same_snapshot_gives_the_same_features_as_in_the_golden_file() {
    const Snapshot snapshot = mixed_cluster(7, 8);
    const Gang asks = gang(snapshot, 1, 4, 2);
    const std::string features = told(snapshot, asks, ask("pack", snapshot, asks).plan);
    CPPUNIT_ASSERT_EQUAL(features, told(snapshot, asks, ask("pack", snapshot, asks).plan));
    const char *srcdir = std::getenv("srcdir");
    const std::string file = std::string(srcdir ? srcdir : ".") + "/tests/unit/golden/features.txt";
    if (std::getenv("HARMONY_WRITE_GOLDEN")) std::ofstream(file) << features;
    std::ifstream golden(file);
    CPPUNIT_ASSERT_MESSAGE(file, golden.good());
    std::ostringstream text;
    text << golden.rdbuf();
    CPPUNIT_ASSERT_EQUAL(text.str(), features);
  }

  void nodes_alike_are_one_state() {
    Snapshot snapshot = cluster(100, "pcie8");
    const TypeIndex types(known_types);
    const Cluster idle(snapshot);
    CPPUNIT_ASSERT_EQUAL(1, Encoder(idle, types).distinct());
    // The same jobs in the same places are the same, whoever's they are.
    run(snapshot, 1, {{3, {0, 1}, 0}});
    run(snapshot, 2, {{9, {0, 1}, 0}});
    const Cluster two(snapshot);
    CPPUNIT_ASSERT_EQUAL(2, Encoder(two, types).distinct());
    snapshot.running.back().type = "bert";
    const Cluster three(snapshot);
    CPPUNIT_ASSERT_EQUAL(3, Encoder(three, types).distinct());
  }

  void only_the_nodes_of_a_started_gang_are_encoded_again_and_that_is_as_good_as_all() {
    const Snapshot snapshot = mixed_cluster(3, 16);
    Cluster cluster(snapshot);
    const TypeIndex types(known_types);
    Encoder encoder(cluster, types);
    for (std::uint32_t job = 1; job <= 6; ++job) {
      const Gang asks = gang(snapshot, job, 3, 1);
      const Proposal proposal = make_policy("spread")->propose(cluster, asks, false);
      if (proposal.verdict != Verdict::place) continue;
      cluster.start(asks, proposal.plan);
      encoder.update();
      const Encoder afresh(cluster, types);
      for (int node = 0; node < 16; ++node) CPPUNIT_ASSERT(afresh.of_node(node) == encoder.of_node(node));
      CPPUNIT_ASSERT(job_row(afresh, asks, circumstances()).features ==
                     job_row(encoder, asks, circumstances()).features);
    }
  }

  void permuting_nodes_permutes_candidates_and_nothing_else() {
    const Snapshot snapshot = mixed_cluster(5, 14);
    Snapshot other = snapshot;
    std::reverse(other.nodes.begin(), other.nodes.end());
    const TypeIndex types(known_types);
    const Cluster one(snapshot), two(other);
    const Encoder first(one, types), second(two, types);
    const Gang asks = gang(snapshot, 1, 3, 1);
    CPPUNIT_ASSERT(as_set(rows_of(first, asks)) == as_set(rows_of(second, asks)));
    CPPUNIT_ASSERT(job_row(first, asks, circumstances()).features == job_row(second, asks, circumstances()).features);
    for (int node = 0; node < 14; ++node) CPPUNIT_ASSERT(first.of_node(node) == second.of_node(13 - node));
  }

  void domains_alike_are_one_candidate() {
    Snapshot snapshot = cluster(1, "pcie8");
    const TypeIndex types(known_types);
    {
      const Cluster cluster(snapshot);
      CPPUNIT_ASSERT_EQUAL(1, rows_of(Encoder(cluster, types), gang(snapshot, 1, 2)).count);
    }
    run(snapshot, 1, {{0, {0}, 0}});
    const Cluster cluster(snapshot);
    // The switch of that job, and the others.
    CPPUNIT_ASSERT_EQUAL(2, rows_of(Encoder(cluster, types), gang(snapshot, 1, 2)).count);
  }

  void a_neighbour_is_told_by_type_and_by_what_it_loads() {
    namespace column = candidate_column;
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 1, {{0, {0}, 0}, {1, {0}, 0}});
    snapshot.running.back().type = "bert";
    snapshot.running.back().model_kb = 1 << 20;
    const Cluster cluster(snapshot);
    const TypeIndex types(known_types);
    const Encoder encoder(cluster, types);
    const Rows rows = rows_of(encoder, gang(snapshot, 1, 2));
    const float *beside = rows.values.data(); // the free GPU of its switch is the first candidate
    CPPUNIT_ASSERT_EQUAL(0.5f, beside[column::domain_free]);
    CPPUNIT_ASSERT_EQUAL(scaled_log(1, 16), beside[column::pcie_load]);
    CPPUNIT_ASSERT_EQUAL(scaled_log(1, 16), beside[column::nic_load]);
    CPPUNIT_ASSERT_EQUAL(scaled_log(1, 8), beside[column::distributed]);
    CPPUNIT_ASSERT_EQUAL(1.0f / 8, beside[column::count + 2]);     // node_type:bert
    CPPUNIT_ASSERT_EQUAL(1.0f / 2, beside[column::count + 3 + 2]); // domain_type:bert
    CPPUNIT_ASSERT_EQUAL(0.0f, beside[column::count + 1]);
    const float *apart = rows.values.data() + rows.width;
    CPPUNIT_ASSERT_EQUAL(0.0f, apart[column::pcie_load]);
    CPPUNIT_ASSERT_EQUAL(0.0f, apart[column::count + 3 + 2]);
  }

  void tasks_of_the_gang_already_there_are_told() {
    namespace column = candidate_column;
    const Snapshot snapshot = cluster(1, "pcie8");
    const Cluster cluster(snapshot);
    const TypeIndex types(known_types);
    const Encoder encoder(cluster, types);
    const Gang asks = gang(snapshot, 1, 4);
    View view(cluster);
    const Rooms rooms = find_rooms(view, asks.components.front(), {}, true, &encoder.states());
    const CandidateRows candidates(encoder, asks, asks.components.front(), rooms, false);
    Share here{0, 1, 0};
    here.workers_in.assign(static_cast<std::size_t>(snapshot.nodes[0].topology->gpus[0].domain) + 1, 0);
    here.workers_in.back() = 1;
    Rows rows;
    std::vector<int> domains;
    candidates.append(rooms.classes.front(), here, rows, domains);
    CPPUNIT_ASSERT_EQUAL(snapshot.nodes[0].topology->gpus[0].domain, domains.front());
    CPPUNIT_ASSERT_EQUAL(0.25f, rows.values[column::workers_here]);
    CPPUNIT_ASSERT_EQUAL(0.25f, rows.values[column::workers_in_domain]);
    CPPUNIT_ASSERT_EQUAL(0.0f, rows.values[column::new_node]);
    CPPUNIT_ASSERT_EQUAL(7.0f / 8, rows.values[column::free_gpus]);
    CPPUNIT_ASSERT_EQUAL(0.5f, rows.values[column::domain_free]);
  }

  void waiting_is_a_row_of_its_own() {
    const Snapshot snapshot = mixed_cluster(2, 6);
    const Cluster cluster(snapshot);
    const TypeIndex types(known_types);
    const Encoder encoder(cluster, types);
    Gang asks = gang(snapshot, 1, 4);
    asks.time_limit_min = 100;
    asks.eligible_since = snapshot.taken - 1500;
    const std::vector<float> row = wait_row(encoder, asks, circumstances());
    CPPUNIT_ASSERT_EQUAL(gang_features(known_types).size(), row.size());
    for (std::size_t i = gang_column::nodes; i < gang_column::next_end; ++i) CPPUNIT_ASSERT_EQUAL(0.0f, row[i]);
    CPPUNIT_ASSERT_EQUAL(0.25f, row[gang_column::wait_age]);
    CPPUNIT_ASSERT_EQUAL(0.4f, row[gang_column::wait_shorter]);
    CPPUNIT_ASSERT_EQUAL(1.0f, row[gang_column::wait]);
    CPPUNIT_ASSERT_EQUAL(0.05f, row[gang_column::wait_next_end]);
    CPPUNIT_ASSERT_EQUAL(0.25f, row[gang_column::wait_opening]);
    CPPUNIT_ASSERT_EQUAL(0.0f, row[gang_column::wait_clear]);
  }

  void shorter_gangs_that_would_lose_their_room_are_counted_by_how_much_shorter_they_are() {
    Snapshot snapshot = cluster(1, "pcie8");
    for (const std::uint32_t limit : {10u, 20u, 40u}) {
      snapshot.pending.push_back(gang(snapshot, limit, 2));
      snapshot.pending.back().time_limit_min = limit;
    }
    const QueueByLimit queue(snapshot);
    CPPUNIT_ASSERT_EQUAL(0.0, queue.displaced(40, 8, 2));          // both of them still fit
    CPPUNIT_ASSERT_EQUAL(0.5, queue.displaced(40, 8, 6));          // that of 20 minutes does not
    CPPUNIT_ASSERT_EQUAL(0.5 + 0.75, queue.displaced(40, 8, 7));   // neither does
    CPPUNIT_ASSERT_EQUAL(0.0, queue.displaced(10, 8, 8));          // none is shorter
    CPPUNIT_ASSERT_EQUAL(0.75 + 0.875, queue.displaced(80, 4, 4)); // the third had no room anyway
  }

  // Two nodes: one full until 300 s from now, the other half full until 900 s, with a distributed job until 600 s.
  void nodes_open_when_the_jobs_there_usually_end() {
    Snapshot snapshot = cluster(2, "pcie8");
    const auto runs = [&](std::uint32_t job, const std::vector<On> &where, std::time_t left_s) {
      run(snapshot, job, where);
      snapshot.running.back().started = now;
      snapshot.running.back().ends = now + 3 * left_s;
    };
    runs(1, {{0, {0, 1, 2, 3, 4, 5, 6, 7}, 0}}, 300);
    runs(2, {{1, {0, 1}, 0}}, 900);
    runs(3, {{1, {2, 3}, 0}}, 600);
    snapshot.running.back().nodes = 2;
    const Cluster cluster(snapshot);
    const TypeIndex types(known_types);
    const UsualTimes a_third;
    Openings openings(cluster, types, a_third);
    CPPUNIT_ASSERT_EQUAL(300.0, openings.next_end());
    CPPUNIT_ASSERT_EQUAL(0.0, openings.soonest(1, 4, false));
    CPPUNIT_ASSERT_EQUAL(300.0, openings.soonest(1, 4, true));
    CPPUNIT_ASSERT_EQUAL(600.0, openings.soonest(2, 4, true));
    CPPUNIT_ASSERT_EQUAL(900.0, openings.soonest(2, 8, true));
    CPPUNIT_ASSERT_EQUAL(a_week_s, openings.soonest(3, 1, false));
  }

  void openings_follow_what_is_planned() {
    Snapshot snapshot = cluster(2, "pcie8");
    Cluster cluster(snapshot);
    const TypeIndex types(known_types);
    const UsualTimes a_third;
    Openings openings(cluster, types, a_third);
    CPPUNIT_ASSERT_EQUAL(0.0, openings.soonest(2, 8, true));
    Gang one = gang(snapshot, 1, 8);
    one.time_limit_min = 30;
    cluster.start(one, make_policy("pack")->propose(cluster, one, false).plan);
    CPPUNIT_ASSERT_EQUAL(0.0, openings.soonest(1, 8, true));
    CPPUNIT_ASSERT_EQUAL(600.0, openings.soonest(2, 8, true));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(EncoderTest);

} // namespace harmony
