// The budgets of planning with a model, with real inference, in CPU time of one thread: rows of tests/bench/run's
// table.
//   learned-bench --torch harmony_torch.so --model models/shipped

#include "src/encode/encoder.h"
#include "src/encode/schema.h"
#include "src/infer/model_source.h"
#include "src/plan/planner.h"
#include "src/policy/learned.h"
#include "src/store/model_store.h"
#include "tests/bench/clusters.h"
#include "tests/unit/linear_model.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

namespace {

using namespace harmony;

// Of this process: what else the machine does is not counted.
double cpu_ms() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double ms_of(const std::function<void()> &what) {
  const double begin = cpu_ms();
  what();
  return cpu_ms() - begin;
}

std::string only; // part of a row's name

bool wanted(const std::string &what) { return what.find(only) != std::string::npos; }

void row(const std::string &what, const std::string &figure, const std::string &target) {
  fmt::print("{:<56} {:>14}   {}\n", what, figure, target);
  std::fflush(stdout);
}

// With every range allowed: clusters of this size are out of what it was trained on.
ReadyModel load(const std::string &torch, const std::string &directory) {
  Trust anybody;
  anybody.anybody = true;
  const Prepared prepared =
      prepare_model(ModelStore(directory, anybody, schema_problem).verify_directory(directory), torch);
  if (!prepared.model) throw std::runtime_error(prepared.problem);
  ReadyModel ready = *prepared.model;
  ready.manifest = fixtures::manifest(ready.manifest.types);
  return ready;
}

int planned_by_model(const Snapshot &snapshot, const ReadyModel &model, bool may_wait) {
  ModelUse use;
  Settings settings;
  if (!may_wait) settings.max_wait_s = 0;
  const auto policy = make_learned(snapshot, settings, model, use);
  plan_round(snapshot, *policy, settings, 1, [] { return false; });
  return static_cast<int>(use.by_model);
}

// A whole round: the copy of the cluster, its features, the gang.
void gang_of_16_tasks(const ReadyModel &model, const char *state, clusters::State cluster_of, int nodes) {
  const std::string what = fmt::format("a 16-task gang by a model, {} nodes, {}: p99", nodes, state);
  if (!wanted(what)) return;
  Snapshot snapshot = cluster_of(nodes);
  snapshot.pending.push_back(fixtures::gang(snapshot, 1, 12, 4));
  std::vector<double> times;
  int by_model = 0;
  for (int i = 0; i < (nodes > 2000 ? 100 : 300); ++i)
    times.push_back(ms_of([&] { by_model += planned_by_model(snapshot, model, false); }));
  std::sort(times.begin(), times.end());
  row(what, by_model ? fmt::format("{:.2f} ms", times[times.size() * 99 / 100]) : "not placed",
      nodes > 2000 ? "<= 50 ms" : "<= 5 ms");
}

// `may_wait`: as many as the model lets wait leave the cluster to those behind them, so that a round takes longer.
void round_of_4000_gangs(const ReadyModel &model, const char *state, clusters::State cluster_of, bool may_wait) {
  const std::string what = fmt::format(
      "{}, {}", may_wait ? "  the same, and they may wait" : "4,000 gangs of 100,000 tasks by a model", state);
  if (!wanted(what)) return;
  Snapshot snapshot = cluster_of(16000);
  for (std::uint32_t job = 1; job <= 4000; ++job) {
    const int tasks = 10 + static_cast<int>(job % 31); // 25 on average
    snapshot.pending.push_back(fixtures::gang(snapshot, job, tasks - tasks / 5, tasks / 5));
  }
  int by_model = 0;
  const double ms = ms_of([&] { by_model = planned_by_model(snapshot, model, may_wait); });
  row(what, fmt::format("{:.2f} s", ms / 1000), fmt::format("<= 5 s; {} decided by the model", by_model));
}

void encoding(const char *state, clusters::State cluster_of, const std::vector<std::string> &types) {
  const std::string what = fmt::format("16,000 nodes encoded after one job changed, {}", state);
  if (!wanted(what)) return;
  const Snapshot snapshot = cluster_of(16000);
  Cluster cluster(snapshot);
  const TypeIndex index(types);
  const double all = ms_of([&] { Encoder(cluster, index); });
  Encoder encoder(cluster, index);
  const Gang gang = fixtures::gang(snapshot, 1, 2);
  double worst = 0;
  for (int i = 0; i < 20; ++i) {
    const Proposal proposal = make_policy("spread")->propose(cluster, gang, false);
    if (proposal.verdict != Verdict::place) break;
    cluster.start(gang, proposal.plan);
    worst = std::max(worst, ms_of([&] { encoder.update(); }));
  }
  row(what, fmt::format("{:.3f} ms", worst), "<= 1 ms");
  row(fmt::format("  all of them, {} different states", encoder.distinct()), fmt::format("{:.1f} ms", all), "");
}

} // namespace

int main(int argc, char **argv) {
  std::string torch, file;
  CLI::App app("Measures planning with a model.", "learned-bench");
  app.add_option("--torch", torch, "harmony_torch.so")->required();
  app.add_option("--model", file, "A directory with model.pt, manifest.json and MODEL_CARD.md")
      ->required()
      ->transform([](const std::string &path) { return std::filesystem::absolute(path).lexically_normal().string(); });
  app.add_option("--only", only, "Rows whose names contain this");
  CLI11_PARSE(app, argc, argv);
  try {
    const ReadyModel model = load(torch, file);
    for (const auto &[name, cluster_of] : clusters::states) {
      for (const int nodes : {1000, 16000}) gang_of_16_tasks(model, name, cluster_of, nodes);
      for (const bool may_wait : {false, true}) round_of_4000_gangs(model, name, cluster_of, may_wait);
      encoding(name, cluster_of, model.manifest.types);
    }
  } catch (const std::exception &failed) {
    fmt::print(stderr, "learned-bench: {}\n", failed.what());
    return 1;
  }
}
