#include "src/observe/observer.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <variant>
#include <vector>

namespace harmony {

using fixtures::machine;

class ObserverTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ObserverTest);
  CPPUNIT_TEST(a_gang_alone_is_a_start_an_interval_and_an_end);
  CPPUNIT_TEST(a_neighbour_that_comes_and_goes_parts_the_run_into_intervals);
  CPPUNIT_TEST(terms_are_those_of_the_planner);
  CPPUNIT_TEST(an_unmanaged_job_is_a_neighbour_and_nothing_else);
  CPPUNIT_TEST(a_hetjob_is_one_gang_and_starts_when_its_last_component_does);
  CPPUNIT_TEST(a_hetjob_ends_with_its_last_component_and_in_the_state_of_its_first);
  CPPUNIT_TEST(a_job_that_slurmctld_allocates_anew_is_passed_over);
  CPPUNIT_TEST(a_requeued_job_is_another_run);
  CPPUNIT_TEST(a_run_whose_end_was_not_seen_gives_way_to_the_next);
  CPPUNIT_TEST(a_resumed_run_keeps_its_beginning);
  CPPUNIT_TEST(a_clock_that_is_set_back_moves_no_interval);
  CPPUNIT_TEST(declared_epochs_count_only_if_the_job_completed);
  CPPUNIT_TEST(suspended_time_is_no_elapsed_time);
  CPPUNIT_TEST(a_claim_stands_in_the_intervals_and_the_end_and_changes_nothing_else);
  CPPUNIT_TEST(a_claim_of_an_earlier_run_is_not_taken_for_one_of_this);
  CPPUNIT_TEST(long_intervals_are_cut);
  CPPUNIT_TEST(nodes_are_named_once_a_file);
  CPPUNIT_TEST(usage_is_of_the_runs_gpus_only_also_after_its_end);
  CPPUNIT_TEST(usage_that_comes_late_is_of_the_run_before);
  CPPUNIT_TEST(usage_of_a_component_is_of_its_gang);
  CPPUNIT_TEST(what_was_forgotten_has_no_end);
  CPPUNIT_TEST(only_what_still_runs_is_kept);
  CPPUNIT_TEST(of_a_hetjob_the_last_component_knows_what_became_of_the_plan);
  CPPUNIT_TEST(neighbours_that_come_and_go_at_once_leave_no_intervals);
  CPPUNIT_TEST(a_run_that_was_suspended_or_resized_is_marked);
  CPPUNIT_TEST(time_in_which_nodes_were_powered_up_is_no_elapsed_time);
  CPPUNIT_TEST(a_topology_that_reads_the_same_is_not_told_again);
  CPPUNIT_TEST_SUITE_END();

  Observer observer_{[this](const Record &record) { records_.push_back(record); }, 0.5};
  std::vector<Record> records_;

  template <class Kind> std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Record &record : records_)
      if (const auto *kind = std::get_if<Kind>(&record)) found.push_back(*kind);
    return found;
  }
  template <class Kind> std::vector<Kind> all_of(std::uint32_t job) const {
    std::vector<Kind> found;
    for (const Kind &record : all<Kind>())
      if (record.id.job == job) found.push_back(record);
    return found;
  }

  static Moment at(double seconds) { return {1000000 + seconds, seconds}; }

  static HeldNode tasks_on(const std::string &node, int workers, int ps, const std::vector<int> &gpus) {
    HeldNode held;
    held.tasks.node = node;
    held.tasks.workers = workers;
    held.tasks.ps = ps;
    held.tasks.gpus = Bits(8);
    for (const int gpu : gpus) held.tasks.gpus.set(gpu);
    held.cores = workers + ps;
    held.node_cores = 32;
    held.node_gpus = 8;
    held.topology = machine("pcie8");
    return held;
  }

  static JobBegan gang(std::uint32_t job, std::vector<HeldNode> nodes, double begin, int run = 0) {
    JobBegan began;
    began.record = job;
    began.managed = true;
    began.start.id = {"c", job, run};
    began.start.type = "vgg16";
    began.start.epochs = 90;
    began.start.begin_s = at(begin).wall_s;
    began.nodes = std::move(nodes);
    return began;
  }

  static JobEnded end(std::uint32_t job, const std::string &state = "COMPLETED") {
    JobEnded ended;
    ended.gang = ended.record = job;
    ended.state = state;
    return ended;
  }

  static double since(double seconds) { return seconds - 1000000; }

  void a_gang_alone_is_a_start_an_interval_and_an_end() {
    observer_.began(gang(1, {tasks_on("n0", 2, 1, {0, 5})}, 0), at(0));
    observer_.ended(end(1), at(45));
    CPPUNIT_ASSERT_EQUAL(std::size_t{4}, records_.size()); // and the node
    const StartRecord start = all<StartRecord>().at(0);
    CPPUNIT_ASSERT_EQUAL(2, start.workers);
    CPPUNIT_ASSERT_EQUAL(1, start.ps);
    CPPUNIT_ASSERT_EQUAL(2, start.gpus);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, start.placement.at(0).domains.size()); // of different PCIe switches
    CPPUNIT_ASSERT(start.neighbours.empty());
    const IntervalRecord interval = all<IntervalRecord>().at(0);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, since(interval.begin_s), 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(45, since(interval.end_s), 1e-6);
    CPPUNIT_ASSERT(!interval.epochs && !interval.relative_speed);
    const EndRecord ended = all<EndRecord>().at(0);
    CPPUNIT_ASSERT_EQUAL(std::string("COMPLETED"), ended.state);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(45, ended.elapsed_s, 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(2, *ended.mean_speed, 1e-9);
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, observer_.followed());
  }

  void a_neighbour_that_comes_and_goes_parts_the_run_into_intervals() {
    observer_.began(gang(1, {tasks_on("n0", 2, 0, {0, 1}), tasks_on("n1", 1, 0, {0})}, 0), at(0));
    observer_.began(gang(2, {tasks_on("n1", 1, 0, {7})}, 10), at(10));
    observer_.began(gang(3, {tasks_on("n2", 1, 0, {7})}, 15), at(15)); // elsewhere
    observer_.ended(end(2), at(30));
    observer_.ended(end(1), at(40));
    const auto intervals = all_of<IntervalRecord>(1);
    CPPUNIT_ASSERT_EQUAL(std::size_t{3}, intervals.size());
    for (std::size_t i = 1; i < intervals.size(); ++i)
      CPPUNIT_ASSERT_DOUBLES_EQUAL(intervals[i - 1].end_s, intervals[i].begin_s, 1e-9);
    CPPUNIT_ASSERT(intervals[0].neighbours.empty());
    CPPUNIT_ASSERT(intervals[2].neighbours.empty());
    const Neighbour neighbour = intervals[1].neighbours.at(0);
    CPPUNIT_ASSERT_EQUAL(2u, neighbour.job);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, neighbour.on.size());
    CPPUNIT_ASSERT_EQUAL(std::string("n1"), neighbour.on.at(0).node);
    // The other way round the gang is seen with its task on the shared node, and known to be on two.
    const Neighbour other = all_of<StartRecord>(2).at(0).neighbours.at(0);
    CPPUNIT_ASSERT_EQUAL(2, other.nodes);
    CPPUNIT_ASSERT_EQUAL(3, other.workers);
    CPPUNIT_ASSERT_EQUAL(1, other.on.at(0).workers);
  }

  void terms_are_those_of_the_planner() {
    observer_.began(gang(1, {tasks_on("n0", 2, 0, {0, 1})}, 0), at(0));
    observer_.began(gang(2, {tasks_on("n0", 1, 0, {2})}, 10), at(10));
    observer_.ended(end(1), at(20));
    Snapshot snapshot = fixtures::cluster({"pcie8"});
    snapshot.running.resize(1);
    snapshot.running[0].nodes = 1;
    Bits theirs(8), ours(8);
    theirs.set(2);
    ours.set(0);
    ours.set(1);
    snapshot.nodes[0].tenants.push_back({0, 1, 0, 1, theirs});
    Plan plan;
    plan.placements.resize(1);
    plan.placements[0].workers = 2;
    plan.placements[0].gpus = ours;
    const InterferenceTerms expected = interference_terms(Cluster(snapshot), plan);
    const InterferenceTerms found = all_of<IntervalRecord>(1).at(1).terms;
    CPPUNIT_ASSERT_EQUAL(expected.same_domain, found.same_domain);
    CPPUNIT_ASSERT_EQUAL(expected.same_socket, found.same_socket);
    CPPUNIT_ASSERT_EQUAL(expected.same_nic, found.same_nic);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(1.0 / 32, found.cores, 1e-9);
    CPPUNIT_ASSERT(found.same_domain + found.same_socket > 0);
    CPPUNIT_ASSERT_EQUAL(0.0, all_of<IntervalRecord>(1).at(0).terms.cores);
  }

  void an_unmanaged_job_is_a_neighbour_and_nothing_else() {
    JobBegan plain = gang(9, {tasks_on("n0", 1, 0, {})}, 0);
    plain.managed = false;
    observer_.began(plain, at(0));
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 5), at(5));
    observer_.ended(end(9), at(10));
    observer_.ended(end(1), at(20));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<StartRecord>().size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<EndRecord>().size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, all<IntervalRecord>().size());
    CPPUNIT_ASSERT_EQUAL(9u, all<StartRecord>().at(0).neighbours.at(0).job);
  }

  static JobBegan component(std::uint32_t record, HeldNode node, double begin) {
    JobBegan began = gang(10, {std::move(node)}, begin);
    began.record = record;
    began.records = 2;
    return began;
  }

  void a_hetjob_is_one_gang_and_starts_when_its_last_component_does() {
    observer_.began(component(10, tasks_on("n0", 0, 1, {}), 0), at(0));
    CPPUNIT_ASSERT(records_.empty());
    observer_.began(component(11, tasks_on("n0", 2, 0, {0, 1}), 0), at(0.5));
    const StartRecord start = all<StartRecord>().at(0);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, start.placement.size()); // both on one node
    CPPUNIT_ASSERT_EQUAL(2, start.workers);
    CPPUNIT_ASSERT_EQUAL(1, start.ps);
    CPPUNIT_ASSERT((std::vector<std::uint32_t>{10, 11} == start.components));
    CPPUNIT_ASSERT(start.neighbours.empty());
  }

  void a_hetjob_ends_with_its_last_component_and_in_the_state_of_its_first() {
    observer_.began(component(10, tasks_on("n0", 0, 1, {}), 0), at(0));
    observer_.began(component(11, tasks_on("n1", 2, 0, {0, 1}), 0), at(0));
    JobEnded one = end(10, "CANCELLED");
    one.record = 11;
    observer_.ended(one, at(20));
    CPPUNIT_ASSERT(all<EndRecord>().empty());
    observer_.ended(end(10, "FAILED"), at(21));
    CPPUNIT_ASSERT_EQUAL(std::string("FAILED"), all<EndRecord>().at(0).state);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(21, since(all<EndRecord>().at(0).end_s), 1e-6);
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, observer_.followed());
  }

  void a_job_that_slurmctld_allocates_anew_is_passed_over() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(10));
    observer_.ended(end(1), at(20));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<StartRecord>().size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<IntervalRecord>().size());
  }

  void a_requeued_job_is_another_run() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    JobEnded requeued = end(1, "REQUEUED");
    requeued.requeued = true;
    observer_.ended(requeued, at(20));
    observer_.began(gang(1, {tasks_on("n1", 1, 0, {0})}, 50, 1), at(50));
    observer_.ended(end(1), at(95));
    const auto ends = all<EndRecord>();
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, ends.size());
    CPPUNIT_ASSERT_EQUAL(0, ends[0].id.run);
    CPPUNIT_ASSERT_EQUAL(1, ends[0].requeues);
    CPPUNIT_ASSERT(!ends[0].epochs && !ends[0].mean_speed);
    CPPUNIT_ASSERT_EQUAL(1, ends[1].id.run);
    CPPUNIT_ASSERT_EQUAL(1, ends[1].requeues);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(45, ends[1].elapsed_s, 1e-6);
  }

  void a_run_whose_end_was_not_seen_gives_way_to_the_next() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.began(gang(1, {tasks_on("n1", 1, 0, {0})}, 50, 1), at(50));
    observer_.began(gang(2, {tasks_on("n0", 1, 0, {0})}, 60), at(60));
    CPPUNIT_ASSERT(all_of<StartRecord>(2).at(0).neighbours.empty());
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, all_of<StartRecord>(1).size());
    CPPUNIT_ASSERT(all<EndRecord>().empty());
  }

  void a_resumed_run_keeps_its_beginning() {
    JobBegan resumed = gang(1, {tasks_on("n0", 1, 0, {0})}, 100);
    resumed.start.resumed = true;
    observer_.began(resumed, at(500));
    observer_.ended(end(1), at(550));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(100, since(all<StartRecord>().at(0).begin_s), 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(500, since(all<IntervalRecord>().at(0).begin_s), 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(450, all<EndRecord>().at(0).elapsed_s, 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0.2, *all<EndRecord>().at(0).mean_speed, 1e-9);
  }

  void a_clock_that_is_set_back_moves_no_interval() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    Moment back = at(10);
    back.wall_s -= 86400;
    observer_.began(gang(2, {tasks_on("n0", 1, 0, {1})}, 10 - 86400), back);
    Moment later = at(20);
    later.wall_s -= 86400;
    observer_.ended(end(1), later);
    const auto intervals = all_of<IntervalRecord>(1);
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, intervals.size());
    CPPUNIT_ASSERT_DOUBLES_EQUAL(10, since(intervals[1].begin_s), 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(20, since(intervals[1].end_s), 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(20, all<EndRecord>().at(0).elapsed_s, 1e-6);
  }

  void declared_epochs_count_only_if_the_job_completed() {
    for (const char *state : {"FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL"}) {
      observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
      observer_.ended(end(1, state), at(20));
      CPPUNIT_ASSERT(!all<EndRecord>().back().epochs && !all<EndRecord>().back().mean_speed);
    }
  }

  void suspended_time_is_no_elapsed_time() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    JobEnded ended = end(1);
    ended.suspended_s = 30;
    observer_.ended(ended, at(60));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(30, all<EndRecord>().at(0).elapsed_s, 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(3, *all<EndRecord>().at(0).mean_speed, 1e-9);
  }

  void a_claim_stands_in_the_intervals_and_the_end_and_changes_nothing_else() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    Claim claim;
    claim.epoch = 1e6;
    claim.at = 5;
    CPPUNIT_ASSERT(observer_.claimed(1, claim));
    CPPUNIT_ASSERT(!observer_.claimed(1, claim)); // the same again
    CPPUNIT_ASSERT(!observer_.claimed(7, claim));
    observer_.ended(end(1), at(45));
    CPPUNIT_ASSERT_EQUAL(1e6, all<IntervalRecord>().at(0).claim->epoch);
    CPPUNIT_ASSERT_EQUAL(1e6, all<EndRecord>().at(0).claim->epoch);
    CPPUNIT_ASSERT_EQUAL(90.0, *all<EndRecord>().at(0).epochs);
    CPPUNIT_ASSERT(!all<IntervalRecord>().at(0).epochs);
  }

  void a_claim_of_an_earlier_run_is_not_taken_for_one_of_this() {
    Claim claim;
    claim.epoch = 3;
    claim.at = 5;
    JobBegan again = gang(1, {tasks_on("n0", 1, 0, {0})}, 0, 1);
    again.old_claim = claim;
    observer_.began(again, at(0));
    CPPUNIT_ASSERT(!observer_.claimed(1, claim));
    claim.at = 50;
    CPPUNIT_ASSERT(observer_.claimed(1, claim));
  }

  void long_intervals_are_cut() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.cut_longer_than(300, at(200));
    CPPUNIT_ASSERT(all<IntervalRecord>().empty());
    observer_.cut_longer_than(300, at(301));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<IntervalRecord>().size());
    observer_.cut_longer_than(300, at(302));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<IntervalRecord>().size());
  }

  void nodes_are_named_once_a_file() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.began(gang(2, {tasks_on("n0", 1, 0, {1})}, 1), at(1));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<NodeRecord>().size());
    observer_.name_nodes_again();
    observer_.ended(end(1), at(10));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, all<NodeRecord>().size());
  }

  void usage_is_of_the_runs_gpus_only_also_after_its_end() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {3})}, 0), at(0));
    StepUsage usage;
    usage.job = 1;
    usage.step = "0";
    usage.begin_s = static_cast<std::int64_t>(at(0).wall_s);
    usage.node = "n0";
    usage.gpus = {{2, 90, 0, 0, 0}, {3, 80, 0, 0, 0}};
    CPPUNIT_ASSERT(observer_.used(usage));
    observer_.ended(end(1), at(10));
    CPPUNIT_ASSERT(observer_.used(usage));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<UsageRecord>().at(1).usage.gpus.size());
    CPPUNIT_ASSERT_EQUAL(3, all<UsageRecord>().at(1).usage.gpus[0].gpu);
    usage.node = "n7"; // it never was there
    CPPUNIT_ASSERT(!observer_.used(usage));
    usage.job = 99;
    CPPUNIT_ASSERT(!observer_.used(usage));
  }

  void usage_that_comes_late_is_of_the_run_before() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.ended(end(1, "REQUEUED"), at(100));
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 110, 1), at(110));
    StepUsage usage;
    usage.job = 1;
    usage.step = "0";
    usage.begin_s = static_cast<std::int64_t>(at(0).wall_s);
    usage.node = "n0";
    CPPUNIT_ASSERT(observer_.used(usage));
    usage.begin_s = static_cast<std::int64_t>(at(110).wall_s);
    CPPUNIT_ASSERT(observer_.used(usage));
    CPPUNIT_ASSERT_EQUAL(0, all<UsageRecord>().at(0).id.run);
    CPPUNIT_ASSERT_EQUAL(1, all<UsageRecord>().at(1).id.run);
  }

  void usage_of_a_component_is_of_its_gang() {
    observer_.began(component(10, tasks_on("n0", 0, 1, {}), 0), at(0));
    observer_.began(component(11, tasks_on("n1", 2, 0, {0, 1}), 0), at(0));
    StepUsage usage;
    usage.job = 11;
    usage.step = "0";
    usage.begin_s = static_cast<std::int64_t>(at(0).wall_s);
    usage.node = "n1";
    CPPUNIT_ASSERT(observer_.used(usage));
    JobEnded one = end(10);
    one.record = 11;
    observer_.ended(one, at(20));
    observer_.ended(end(10), at(20));
    CPPUNIT_ASSERT(observer_.used(usage));
    CPPUNIT_ASSERT_EQUAL(10u, all<UsageRecord>().at(1).id.job);
  }

  void only_what_still_runs_is_kept() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.began(gang(2, {tasks_on("n0", 1, 0, {1})}, 0), at(0));
    observer_.keep_only({2});
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, observer_.followed());
    observer_.began(gang(3, {tasks_on("n0", 1, 0, {0})}, 5), at(5));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all_of<StartRecord>(3).at(0).neighbours.size());
    CPPUNIT_ASSERT(all<EndRecord>().empty());
  }

  void of_a_hetjob_the_last_component_knows_what_became_of_the_plan() {
    JobBegan first = component(10, tasks_on("n0", 0, 1, {}), 0);
    first.start.why_stock = "pending";
    JobBegan last = component(11, tasks_on("n1", 2, 0, {0, 1}), 3);
    last.start.by_plan = true;
    observer_.began(first, at(0));
    observer_.began(last, at(3));
    CPPUNIT_ASSERT(all<StartRecord>().at(0).by_plan);
    CPPUNIT_ASSERT_EQUAL(std::string(), all<StartRecord>().at(0).why_stock);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, since(all<StartRecord>().at(0).begin_s), 1e-6);
  }

  void neighbours_that_come_and_go_at_once_leave_no_intervals() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    for (int i = 0; i < 100; ++i) {
      observer_.began(gang(100, {tasks_on("n0", 1, 0, {1})}, 10 + 0.02 * i, i), at(10 + 0.02 * i));
      observer_.ended(end(100), at(10.01 + 0.02 * i));
    }
    observer_.ended(end(1), at(30));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, all_of<IntervalRecord>(1).size());
  }

  void a_run_that_was_suspended_or_resized_is_marked() {
    for (const bool resized : {false, true}) {
      observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
      JobEnded ended = end(1);
      ended.resized = resized;
      ended.suspended_s = resized ? 0 : 3;
      observer_.ended(ended, at(20));
      CPPUNIT_ASSERT(all<EndRecord>().back().disturbed);
    }
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.ended(end(1), at(20));
    CPPUNIT_ASSERT(!all<EndRecord>().back().disturbed);
  }

  void time_in_which_nodes_were_powered_up_is_no_elapsed_time() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    JobEnded ended = end(1);
    ended.started_s = at(60).wall_s;
    observer_.ended(ended, at(90));
    CPPUNIT_ASSERT_DOUBLES_EQUAL(30, all<EndRecord>().at(0).elapsed_s, 1e-6);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(3, *all<EndRecord>().at(0).mean_speed, 1e-9);
  }

  void a_topology_that_reads_the_same_is_not_told_again() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    HeldNode anew = tasks_on("n0", 1, 0, {1});
    anew.topology = std::make_shared<const Topology>(*anew.topology);
    observer_.began(gang(2, {anew}, 1), at(1));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, all<NodeRecord>().size());
  }

  void what_was_forgotten_has_no_end() {
    observer_.began(gang(1, {tasks_on("n0", 1, 0, {0})}, 0), at(0));
    observer_.keep_only({});
    observer_.ended(end(1), at(10));
    CPPUNIT_ASSERT(all<EndRecord>().empty());
    observer_.began(gang(2, {tasks_on("n0", 1, 0, {0})}, 20), at(20));
    CPPUNIT_ASSERT(all_of<StartRecord>(2).at(0).neighbours.empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ObserverTest);

} // namespace harmony
