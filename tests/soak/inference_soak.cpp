// Planning rounds with a real model, outside slurmctld, for as long as told: gangs arrive, are placed by the model on
// its thread, run and end, while CURRENT is switched between versions. Made to be run under ThreadSanitizer and
// valgrind.
//   inference-soak --torch harmony_torch.so --store DIR [--seconds 20] [--nodes 64]
// The store has two versions or more. Exit code 1 if anything is not as it should be.

#include "src/infer/model_source.h"
#include "src/policy/model_rounds.h"
#include "tests/unit/plan_fixtures.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <random>
#include <thread>
#include <unistd.h>

namespace {

using namespace harmony;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string torch, store;
  int seconds = 20, nodes = 64;
};

// A cluster whose jobs start where they were planned and end when their time is over.
class Playground {
public:
  explicit Playground(int nodes) : empty_(fixtures::cluster(nodes, "pcie8")) {}

  void arrive(int count) {
    for (int i = 0; i < count; ++i) {
      Gang gang = fixtures::gang(empty_, ++last_job_, 1 + below(12), below(3));
      gang.type = types_[static_cast<std::size_t>(below(4))];
      gang.model_kb = static_cast<std::uint32_t>(below(800000));
      gang.time_limit_min = static_cast<std::uint32_t>(1 + below(600));
      pending_.push_back(std::move(gang));
    }
  }

  std::shared_ptr<const Snapshot> snapshot() const {
    auto now = std::make_shared<Snapshot>(empty_);
    now->taken = fixtures::now + round_;
    for (const Job &job : running_) occupy(*now, job);
    now->pending = pending_;
    return now;
  }

  // What was planned starts; what ran long enough ends.
  void go_on(const RoundResult &result) {
    ++round_;
    for (const Decision &decision : result.decisions) {
      if (decision.verdict != Verdict::place) continue;
      const auto gang =
          std::find_if(pending_.begin(), pending_.end(), [&](const Gang &one) { return one.job == decision.job; });
      running_.push_back({*gang, decision.plan, round_ + 1 + below(30)});
      pending_.erase(gang);
    }
    running_.erase(
        std::remove_if(running_.begin(), running_.end(), [this](const Job &job) { return job.until <= round_; }),
        running_.end());
  }

  std::size_t pending() const { return pending_.size(); }

private:
  struct Job {
    Gang gang;
    Plan plan;
    int until = 0;
  };

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  static void occupy(Snapshot &snapshot, const Job &job) {
    Running running;
    running.job = job.gang.job;
    running.type = job.gang.type;
    running.model_kb = job.gang.model_kb;
    running.workers = job.gang.workers();
    running.ps = job.gang.ps();
    running.nodes = static_cast<int>(nodes_of(job.plan).size());
    running.ends = snapshot.taken + 60 * (job.until);
    for (const Placement &placement : job.plan.placements) {
      NodeState &node = snapshot.nodes[static_cast<std::size_t>(placement.node)];
      node.free_cores -= placement.cores;
      node.free_gpus -= placement.gpus;
      node.tenants.push_back({static_cast<int>(snapshot.running.size()), placement.workers, placement.ps,
                              placement.cores.count(), placement.gpus});
    }
    snapshot.running.push_back(running);
  }

  const std::vector<std::string> types_{"vgg16", "bert", "resnet50", "odd"};
  const Snapshot empty_;
  std::vector<Gang> pending_;
  std::vector<Job> running_;
  std::mt19937 random_{17};
  std::uint32_t last_job_ = 0;
  int round_ = 0;
};

int soak(const Options &options) {
  Statistics statistics;
  const auto say = [](Loudness loudness, const std::string &line) {
    if (loudness == Loudness::error) fmt::print("{}\n", line);
  };
  ModelSource models(options.torch, "", statistics, say);
  ModelRounds rounds(statistics, say);
  Playground playground(options.nodes);
  ModelStore store(options.store, {geteuid()}, nullptr);
  Settings settings;
  settings.inference_budget_ms = 60000; // valgrind is slow
  settings.round_budget_ms = 60000;
  std::uint64_t number = 0;
  int versions = static_cast<int>(store.list().versions.size()), switches = 0;
  // LibTorch takes its time under valgrind.
  for (int tries = 0; tries < 6000 && !models.model(); ++tries) {
    models.look(options.store, geteuid());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  while (Clock::now() < end) {
    if (number % 50 == 49 && store.use(1 + ++switches % versions).problem.empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    models.look(options.store, geteuid());
    if (playground.pending() < 20) playground.arrive(6);
    playground.go_on(rounds.plan(playground.snapshot(), settings, ++number, models.model(), models.problem()));
  }
  std::uint64_t faults = 0;
  for (std::size_t i = 0; i < statistics.model_faults.size(); ++i)
    if (i != static_cast<std::size_t>(ModelFault::no_model)) faults += statistics.model_faults[i];
  fmt::print("{} rounds, {} decisions by the model, {} faults, {} models loaded, {} refused, {} scores computed, {} "
             "reused\n",
             number, statistics.gangs_by_model.load(), faults, statistics.models_loaded.load(),
             statistics.models_refused.load(), statistics.scores_computed.load(), statistics.scores_reused.load());
  const bool good = statistics.gangs_by_model > 0 && faults == 0 && statistics.models_refused == 0 &&
                    (number < 200 || statistics.models_loaded > 1);
  if (!good) fmt::print(stderr, "inference-soak: not as it should be\n");
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Planning rounds with a model for as long as told.", "inference-soak");
  app.add_option("--torch", options.torch, "harmony_torch.so")->required();
  app.add_option("--store", options.store, "A model store with two versions or more")->required();
  app.add_option("--seconds", options.seconds, "How long");
  app.add_option("--nodes", options.nodes, "How many nodes the cluster has");
  CLI11_PARSE(app, argc, argv);
  return soak(options);
}
