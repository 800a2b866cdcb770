#include "plugin/slurm_version.h"

#include "plugin/engine/rounds.h"

#include "plugin/engine/border.h"
#include "src/values/clock.h"
#include "src/infer/load_torch.h"
#include "src/plan/planner.h"
#include "src/values/measure.h"
#include "src/values/quiet_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <dlfcn.h>

extern "C" {
#include "src/slurmctld/job_scheduler.h"
}

namespace harmony {
namespace {

void count(Statistics &statistics, const RoundResult &result) {
  ++statistics.rounds;
  statistics.gangs_planned += result.decisions.size();
  statistics.gangs_not_reached += static_cast<std::uint64_t>(result.not_reached);
  if (result.not_reached) ++statistics.rounds_cut;
  for (const Decision &decision : result.decisions) switch (decision.verdict) {
    case Verdict::place: ++statistics.plans_made; break;
    case Verdict::wait: ++statistics.waits; break;
    case Verdict::no_room: ++statistics.no_room; break;
    case Verdict::left_to_stock: ++statistics.left_to_stock; break;
    }
}

using HetComponents = std::unordered_map<std::uint32_t, std::vector<std::uint32_t>>;

HetComponents het_components(const Snapshot &snapshot) {
  HetComponents components;
  for (const Gang &gang : snapshot.pending)
    if (gang.components.size() > 1)
      for (const Component &each : gang.components) components[gang.job].push_back(each.job);
  for (const LeftToStock &left : snapshot.left)
    if (!left.components.empty()) components[left.job] = left.components;
  return components;
}

std::shared_ptr<PlanTable> table_of(const SnapshotTaken &taken, const std::vector<Decision> &decisions,
                                    std::uint64_t round, std::uint64_t starts) {
  auto table = std::make_shared<PlanTable>(make_plan_table(decisions, het_components(taken.snapshot)));
  table->round = round;
  table->taken = taken.snapshot.taken;
  table->epoch = taken.snapshot.epoch;
  table->usable = taken.usable;
  table->starts = starts;
  return table;
}

// Whether the main scheduler could start something that it could not before; hetjobs are backfill's alone.
bool has_news(const PlanTable &table, const PlanTable *before) {
  return std::any_of(table.jobs.begin(), table.jobs.end(), [before](const auto &entry) {
    const auto &[job, planned] = entry;
    if (!planned.next() || planned.hetjob()) return false;
    if (!before) return true;
    const auto known = before->jobs.find(job);
    return known == before->jobs.end() || !known->second.next();
  });
}

std::string torch_library_beside_us() {
  Dl_info us;
  if (!dladdr(reinterpret_cast<void *>(&torch_library_beside_us), &us) || !us.dli_fname) return torch_library_file;
  const std::string file = us.dli_fname;
  const std::size_t slash = file.rfind('/');
  return slash == std::string::npos ? torch_library_file : file.substr(0, slash + 1) + torch_library_file;
}

void say(Loudness loudness, const std::string &line) {
  if (loudness == Loudness::error)
    error("harmony: %s", line.c_str());
  else
    info("harmony: %s", line.c_str());
}

// How long the planning of a round may take, at most.
std::int64_t longest_planning_ms(const Settings &settings) {
  return settings.round_budget_ms + (settings.policy == learned_policy ? settings.inference_budget_ms : 0);
}

} // namespace

Rounds::Rounds(PlannerState &state)
    : state_(state), models_(torch_library_beside_us(), shipped_model, state.statistics, say),
      model_rounds_(state.statistics, say) {}

// A job that is held wakes the rounds, so the next one begins after MinInterval, or after the pause that a long one
// before it takes, and ends within its budget.
void PlannerState::set_gate(const Settings &settings, std::int64_t pause_ms) {
  const std::int64_t between = std::max<std::int64_t>(settings.min_interval_ms, pause_ms);
  gate.set_limits({between + settings.min_interval_ms + 2 * longest_planning_ms(settings) + 2000,
                   std::int64_t{1000} * std::max(settings.max_wait_s, 2)});
}

void PlannerState::set_settings(const Settings &settings) {
  std::atomic_store(&settings_, std::shared_ptr<const Settings>(std::make_shared<Settings>(settings)));
  set_gate(settings, 0);
  decisions.set_limit(settings.keep_decisions);
}

void Rounds::start() {
  const std::lock_guard lock(mutex_);
  stopping_ = false;
  running_ = true;
  if (alive_) return; // also one that did not end when it was told to: it goes on
  last_sign_of_life_ = now_ms();
  thread_ = quiet_thread([this] { run(); });
  alive_ = true;
}

// slurmctld saves its state after this, so a thread that hangs (in a model, or a file system) is left behind: what it
// uses is never destroyed.
void Rounds::stop() {
  constexpr std::chrono::seconds patience(5);
  std::unique_lock lock(mutex_);
  stopping_ = true;
  changed_.notify_all();
  const bool ended = ended_thread_.wait_for(lock, patience, [this] { return !alive_; });
  std::thread thread = std::move(thread_);
  lock.unlock();
  if (thread.joinable()) ended ? thread.join() : thread.detach();
  if (!ended) error("harmony: the planning thread does not end; it is left alone");
  running_ = false;
  // The process must not exit while LibTorch is being opened.
  for (int tries = 0; ended && tries < 300 && models_.is_loading(); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

void Rounds::wake() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  changed_.notify_one();
}

// However short MinInterval is, planning leaves nine tenths of a core alone, unless Interval is over.
std::int64_t Rounds::pause_ms(const Settings &settings) const {
  return std::max<std::int64_t>(settings.min_interval_ms,
                                std::min<std::int64_t>(settings.interval_ms, 10 * planned_for_));
}

std::string Rounds::unwell() const {
  if (!running_) return "the planning rounds are not running";
  const auto settings = state_.settings();
  const std::int64_t silent = now_ms() - last_sign_of_life_;
  const std::int64_t rest = begun_ > ended_ ? 0 : settings->interval_ms; // within a round, or between two
  const std::int64_t patience = rest + 3 * longest_planning_ms(*settings) + 10000;
  return silent > patience ? fmt::format("no sign of a planning round for {} s", silent / 1000) : "";
}

// False when it is time to end.
bool Rounds::wait_for_next() {
  const auto settings = state_.settings();
  std::unique_lock lock(mutex_);
  const auto until = [](std::int64_t ms) {
    return std::chrono::steady_clock::time_point(std::chrono::milliseconds(ms));
  };
  changed_.wait_until(lock, until(last_begin_ + settings->interval_ms), [this] { return woken_ || stopping_; });
  // A change of MinInterval counts at once.
  for (;;) {
    const std::int64_t pause = pause_ms(*state_.settings());
    const std::int64_t left = last_begin_ + pause - now_ms();
    if (left <= 0 || stopping_) break;
    changed_.wait_for(lock, std::chrono::milliseconds(std::min<std::int64_t>(left, 100)));
  }
  woken_ = false;
  if (!stopping_) return true;
  alive_ = false;
  ended_thread_.notify_all();
  return false;
}

void Rounds::run() {
  WallLog wall;
  while (wait_for_next()) {
    last_begin_ = last_sign_of_life_ = now_ms();
    if (state_.mode != Mode::off)
      guarded(wall, "planning round", "the plans of the round before stay", [this] { round(); });
    else
      state_.publish(nullptr);
    last_sign_of_life_ = now_ms();
  }
}

void Rounds::record(const std::vector<Decision> &decisions) {
  constexpr std::int64_t an_hour = 3600 * 1000;
  state_.gate.forget_silent_since(now_ms() - an_hour);
  for (const Decision &decision : decisions) state_.decisions.decided(decision);
}

RoundResult Rounds::plan(const std::shared_ptr<const SnapshotTaken> &taken, const Settings &settings,
                         std::uint64_t number) {
  const std::shared_ptr<const Snapshot> snapshot(taken, &taken->snapshot);
  if (settings.policy == learned_policy)
    return model_rounds_.plan(snapshot, settings, number, models_.model(), models_.problem());
  const std::int64_t end = now_ms() + settings.round_budget_ms;
  return plan_round(*snapshot, *make_policy(settings.policy), settings, number, [end] { return now_ms() >= end; });
}

void Rounds::round() {
  Statistics &statistics = state_.statistics;
  const Measure whole(statistics.round);
  const auto settings = state_.settings();
  const auto nodes = state_.nodes.nodes();
  if (!nodes) return wake(); // slurmctld has only just started; the node watch is at it
  const std::uint64_t number = ++begun_;
  std::uint64_t starts = 0;
  if (settings->policy == learned_policy) models_.look(settings->model_store, state_.slurm_user);
  auto fresh = std::make_shared<SnapshotTaken>(taker_.take(*nodes, *settings, [this, &starts] {
    starts = state_.starts;
    return state_.epoch.load();
  }));
  holds_.tell(fresh->snapshot.pending);
  if (!fresh->claims.empty() && state_.claims_seen) state_.claims_seen(std::move(fresh->claims));
  const std::shared_ptr<const SnapshotTaken> taken = std::move(fresh);
  statistics.lock.add(taken->lock_ns);
  statistics.snapshot.add(taken->all_ns);

  RoundResult result;
  {
    const Measure planning(statistics.plan);
    const std::int64_t begin = now_ms();
    result = plan(taken, *settings, number);
    // Waiting for a model is no work.
    planned_for_ = now_ms() - begin - (settings->policy == learned_policy ? model_rounds_.waited_in_vain_ms() : 0);
  }
  holds_.remember(taken->snapshot, result.decisions);
  state_.set_gate(*settings, pause_ms(*settings));
  count(statistics, result);
  const auto before = state_.plans();
  {
    const Measure publishing(statistics.publish);
    record(result.decisions);
    state_.publish(table_of(*taken, result.decisions, number, starts));
  }
  ended_ = number;
  statistics.last_round = time(nullptr);
  const bool wanted = state_.schedule_wanted.exchange(false);
  if (state_.mode == Mode::enforce && (wanted || has_news(*state_.plans(), before.get()))) schedule(false);
}

} // namespace harmony
