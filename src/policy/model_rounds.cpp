#include "src/policy/model_rounds.h"

#include "src/values/clock.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace harmony {
namespace {

constexpr std::int64_t a_minute_ms = 60 * 1000;

std::function<bool()> budget(const Settings &settings) {
  return [end = now_ms() + settings.round_budget_ms] { return now_ms() >= end; };
}

} // namespace

struct ModelRounds::Job {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const ReadyModel> model;
  Settings settings;
  std::uint64_t round = 0;
  LearnedTimings timings;
  ModelUse use;
  RoundResult result;

  void run() {
    const auto policy = make_learned(*snapshot, settings, *model, use, timings);
    result = plan_round(*snapshot, *policy, settings, round, budget(settings));
  }
};

void ModelRounds::take_in_service(const std::shared_ptr<const ReadyModel> &model, const Settings &settings) {
  if (model == model_ && settings.breaker_pause_ms == pause_ms_) return;
  pause_ms_ = settings.breaker_pause_ms;
  BreakerLimits limits;
  limits.pause_ms = pause_ms_;
  breaker_ = Breaker(limits);
  if (model == model_) return;
  model_ = model;
  // A stuck one is given up; a new model gets a thread that answers.
  if (worker_.busy() && !worker_.replace())
    say_(Loudness::error, "too many models are stuck in an answer; the new one waits until one of them ends, or "
                          "slurmctld is restarted");
}

RoundResult ModelRounds::by_heuristic(const Snapshot &snapshot, const Settings &settings, std::uint64_t round,
                                      const Unavailable &unavailable) {
  ModelUse use;
  use.breaker = breaker_;
  const auto policy = make_learned_without_model(snapshot, settings, unavailable, use);
  RoundResult result = plan_round(snapshot, *policy, settings, round, budget(settings));
  account(use, settings);
  return result;
}

RoundResult ModelRounds::plan(const std::shared_ptr<const Snapshot> &snapshot, const Settings &settings,
                              std::uint64_t round, const std::shared_ptr<const ReadyModel> &model,
                              const std::string &problem) {
  take_in_service(model, settings);
  waited_in_vain_ms_ = 0;
  if (!model)
    return by_heuristic(*snapshot, settings, round,
                        {ModelFault::no_model, problem.empty() ? "none is in service" : problem});
  if (breaker_.state(now_ms()) == Breaker::State::open) {
    if (worker_.busy()) worker_.run([] {}, std::chrono::milliseconds(0)); // sees to its priority
    return by_heuristic(*snapshot, settings, round,
                        {ModelFault::breaker_open, "the breaker is " + breaker_.text(now_ms())});
  }
  auto job = std::make_shared<Job>();
  job->snapshot = snapshot;
  job->model = model;
  job->settings = settings;
  job->round = round;
  job->timings = {&statistics_.encode, &statistics_.inference, &statistics_.propose};
  job->use.breaker = breaker_;
  DeadlineWorker::Ended ended;
  try {
    ended = worker_.run([job] { job->run(); }, std::chrono::milliseconds(settings.inference_budget_ms));
  } catch (const std::exception &failed) {
    breaker_.fault(now_ms(), ModelFault::failed);
    return by_heuristic(*snapshot, settings, round, {ModelFault::failed, failed.what()});
  }
  if (ended == DeadlineWorker::Ended::in_time) {
    breaker_ = job->use.breaker;
    account(job->use, settings);
    return std::move(job->result);
  }
  if (ended == DeadlineWorker::Ended::late) waited_in_vain_ms_ = settings.inference_budget_ms;
  breaker_.fault(now_ms(), ModelFault::late);
  return by_heuristic(*snapshot, settings, round,
                      {ModelFault::late, ended == DeadlineWorker::Ended::late
                                             ? fmt::format("no answer within {} ms", settings.inference_budget_ms)
                                             : std::string("still busy with a late answer")});
}

void ModelRounds::account(const ModelUse &use, const Settings &settings) {
  statistics_.gangs_by_model += use.by_model;
  statistics_.probes += use.probes;
  statistics_.scores_computed += use.scores_computed;
  statistics_.scores_reused += use.scores_reused;
  const std::string title = model_ ? "model " + model_->title() : std::string("policy learned");
  for (std::size_t cause = 0; cause < use.faults.size(); ++cause) {
    if (use.faults[cause] == 0) continue;
    statistics_.model_faults[cause] += use.faults[cause];
    if (said_[cause] && now_ms() - said_[cause] < a_minute_ms) continue;
    said_[cause] = now_ms();
    say_(Loudness::error,
         fmt::format("{}: {} ({}); policy {} places such gangs, and this is said once a minute", title,
                     use.lines[cause], model_fault_name(static_cast<ModelFault>(cause)), settings.heuristic));
  }
  const std::lock_guard lock(mutex_);
  told_ = breaker_;
}

std::string ModelRounds::breaker() const {
  const std::lock_guard lock(mutex_);
  return told_.text(now_ms());
}

} // namespace harmony
