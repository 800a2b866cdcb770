#include "plugin/slurm_version.h"

#include "plugin/engine/enforcer.h"

#include "plugin/engine/actual_placement.h"
#include "src/values/clock.h"
#include "plugin/engine/job_notes.h"
#include "plugin/engine/job_reader.h"
#include "plugin/engine/slurm_values.h"
#include "plugin/engine/usable_nodes.h"
#include "src/values/local_time.h"

#include <fmt/format.h>

#include <utility>

namespace harmony {
namespace {

// How often in a row a plan may fail before stock's choice stands.
constexpr int patience = 3;

// Resources came back since the plans were made: what had no room may have some now.
bool more_is_free(const PlannerState &state, const PlanTable &table) {
  return state.epoch != table.epoch || usable_beyond(table.usable);
}

// A question that a plan may answer: not a trial of slurmctld's own or of a user's --test-only, nor a job that is on
// its way by other means.
bool concerns_us(const JobTest &call) {
  const job_record_t &job = *call.job;
  if (call.mode == SELECT_MODE_WILL_RUN && !(job.bit_flags & BACKFILL_TEST)) return false;
  if (job.bit_flags & BF_WHOLE_NODE_TEST) return false;
  return job.details && !job.details->expanding_jobid && !job.details->preempt_start_time && !job.preempt_in_progress;
}

} // namespace

bool Enforcer::job_test(const JobTest &call, StockJobTest stock, int *answer) {
  const std::int64_t begin = now_ns();
  in_stock_ns_ = 0;
  const bool answered = answer_to(call, stock, answer);
  // What stock did for us takes the place of its own answer, or comes on top of it.
  state_.statistics.job_test.add(now_ns() - begin - (answered ? in_stock_ns_ : 0));
  return answered;
}

bool Enforcer::answer_to(const JobTest &call, StockJobTest stock, int *answer) {
  if (call.mode == SELECT_MODE_TEST_ONLY) { // a job arrives
    if (is_managed(*call.job, state_.settings()->manage)) rounds_.wake();
    return false;
  }
  if (state_.mode != Mode::enforce || !concerns_us(call)) return false;
  const auto table = state_.plans();
  PlannedJob *planned = table ? table->find(call.job->job_id) : nullptr;
  if (planned) return test_planned(call, stock, table, *planned, answer);
  // What no round would plan is not held until one does.
  if (!is_managed(*call.job, state_.settings()->manage) || !waits_for_resources(*call.job, time(nullptr))) return false;
  return hold(call, stock, "no plan", answer);
}

bool Enforcer::test_planned(const JobTest &call, StockJobTest stock, const std::shared_ptr<PlanTable> &table,
                            PlannedJob &planned, int *answer) {
  switch (planned.verdict) {
  case Verdict::left_to_stock: return false;
  case Verdict::wait: return wait(call, stock, *table, planned, answer);
  case Verdict::no_room:
    if (!more_is_free(state_, *table)) return false;
    state_.gate.had_no_room(gang_id(*call.job), table->round, now_ms());
    return hold(call, stock, "resources came back", answer);
  case Verdict::place: break;
  }
  const std::vector<Placement> *placements = planned.next();
  if (!placements)
    return (planned.dropped || more_is_free(state_, *table)) &&
           hold(call, stock, "its plan was dropped or used", answer);
  state_.gate.has_plan(gang_id(*call.job), now_ms());
  const CarryResult result = carry_out(call, stock, *placements, shared_with(call, planned));
  in_stock_ns_ += result.stock_ns;
  if (result.carried != Carried::out) return stale(call, stock, *table, planned, result, answer);
  note_offer(call, planned, *placements);
  if (call.mode == SELECT_MODE_RUN_NOW) note_carried(call, table, *placements, result);
  *answer = SLURM_SUCCESS;
  return true;
}

const std::vector<int> &Enforcer::shared_with(const JobTest &call, const PlannedJob &planned) {
  constexpr std::int64_t one_pass_ms = 60000; // of backfill, at most
  const bool same_pass = planned.hetjob() && het_offer_.job == gang_id(*call.job) && het_offer_.mode == call.mode &&
                         now_ms() - het_offer_.at_ms < one_pass_ms && call.job->het_job_offset > 0;
  if (!same_pass) het_offer_ = {};
  return het_offer_.nodes;
}

void Enforcer::note_offer(const JobTest &call, const PlannedJob &planned, const std::vector<Placement> &placements) {
  if (!planned.hetjob()) return;
  het_offer_.job = gang_id(*call.job);
  het_offer_.mode = call.mode;
  het_offer_.at_ms = now_ms();
  for (const Placement &each : placements) het_offer_.nodes.push_back(each.node);
}

// Only a job that would start at this moment is worth holding back: of any other Slurm is to say when it can start, and
// keep that time free for it.
bool Enforcer::would_start(const JobTest &call, StockJobTest stock) {
  const Trial trial = try_stock(call, stock);
  in_stock_ns_ += trial.stock_ns;
  return trial.starts;
}

// Then nothing is held, and the log is told once until it is well again.
bool Enforcer::planner_is_unwell(const JobTest &call) {
  const std::string problem = rounds_.unwell();
  if (problem.empty()) return said_unwell_ = false;
  leave_to_stock(call, Fallback::planner_unwell, problem);
  return true;
}

// Components of a hetjob are held together, before the first of them starts: one that fails after another has started
// costs the job twenty minutes. Any other job is held when it is about to start, and backfill keeps its place free.
bool Enforcer::hold(const JobTest &call, StockJobTest stock, const char *what, int *answer) {
  const job_record_t &job = *call.job;
  if (call.mode == (job.het_job_id ? SELECT_MODE_RUN_NOW : SELECT_MODE_WILL_RUN)) return false;
  if (planner_is_unwell(call) || is_immediate(job) || !would_start(call, stock)) return false;
  switch (state_.gate.ask(gang_id(job), now_ms(), rounds_.begun(), rounds_.ended())) {
  case GateAnswer::open: return false;
  case GateAnswer::just_opened: return leave_to_stock(call, Fallback::gate_expired, what);
  case GateAnswer::hold: break;
  }
  ++state_.statistics.held;
  state_.schedule_wanted = true;
  rounds_.wake();
  *answer = ESLURM_NODES_BUSY;
  return true;
}

bool Enforcer::wait(const JobTest &call, StockJobTest stock, const PlanTable &table, PlannedJob &planned, int *answer) {
  if (call.job->het_job_id && call.mode == SELECT_MODE_RUN_NOW) return false;
  if (time(nullptr) >= planned.wait_until) return hold(call, stock, "it waited for MaxWait", answer);
  if (planner_is_unwell(call) || !would_start(call, stock)) return false;
  if (more_is_free(state_, table)) rounds_.wake();
  note_in_comment(*call.job,
                  fmt::format("waits for a better place, until {} at the latest", local_time(planned.wait_until)));
  *answer = ESLURM_NODES_BUSY;
  return true;
}

bool Enforcer::stale(const JobTest &call, StockJobTest stock, const PlanTable &table, PlannedJob &planned,
                     const CarryResult &result, int *answer) {
  if (call.mode == SELECT_MODE_WILL_RUN) return false; // a guess about the future; the plan is about now
  planned.dropped = true;
  ++state_.statistics.plans_stale;
  state_.decisions.outcome(gang_id(*call.job), Outcome::stale, time(nullptr), result.why);
  const int misses = state_.gate.missed(gang_id(*call.job), table.round, now_ms());
  const bool unchanged = state_.epoch == table.epoch && state_.starts == table.starts;
  const bool give_up = misses >= patience || planned.hetjob() || (result.carried == Carried::refused && unchanged);
  if (give_up)
    return leave_to_stock(call, result.carried == Carried::refused ? Fallback::refused : Fallback::not_offered,
                          result.why);
  debug("harmony: %pJ: the plan of round %" PRIu64 " is stale: %s; planning anew", call.job, table.round,
        result.why.c_str());
  return hold(call, stock, "its plan was stale", answer);
}

bool Enforcer::leave_to_stock(const JobTest &call, Fallback cause, const std::string &why) {
  const bool unwell = cause == Fallback::planner_unwell;
  const bool repeated = unwell ? std::exchange(said_unwell_, true)
                               : !state_.gate.first_time(gang_id(*call.job), static_cast<int>(cause), now_ms());
  if (!repeated) info("harmony: %pJ: %s (%s); using stock selection", call.job, why.c_str(), fallback_name(cause));
  if (!repeated || unwell) ++state_.statistics.fallbacks[static_cast<std::size_t>(cause)];
  state_.decisions.outcome(gang_id(*call.job), Outcome::stock, time(nullptr),
                           fmt::format("{} ({})", why, fallback_name(cause)));
  return false;
}

void Enforcer::note_carried(const JobTest &call, const std::shared_ptr<PlanTable> &table,
                            const std::vector<Placement> &placements, const CarryResult &result) {
  starting_ = {call.job->job_id, table, "", placements};
  const auto differs = [this, &call](Fallback cause, const std::string &why) {
    if (why.empty()) return;
    starting_.fallback = fmt::format("{} ({})", why, fallback_name(cause));
    ++state_.statistics.fallbacks[static_cast<std::size_t>(cause)];
    info("harmony: %pJ: %s (%s); the stock choice stands", call.job, why.c_str(), fallback_name(cause));
  };
  differs(Fallback::other_tasks, result.tasks);
  differs(Fallback::other_gpus, result.gpus);
}

// `records` is how many the gang has: of a hetjob nothing is known before the last of them has started.
void Enforcer::note_started(const job_record_t &job, int records, std::string fallback) {
  std::vector<ActualNode> actual = actual_nodes(job);
  if (records > 1) {
    if (het_start_.job != gang_id(job)) het_start_ = {gang_id(job), 0, "", {}};
    het_start_.actual.insert(het_start_.actual.end(), actual.begin(), actual.end());
    if (het_start_.fallback.empty()) het_start_.fallback = fallback;
    if (++het_start_.components < records) return;
    actual = std::move(het_start_.actual);
    fallback = std::move(het_start_.fallback);
    het_start_ = {};
  }
  state_.decisions.started(gang_id(job), time(nullptr), std::move(actual), std::move(fallback));
}

// Stock chose, in mode shadow or after a fallback: compare, and change nothing.
void Enforcer::note_stock(job_record_t &job, const PlanTable &table, PlannedJob &planned) {
  const std::vector<Placement> *placements = planned.next();
  const bool shadow = state_.mode == Mode::shadow;
  if (shadow && placements)
    ++(follows(job, *placements) ? state_.statistics.shadow_same : state_.statistics.shadow_other);
  if (placements) ++planned.used;
  if (!shadow) note_in_comment(job, "");
  note_started(job, planned.records, shadow ? "mode shadow" : "");
  debug("harmony: %pJ started as stock chose (round %" PRIu64 ")", &job, table.round);
}

void Enforcer::job_placed(job_record_t &job) {
  // A task of a job array got an id of its own just before this.
  const bool carried = starting_.job && (starting_.job == job.job_id || starting_.job == job.array_job_id);
  const Starting starting = carried ? std::exchange(starting_, {}) : Starting{};
  const auto table = carried ? starting.table : state_.plans();
  // A reconfigured slurmctld allocates anew what runs already.
  if (!table || (!carried && job.start_time < table->taken)) return;
  ++state_.starts;
  if (state_.mode == Mode::enforce) note_in_environment(job, ""); // of an earlier start
  std::uint32_t key = job.job_id;
  PlannedJob *planned = table->find(key);
  if (!planned && job.array_job_id) planned = table->find(key = job.array_job_id);
  if (!planned) return;
  state_.gate.forget(gang_id(job));
  const bool ours = carried && planned->next();
  if (key != job.job_id || planned->copies.size() > 1) { // the last task keeps the array's id
    const Plan plan{starting.placements};
    state_.decisions.copy_as(key, job.job_id, ours ? &plan : nullptr);
    state_.gate.forget(key);
  }
  if (!ours) return note_stock(job, *table, *planned);
  ++planned->used;
  const bool whole = starting.fallback.empty();
  if (whole) ++state_.statistics.plans_used;
  const std::string plan = plan_text(starting.placements);
  if (whole && !planned->hetjob()) note_in_environment(job, plan);
  note_in_comment(job, whole ? fmt::format("{} {}", state_.settings()->policy, plan)
                             : fmt::format("stock chose: {}", starting.fallback));
  note_started(job, planned->records, starting.fallback);
  if (whole) info("harmony: %pJ: plan of round %" PRIu64 " carried out: %s", &job, table->round, plan.c_str());
}

void Enforcer::job_ended(const job_record_t &) {
  ++state_.epoch;
  rounds_.wake();
}

} // namespace harmony
