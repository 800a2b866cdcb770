#include "src/learn/judge.h"

#include "src/sim/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace harmony {
namespace {

const std::vector<std::string> &rivals() {
  static const std::vector<std::string> names{
      "stock", "pack",          "spread",       "tetris", "lif", "one-distributed", "one-distributed-soft",
      "cons1", "tiresias-skew", "optimus-even", "random"};
  return names;
}

std::vector<double> run_model(Gym &gym, const std::vector<Arena> &arenas, const Served &served) {
  const std::vector<Episode> episodes = gym.run(arenas, [&](std::size_t) {
    Deciding deciding;
    deciding.types = served.types;
    deciding.reward = served.reward;
    deciding.score = [network = served.network](const JobRow &job, const Rows &rows) {
      return network->score_gangs(job, rows);
    };
    deciding.tasks = served.network;
    return deciding;
  });
  std::vector<double> jcts;
  for (const Episode &each : episodes) jcts.push_back(each.mean_jct_s);
  return jcts;
}

double mean(const std::vector<double> &values) {
  return std::accumulate(values.begin(), values.end(), 0.0) /
         static_cast<double>(std::max<std::size_t>(1, values.size()));
}

Rival rival(const std::string &name, const std::vector<double> &jcts, const std::vector<double> &candidate) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < jcts.size(); ++i) ratios.push_back(std::log(jcts[i] / candidate[i]));
  return {name, mean(jcts), mean_of(ratios)};
}

} // namespace

Verdicts judge(Gym &gym, const Served &candidate, const Served &served, const JudgeOptions &options) {
  std::vector<Arena> arenas;
  for (int seed = 0; seed < options.seeds; ++seed)
    for (Arena &arena : gym.arenas(Gym::Jobs::held_out, options.loads, 90000 + static_cast<std::uint64_t>(seed)))
      arenas.push_back(std::move(arena));
  Verdicts verdicts;
  verdicts.workloads = arenas.size();
  const std::vector<double> mine = run_model(gym, arenas, candidate);
  verdicts.candidate_jct_s = mean(mine);
  const Rival *best = nullptr, *current = nullptr, *general = nullptr;
  verdicts.rivals.reserve(rivals().size() + 1);
  for (std::size_t i = 0; i < rivals().size(); ++i) {
    verdicts.rivals.push_back(rival(rivals()[i], gym.run_policy(arenas, rivals()[i]), mine));
    const Rival &now = verdicts.rivals.back();
    if (!best || now.against.mean < best->against.mean) best = &now;
    options.progress((static_cast<double>(i) + 1) / static_cast<double>(rivals().size() + 1),
                     fmt::format("{} takes {:+.1f} %", now.name, 100 * std::expm1(now.against.mean)));
  }
  if (served.network) {
    verdicts.rivals.push_back(rival(served.in_use ? in_service : shipped, run_model(gym, arenas, served), mine));
    (served.in_use ? current : general) = &verdicts.rivals.back();
  }
  verdicts.best_heuristic = best->name;
  // Beyond the noise against what places jobs today (without a model of its own: stock, packing, or load balancing),
  // and no worse than any heuristic and the shipped model.
  const Rival *today = current;
  for (const Rival &each : verdicts.rivals)
    if (!current && (each.name == "stock" || each.name == "pack" || each.name == "spread") &&
        (!today || each.against.mean - each.against.half < today->against.mean - today->against.half))
      today = &each;
  verdicts.better = today->against.mean - today->against.half > 0 && best->against.mean >= 0 &&
                    (!general || general->against.mean >= 0);
  const auto told = [](const Rival &rival) {
    return fmt::format("{:+.1f} % +- {:.1f}", 100 * std::expm1(-rival.against.mean), 100 * rival.against.half);
  };
  verdicts.why = fmt::format("mean JCT against {}: {}; against the best heuristic, {}: {}",
                             current ? "the model in service" : today->name, told(*today), best->name, told(*best));
  return verdicts;
}

} // namespace harmony
