#include "src/learn/trainer.h"

#include "src/encode/schema.h"
#include "src/learn/replay.h"
#include "src/learn/search.h"
#include "src/learn/start_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace harmony {
namespace {

ScoreGangs linear(std::vector<float> weights) {
  return [weights = std::move(weights)](const JobRow &, const Rows &rows) {
    std::vector<float> scores;
    const auto width = static_cast<std::size_t>(rows.width);
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row) {
      float sum = 0;
      for (std::size_t i = 0; i < width; ++i) sum += weights[i] * rows.values[row * width + i];
      scores.push_back(sum);
    }
    return scores;
  };
}

} // namespace

void FeatureSpan::add(const float *row, std::size_t width) {
  if (low.empty()) {
    low.assign(row, row + width);
    high = low;
  }
  for (std::size_t i = 0; i < width; ++i) {
    low[i] = std::min(low[i], row[i]);
    high[i] = std::max(high[i], row[i]);
  }
}

const std::vector<std::string> &teachers() {
  static const std::vector<std::string> names{"pack", "cons1",        "one-distributed", "one-distributed-soft",
                                              "lif",  "optimus-even", "spread"};
  return names;
}

namespace {

class Trainer {
public:
  Trainer(Gym &gym, const std::vector<std::string> &types, std::shared_ptr<const RewardNetwork> reward,
          const std::vector<float> &start, const TrainerOptions &options)
      : gym_(gym), types_(types), reward_(std::move(reward)), options_(options),
        width_(static_cast<std::size_t>(shape_for(types).gang)), weights_(width_, 0) {
    for (const Start &each : starts) weights_[each.column] = static_cast<float>(each.weight);
    if (start.size() >= static_cast<std::size_t>(gang_column::count))
      for (const Start &each : starts) weights_[each.column] = start[each.column];
  }

  TrainedPolicy run() {
    for (const std::uint64_t seed : {500, 501})
      for (Arena &arena : gym_.arenas(Gym::Jobs::train, options_.loads, options_.seed + seed))
        validation_.push_back(std::move(arena));
    begin();
    look_at_heuristics();
    if (options_.warm_start) search();
    result_.network = std::make_unique<PolicyNetwork>(static_cast<int>(types_.size()) + 1, options_.seed);
    warm_start();
    actor_critic();
    return std::move(result_);
  }

private:
  Deciding deciding(ScoreGangs score) const {
    Deciding made;
    made.types = types_;
    made.reward = reward_;
    made.score = std::move(score);
    return made;
  }

  std::vector<double> run_linear(const std::vector<Arena> &arenas, const std::vector<float> &weights) {
    return gym_.run_all(arenas, 1, [&](std::size_t) { return deciding(linear(weights)); }).front();
  }

  // The better of two beginnings.
  void begin() {
    reference_ = run_linear(validation_, weights_);
    std::vector<float> other = weights_;
    for (const Start &each : starts) other[each.column] = static_cast<float>(each.like_cons1);
    const std::vector<double> jcts = run_linear(validation_, other);
    if (against(jcts, reference_) >= 0) return;
    weights_ = other;
    reference_ = jcts;
  }

  // The least of some heuristics in each arena: what a policy must not be worse than anywhere.
  std::vector<double> least(const std::vector<Arena> &arenas) {
    std::vector<double> jcts;
    for (const char *rule : {"cons1", "one-distributed", "pack"}) take_least(jcts, gym_.run_policy(arenas, rule));
    return jcts;
  }
  static void take_least(std::vector<double> &least, const std::vector<double> &jcts) {
    if (least.empty()) least = jcts;
    for (std::size_t i = 0; i < jcts.size(); ++i) least[i] = std::min(least[i], jcts[i]);
  }

  void look_at_heuristics() {
    double best = 0;
    for (std::size_t i = 0; i < teachers().size() && (i == 0 || !options_.stop()); ++i) {
      const std::vector<double> jcts = gym_.run_policy(validation_, teachers()[i]);
      const double off = against(jcts, reference_);
      take_least(least_, jcts);
      result_.heuristics.emplace_back(teachers()[i], off);
      options_.progress(
          "heuristics", (static_cast<double>(i) + 1) / static_cast<double>(teachers().size()),
          fmt::format("{} {:+.1f} % against the scorer to begin with", teachers()[i], 100 * std::expm1(off)));
      if (!result_.best_heuristic.empty() && off >= best) continue;
      best = off;
      result_.best_heuristic = teachers()[i];
      best_jcts_ = jcts;
    }
  }

  std::vector<float> with(const std::vector<double> &searched) const {
    std::vector<float> all = weights_;
    for (std::size_t i = 0; i < std::size(starts); ++i) all[starts[i].column] = static_cast<float>(searched[i]);
    return all;
  }

  void search() {
    std::vector<double> centre, deviations;
    for (const Start &each : starts) {
      centre.push_back(static_cast<double>(weights_[each.column]));
      deviations.push_back(std::max(each.deviation, 0.3 * std::abs(centre.back())));
    }
    // Workloads differ more than candidates do: a cloud as wide as one would like follows the noise.
    for (double &each : deviations) each *= 0.5;
    Search search(centre, deviations, options_.population, options_.seed);
    Curve curve{"search: mean JCT on validation workloads, relative to the best heuristic", "", {}};
    std::vector<float> best = weights_;
    double best_cost = cost_against(reference_, least_);
    result_.against_best = against(reference_, best_jcts_);
    const int every = std::max(4, options_.generations / 40); // validated
    for (int generation = 0; generation < options_.generations && !options_.stop(); ++generation) {
      const std::vector<Arena> arenas = gym_.arenas(
          Gym::Jobs::train,
          {options_.loads[static_cast<std::size_t>(generation) % options_.loads.size()], options_.loads.back()},
          options_.seed + 1000 + static_cast<std::uint64_t>(generation));
      const auto &candidates = search.candidates();
      const auto jcts = gym_.run_all(arenas, candidates.size(),
                                     [&](std::size_t way) { return deciding(linear(with(candidates[way]))); });
      const std::vector<double> to_beat = least(arenas);
      std::vector<double> costs;
      for (const std::vector<double> &each : jcts) costs.push_back(cost_against(each, to_beat));
      search.told(costs);
      result_.episodes += candidates.size() * arenas.size();
      if ((generation + 1) % every && generation + 1 < options_.generations) continue;
      const std::vector<float> now = with(search.centre());
      const std::vector<double> reached = run_linear(validation_, now);
      const double off = against(reached, best_jcts_), cost = cost_against(reached, least_);
      curve.points.emplace_back(generation + 1, std::exp(off));
      if (cost < best_cost) {
        best_cost = cost;
        best = now;
        result_.against_best = off;
      }
      options_.searched(best, {curve});
      options_.progress("search", (generation + 1.0) / options_.generations,
                        fmt::format("{:+.1f} % against {} (best {:+.1f} %)", 100 * std::expm1(off),
                                    result_.best_heuristic, 100 * std::expm1(result_.against_best)));
    }
    weights_ = best;
    kept_cost_ = best_cost;
    result_.kept = "search";
    result_.curves.push_back(std::move(curve));
  }

  // Experiences of the scorer as it is, for the networks to imitate; the spans of features come from these, too.
  std::vector<Experience> lessons(const ScoreGangs &score, std::uint64_t seed) {
    const std::vector<Arena> arenas = gym_.arenas(Gym::Jobs::train, options_.loads, seed);
    std::vector<Experience> all;
    for (Episode &episode : gym_.run(arenas, [&](std::size_t i) {
           Deciding made = deciding(score);
           made.record = made.record_tasks = true;
           made.seed = seed + i;
           return made;
         })) {
      for (Experience &each : episode.experiences) {
        span(each);
        all.push_back(std::move(each));
      }
      ++result_.episodes;
    }
    return all;
  }

  void span(const Experience &each) {
    result_.job.add(each.job.features.data(), each.job.features.size());
    FeatureSpan &rows = each.level == Level::gang ? result_.gangs : result_.candidates;
    const auto width = static_cast<std::size_t>(each.rows.width);
    for (std::size_t row = 0; row < static_cast<std::size_t>(each.rows.count); ++row)
      rows.add(each.rows.values.data() + row * width, width);
  }

  // Scores decide by which is larger; to be drawn by, the best should be a few ahead of the second on average.
  void scale_weights(const std::vector<Experience> &all, const ScoreGangs &score) {
    double gaps = 0;
    int count = 0;
    for (const Experience &each : all) {
      if (each.level != Level::gang || count > 2000) continue;
      std::vector<float> scores = score(each.job, each.rows);
      std::partial_sort(scores.begin(), scores.begin() + 2, scores.end(), std::greater<>());
      gaps += static_cast<double>(scores[0] - scores[1]);
      ++count;
    }
    const double wanted = 3, mean = count ? gaps / count : 0;
    if (mean <= 1e-6) return;
    for (float &each : weights_) each *= static_cast<float>(std::clamp(wanted / mean, 0.1, 100.0));
  }

  void warm_start() {
    const std::vector<Experience> all = lessons(linear(weights_), options_.seed + 2000);
    if (options_.warm_start) {
      scale_weights(all, linear(weights_));
      result_.network->set_gang_weights(weights_);
    } else {
      result_.kept = "nothing";
      kept_cost_ = std::numeric_limits<double>::max(); // whatever is trained is better than no training
    }
    Replay tasks(20000);
    for (const Experience &each : all)
      if (each.level == Level::task) tasks.add(each);
    Curve curve{"warm start: cross-entropy of tasks", "", {}};
    Random random(options_.seed, "imitation");
    const int batches = options_.warm_start && tasks.size() > 0 ? 300 : 0;
    double loss = 0;
    for (int i = 0; i < batches && !options_.stop(); ++i) {
      loss += result_.network->imitate(tasks.draw(128, random), 2e-3);
      if ((i + 1) % 50) continue;
      curve.points.emplace_back(i + 1, loss / 50);
      options_.progress("warm start", (i + 1.0) / batches, fmt::format("cross-entropy {:.3f}", loss / 50));
      loss = 0;
    }
    result_.curves.push_back(std::move(curve));
    last_ = result_.network->copy();
  }

  std::vector<double> validate(PolicyNetwork &network) {
    const std::vector<Episode> episodes = gym_.run(validation_, [&](std::size_t) {
      Deciding made =
          deciding([&network](const JobRow &job, const Rows &rows) { return network.score_gangs(job, rows); });
      made.tasks = &network;
      return made;
    });
    std::vector<double> jcts;
    for (const Episode &each : episodes) jcts.push_back(each.mean_jct_s);
    return jcts;
  }

  // Fills the replay with episodes of the policy as it is.
  void explore(Replay &gangs, Replay &tasks, int iteration) {
    std::vector<Arena> arenas =
        gym_.arenas(Gym::Jobs::train, options_.loads, options_.seed + 4000 + static_cast<std::uint64_t>(iteration));
    // A few of them each time, so that the policy of today is what is learned from.
    std::vector<Arena> some;
    for (std::size_t i = 0; i < arenas.size() && some.size() < 4; ++i)
      some.push_back(std::move(arenas[(i * 7 + static_cast<std::size_t>(iteration) * 4) % arenas.size()]));
    PolicyNetwork &network = *last_;
    std::vector<Episode> episodes = gym_.run(some, [&](std::size_t i) {
      Deciding made =
          deciding([&network](const JobRow &job, const Rows &rows) { return network.score_gangs(job, rows); });
      made.tasks = &network;
      made.sample = made.record = made.record_tasks = true;
      made.omega = options_.exploration ? options_.omega : 0;
      made.seed = options_.seed + 100000 + static_cast<std::uint64_t>(iteration) * 10 + i;
      return made;
    });
    result_.episodes += episodes.size();
    Random random(options_.seed, "thinning", static_cast<std::uint64_t>(iteration));
    for (Episode &episode : episodes) {
      normalise(episode.experiences);
      // Of long episodes a part, so that one cluster does not drown the others.
      const double keep = std::min(1.0, 3000 / std::max(1.0, static_cast<double>(episode.experiences.size())));
      for (Experience &each : episode.experiences) {
        span(each);
        if (random.unit() > keep) continue;
        ++result_.experiences;
        (each.level == Level::gang ? gangs : tasks).add(std::move(each));
      }
    }
  }

  // Returns of clusters of different sizes become alike.
  static void normalise(std::vector<Experience> &experiences) {
    double sum = 0, squares = 0;
    for (const Experience &each : experiences) {
      sum += static_cast<double>(each.advised);
      squares += static_cast<double>(each.advised) * static_cast<double>(each.advised);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, experiences.size()));
    const double mean = sum / count, deviation = std::sqrt(std::max(1e-12, squares / count - mean * mean));
    for (Experience &each : experiences)
      each.advised = static_cast<float>((static_cast<double>(each.advised) - mean) / deviation);
  }

  void actor_critic() {
    Replay gangs(options_.replay ? 16384 : 4096), tasks(options_.replay ? 16384 : 4096);
    LearningOptions learning;
    learning.value_network = options_.value_network;
    learning.ppo = options_.ppo;
    learning.rate = options_.warm_start ? 2e-4 : 1e-3;
    Curve curve{"actor-critic: mean JCT on validation workloads, relative to the best heuristic", "", {}},
        entropy{"actor-critic: entropy of choices", "nats", {}};
    Random random(options_.seed, "mini-batches");
    if (options_.iterations > 0 && options_.warm_start) keep_if_better(validate(*last_), "warm start", curve, 0);
    for (int i = 0; i < options_.iterations && !options_.stop(); ++i) {
      if (!options_.replay) gangs.clear(), tasks.clear();
      explore(gangs, tasks, i);
      LearningResult learned;
      const int batches = options_.ppo ? 80 : 40;
      for (int batch = 0; batch < batches; ++batch) {
        if (gangs.size() > 0) learned = last_->learn(gangs.draw(256, random), learning);
        if (tasks.size() > 0 && batch % 4 == 0) last_->learn(tasks.draw(64, random), learning);
      }
      entropy.points.emplace_back(i + 1, learned.entropy);
      const bool look = (i + 1) % 4 == 0 || i + 1 == options_.iterations;
      const std::vector<double> jcts = look ? validate(*last_) : std::vector<double>();
      const double now = against(jcts, best_jcts_);
      if (look) keep_if_better(jcts, options_.ppo ? "proximal policy optimisation" : "actor-critic", curve, i + 1);
      options_.progress("actor-critic", (i + 1.0) / options_.iterations,
                        look ? fmt::format("{:+.1f} % against {} (kept {:+.1f} %), entropy {:.2f}",
                                           100 * std::expm1(now), result_.best_heuristic,
                                           100 * std::expm1(result_.against_best), learned.entropy)
                             : fmt::format("entropy {:.2f}, value loss {:.2f}", learned.entropy, learned.value_loss));
    }
    result_.curves.push_back(std::move(curve));
    result_.curves.push_back(std::move(entropy));
  }

  void keep_if_better(const std::vector<double> &jcts, const std::string &stage, Curve &curve, int at) {
    const double now = against(jcts, best_jcts_), cost = cost_against(jcts, least_);
    curve.points.emplace_back(at, std::exp(now));
    // Noise of the validation workloads is no progress.
    if (cost > kept_cost_ - (at ? 0.002 : -0.002)) return;
    kept_cost_ = cost;
    result_.against_best = now;
    result_.kept = stage;
    result_.network = last_->copy();
  }

  Gym &gym_;
  const std::vector<std::string> types_;
  const std::shared_ptr<const RewardNetwork> reward_;
  const TrainerOptions &options_;
  const std::size_t width_;
  std::vector<float> weights_; // of the linear scorer
  std::vector<Arena> validation_;
  // On validation workloads: of the first weights, of the best heuristic, and the least of all heuristics in each.
  std::vector<double> reference_, best_jcts_, least_;
  double kept_cost_ = 0;
  std::unique_ptr<PolicyNetwork> last_;
  TrainedPolicy result_;
};

} // namespace

TrainedPolicy train_policy(Gym &gym, const std::vector<std::string> &types,
                           const std::shared_ptr<const RewardNetwork> &reward, const std::vector<float> &start,
                           const TrainerOptions &options) {
  return Trainer(gym, types, reward, start, options).run();
}

} // namespace harmony
