#include "src/learn/model_card.h"

#include "src/encode/schema.h"
#include "src/store/sha256.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace harmony {
namespace {

// Features are within [0, 1] by how they are made; a model is trusted somewhat beyond what it saw. Of a feature that was the
// same all the time nothing was learned, so it may be anything.
constexpr double margin = 0.35, the_same = 1e-6;

std::vector<FeatureRange> ranges(const std::vector<Feature> &features, const FeatureSpan &span) {
  std::vector<FeatureRange> all;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const bool known = i < span.low.size() && static_cast<double>(span.high[i] - span.low[i]) > the_same;
    const double low = known ? std::max(0.0, static_cast<double>(span.low[i]) - margin) : 0,
                 high = known ? std::min(1.0, static_cast<double>(span.high[i]) + margin) : 1;
    all.push_back({features[i].name, std::round(low * 1e4) / 1e4, std::round(high * 1e4) / 1e4});
  }
  return all;
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string reward_table(const std::vector<RewardErrors> &reward) {
  std::string text = "| tested on | examples | median error | p90 | rank correlation | within its doubt "
                     "|\n|---|---|---|---|---|---|\n";
  for (const RewardErrors &each : reward)
    text += fmt::format("| {} | {} | {} | {} | {:.3f} | {} |\n", each.on, each.examples, percent(each.median),
                        percent(each.p90), each.rank_correlation, percent(each.within_doubt));
  return text;
}

std::string verdict_table(const Verdicts &verdicts) {
  std::string text = "| policy | mean JCT | relative to this model (95 % interval) |\n|---|---|---|\n";
  text += fmt::format("| this model | {:.0f} s | 1 |\n", verdicts.candidate_jct_s);
  for (const Rival &each : verdicts.rivals)
    text += fmt::format("| {} | {:.0f} s | {:.3f} ({:.3f} to {:.3f}) |\n", each.name, each.mean_jct_s,
                        std::exp(each.against.mean), std::exp(each.against.mean - each.against.half),
                        std::exp(each.against.mean + each.against.half));
  return text;
}

} // namespace

Manifest manifest_of(const CardFacts &facts, const std::string &model) {
  Manifest manifest;
  manifest.name = facts.name;
  manifest.schema = schema_version;
  manifest.torch = PolicyNetwork::torch_version();
  manifest.sha256 = sha256_hex(model);
  manifest.types = facts.data->types;
  manifest.job = ranges(job_features(), facts.policy->job);
  manifest.candidates = ranges(candidate_features(manifest.types), facts.policy->candidates);
  manifest.gangs = ranges(gang_features(manifest.types), facts.policy->gangs);
  std::size_t jobs = 0;
  for (const TrainingCluster &cluster : facts.data->clusters) jobs += cluster.jobs.size();
  manifest.trained_on = fmt::format("{} intervals of {} runs on {} clusters, {} types", facts.data->examples.size(),
                                    jobs, facts.data->clusters.size(), manifest.types.size());
  manifest.evaluation = fmt::format("{} held-out workloads, {}", facts.verdicts.workloads, facts.verdicts.why);
  return manifest;
}

std::string model_card(const CardFacts &facts) {
  const TrainingData &data = *facts.data;
  std::string text =
      fmt::format("# {}\n\nA placement policy with its reward model, for slurm-harmony, feature schema {}.\n\n"
                  "Made by:\n\n    {}\n\n",
                  facts.name, schema_version, facts.command);
  text += fmt::format("## What it learned from\n\n{} intervals with known speeds ({} without start or nodes were left "
                      "out), {} starts, {} users. Types: {}.\n\n",
                      data.examples.size(), data.left_out, data.starts, data.users, fmt::join(data.types, ", "));
  for (const TrainingCluster &cluster : data.clusters)
    text += fmt::format("- {}: {} nodes, {} GPUs, {} jobs\n", one_line(cluster.name, 80), cluster.cluster.nodes.size(),
                        cluster.cluster.gpus(), cluster.jobs.size());
  text += "\n## The reward model\n\nPredicts a job's speed relative to the best it could have. Errors of a network of "
          "the same kind that saw none of what it is tested on:\n\n" +
          reward_table(facts.reward);
  text += fmt::format("\n## The policy\n\n{} simulated episodes, {} experiences; what was kept came from: {}. On "
                      "validation workloads {:+.1f} % mean JCT against {}, "
                      "the best heuristic there.\n",
                      facts.policy->episodes, facts.policy->experiences, facts.policy->kept,
                      100 * std::expm1(facts.policy->against_best), facts.policy->best_heuristic);
  text += fmt::format("\n## How it was judged\n\n{} workloads of jobs that it was not trained on, in a physics fitted "
                      "to another part of the same dataset. "
                      "No real cluster: what is wrong in the dataset is wrong here, too. {}\n\n{}\n",
                      facts.verdicts.workloads, facts.verdicts.why, verdict_table(facts.verdicts));
  for (const std::string &note : facts.notes) text += "- " + note + "\n";
  return text;
}

} // namespace harmony
