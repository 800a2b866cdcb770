#include "plugin/slurm_version.h"

#include "plugin/engine/observation.h"

#include "plugin/engine/border.h"
#include "plugin/engine/held_nodes.h"
#include "plugin/engine/slurm_values.h"
#include "src/observe/claim.h"
#include "src/observe/usage.h"
#include "src/values/clock.h"
#include "src/values/measure.h"
#include "src/values/quiet_thread.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace harmony {
namespace {

constexpr std::size_t most_events = 100000;     // a few hundred bytes each,
constexpr std::size_t most_usage_events = 2000; // but of these a few kB
constexpr double shortest_interval_s = 0.5, longest_interval_s = 300;
constexpr int look_every_ms = 10000;

Moment moment_now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(since_1970).count(), static_cast<double>(now_ns()) / 1e9};
}

void say(bool is_error, const std::string &line) {
  if (is_error)
    error("harmony: %s", line.c_str());
  else
    info("harmony: %s", line.c_str());
}

std::string key_of(const StepUsage &usage) {
  return fmt::format("{}.{} {} {}", usage.job, usage.step, usage.begin_s, usage.seconds);
}

} // namespace

Observation::Observation(PlannerState &state, Rounds &rounds)
    : state_(state), rounds_(rounds), writer_(say), began_(moment_now()),
      observer_([this](const Record &record) { writer_.put(record); }, shortest_interval_s) {}

void Observation::set(const Settings &settings, Mode mode, const std::string &cluster) {
  const bool wanted = mode != Mode::off && !settings.dataset.empty();
  if (!wanted && !wanted_) return;
  DatasetOptions options;
  options.directory = wanted ? settings.dataset : "";
  options.cluster = cluster;
  options.users = settings.dataset_users;
  options.most_bytes = settings.dataset_max_bytes;
  options.file_bytes = std::min(options.file_bytes, std::max<std::uint64_t>(settings.dataset_max_bytes / 8, 1 << 16));
  add(NewOptions{options});
  wanted_ = wanted;
  if (!wanted) return;
  {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable()) thread_ = quiet_thread([this] { run(); });
  }
  look_at_running();
}

// An event that is lost leaves what is followed wrong: it is looked at anew as soon as there is room.
template <class What> void Observation::add(What what) {
  constexpr bool is_usage = std::is_same_v<What, UsageSeen>;
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() >= most_events || (is_usage && usage_waiting_ >= most_usage_events)) {
      ++state_.statistics.events_lost;
      lost_ = lost_ || !is_usage;
      return;
    }
    events_.push_back({moment_now(), std::move(what)});
    if (is_usage) ++usage_waiting_;
  }
  changed_.notify_one();
}

// Of jobs that run already no hook tells when slurmctld begins or when we are turned on; those that are followed stay
// as they are.
void Observation::look_at_running() {
  RunningNow running;
  for_each<job_record_t>(job_list, [this, &running](job_record_t &job) {
    if (!holds_resources(&job)) return;
    JobPlaced placed = placed_job(job, *state_.settings());
    placed.ran_before = true;
    running.records.insert(job.job_id);
    add(std::move(placed));
  });
  add(std::move(running));
}

void Observation::make_up_for_losses() {
  if (!lost_) return;
  {
    const std::lock_guard lock(mutex_);
    if (events_.size() > most_events / 4) return;
  }
  lost_ = false;
  look_at_running();
}

void Observation::job_placed(const job_record_t &job) {
  constexpr std::time_t at_once_s = 60;
  if (!wanted_ || !holds_resources(&job)) return;
  const Measure measure(state_.statistics.observe);
  make_up_for_losses();
  JobPlaced placed = placed_job(job, *state_.settings());
  placed.ran_before =
      std::time(nullptr) - job.start_time > at_once_s; // a reconfigured slurmctld allocates anew what runs
  add(std::move(placed));
}

void Observation::job_ended(const job_record_t &job) {
  if (!wanted_) return;
  const Measure measure(state_.statistics.observe);
  add(freed_job(job));
}

void Observation::claims_seen(std::vector<ClaimSeen> claims) {
  if (!wanted_) return;
  for (ClaimSeen &claim : claims) add(std::move(claim));
}

void Observation::usage_seen(std::string node, std::string extra) {
  if (wanted_) add(UsageSeen{std::move(node), std::move(extra)});
}

void Observation::flush(int milliseconds) {
  const std::int64_t end = now_ms() + milliseconds;
  if (!wanted_) return;
  add(CutIntervals{}); // the next slurmctld begins new ones
  {
    std::unique_lock lock(mutex_);
    while ((!events_.empty() || busy_) && thread_.joinable() && now_ms() < end)
      changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  writer_.flush(static_cast<int>(std::max<std::int64_t>(100, end - now_ms())));
}

void Observation::run() {
  WallLog wall;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait_for(lock, std::chrono::milliseconds(look_every_ms), [this] { return !events_.empty(); });
    if (!state_.nodes.nodes()) { // slurmctld has only just started; the node watch is at it
      changed_.wait_for(lock, std::chrono::milliseconds(50));
      continue;
    }
    busy_ = true;
    std::deque<Event> events = std::exchange(events_, {});
    usage_waiting_ = 0;
    lock.unlock();
    for (Event &event : events) guarded(wall, "observing", "the record is left out", [this, &event] { handle(event); });
    guarded(wall, "observing", "going on", [this] { observer_.cut_longer_than(longest_interval_s, moment_now()); });
    followed_ = observer_.followed();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void Observation::handle(Event &event) {
  follow_files();
  std::visit([this, &event](auto &what) { take(what, event.at); }, event.what);
}

// A new file names its nodes anew. The first one after other options is being begun with what is put now.
void Observation::follow_files() {
  const std::uint64_t generation = writer_.figures().generation;
  if (generation <= generation_) return;
  generation_ = generation;
  observer_.name_nodes_again();
}

std::vector<HeldNode> Observation::nodes_of(const JobPlaced &placed) const {
  std::vector<HeldNode> all;
  const auto nodes = state_.nodes.nodes();
  if (!nodes) return all;
  for (const HeldOn &held : held_on_nodes(*placed.held, *nodes)) {
    const NodeHardware &hardware = (*nodes)[static_cast<std::size_t>(held.node)];
    HeldNode node;
    node.tasks.node = hardware.name;
    node.tasks.workers = held.workers;
    node.tasks.ps = held.ps;
    node.tasks.cores = held.cores;
    node.tasks.gpus = held.gpus;
    node.cores = held.cores.count();
    node.node_cores = hardware.cores;
    node.node_gpus = hardware.gpus;
    if (hardware.topology)
      node.topology = std::shared_ptr<const Topology>(hardware.topology, &hardware.topology->topology);
    all.push_back(std::move(node));
  }
  return all;
}

// Not one on an earlier run: a requeued job may start before any round saw it.
std::optional<DecisionRecord> Observation::decision_on(const JobPlaced &placed) const {
  auto record = state_.decisions.find(placed.gang);
  if (record && record->outcome_at != 0 && record->outcome_at < placed.started - 1) record.reset();
  return record;
}

StartRecord Observation::start_of(const JobPlaced &placed, const Moment &at) {
  StartRecord start;
  start.id = {options_.cluster, placed.gang, placed.run};
  const double started = static_cast<double>(placed.started);
  start.resumed = placed.ran_before;
  start.array_job = placed.array_job;
  start.array_task = placed.array_task;
  start.user_id = placed.user;
  start.type = placed.description.type;
  start.epochs = placed.description.epochs;
  start.model_kb = placed.description.model_kb;
  start.cpus_per_task = placed.cpus_per_task;
  start.time_limit_min = placed.time_limit_min;
  start.submit_s = static_cast<double>(placed.submitted);
  start.begin_s = start.resumed ? started : at.wall_s; // Slurm counts whole seconds
  const auto decision = decision_on(placed);
  if (start.resumed || !decision) {
    start.why_stock =
        start.resumed ? "not known: it was running when observing began" : "no planning round decided on it";
    return start;
  }
  start.policy = decision->decision.policy;
  start.by_plan = decision->outcome == Outcome::used;
  if (!start.by_plan)
    start.why_stock = decision->outcome_text.empty() ? decision->decision.reason : decision->outcome_text;
  if (start.policy == learned_policy) start.model = rounds_.model();
  if (decision->decision.verdict == Verdict::place) start.predicted_speed = decision->decision.predicted_speed;
  return start;
}

std::optional<ShadowRecord> Observation::shadow_of(const JobPlaced &placed) {
  if (state_.mode != Mode::shadow) return std::nullopt;
  const auto record = decision_on(placed);
  if (!record) return std::nullopt;
  const Decision &decision = record->decision;
  ShadowRecord shadow;
  shadow.type = placed.description.type;
  shadow.policy = decision.policy;
  if (decision.policy == learned_policy) shadow.model = rounds_.model();
  shadow.verdict = verdict_name(decision.verdict);
  shadow.reason = decision.reason;
  shadow.decided_s = static_cast<double>(decision.decided);
  shadow.same = record->same_as_plan;
  for (const Placement &placement : decision.plan.placements) shadow.plan.push_back(tasks_at(placement));
  if (decision.verdict == Verdict::place) shadow.predicted_speed = decision.predicted_speed;
  return shadow;
}

void Observation::take(JobPlaced &placed, const Moment &at) {
  JobBegan began;
  began.record = placed.record;
  began.records = placed.records;
  began.managed = placed.held->running.managed;
  began.nodes = nodes_of(placed);
  if (began.managed) {
    began.start = start_of(placed, at);
    if (!began.start.resumed) began.shadow = shadow_of(placed);
  } else {
    began.start.id = {options_.cluster, placed.gang, placed.run};
    began.start.type = placed.description.type;
    began.start.begin_s = static_cast<double>(placed.started);
  }
  if (!placed.ran_before) began.old_claim = read_claim_field(placed.claim).claim;
  observer_.began(std::move(began), at);
  if (placed.ran_before) take_claim(placed.gang, placed.claim);
}

void Observation::take(JobFreed &freed, const Moment &at) {
  take_claim(freed.gang, freed.claim);
  JobEnded ended;
  ended.gang = freed.gang;
  ended.record = freed.record;
  ended.state = freed.state;
  ended.requeued = freed.requeued;
  ended.exit_code = freed.exit_code;
  ended.started_s = static_cast<double>(freed.started);
  ended.suspended_s = freed.suspended_s;
  ended.resized = freed.resized;
  observer_.ended(ended, at);
}

void Observation::take_claim(std::uint32_t gang, const std::string &text) {
  if (text.empty()) return;
  const ClaimField field = read_claim_field(text);
  if (!field.problem.empty()) ++state_.statistics.claims_refused;
  if (!field.claim) return;
  if (observer_.claimed(gang, *field.claim)) ++state_.statistics.claims_taken;
}

void Observation::take(ClaimSeen &seen, const Moment &) { take_claim(seen.gang, seen.text); }

// A field keeps its last marks, so most of them are old; those from before slurmctld's start all are.
void Observation::take(UsageSeen &seen, const Moment &) {
  const UsageField field = read_usage_field(seen.extra, seen.node);
  const auto [known, first] = usage_known_.emplace(seen.node, std::vector<std::string>());
  std::vector<std::string> now;
  for (const StepUsage &usage : field.usages) {
    now.push_back(key_of(usage));
    const bool before_us = first && static_cast<double>(usage.begin_s) + usage.seconds < began_.wall_s;
    const bool old =
        before_us || std::find(known->second.begin(), known->second.end(), now.back()) != known->second.end();
    if (!old && observer_.used(usage)) ++state_.statistics.usages_taken;
  }
  known->second = std::move(now);
}

void Observation::take(RunningNow &running, const Moment &) { observer_.keep_only(running.records); }

void Observation::take(NewOptions &change, const Moment &) {
  if (change.options.directory != options_.directory) {
    observer_.name_nodes_again();
    generation_ = writer_.figures().generation + 1;
  }
  options_ = change.options;
  if (options_.directory.empty()) observer_.keep_only({});
  writer_.set_options(options_);
}

void Observation::take(CutIntervals &, const Moment &at) { observer_.cut_longer_than(0, at); }

} // namespace harmony
