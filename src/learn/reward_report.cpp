#include "src/learn/reward_report.h"

#include "src/sim/metrics.h"
#include "src/sim/random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace harmony {
namespace {

bool mentions(const TrainingData &data, const RewardExample &example, int type, int types) {
  for (std::size_t i = data.rows.begin(example.first); i < data.rows.end(example.end - 1); ++i) {
    const int column = data.rows.entries[i].first - reward_column::count;
    if (column >= 0 && column % types == type) return true;
  }
  return false;
}

// The rows of an example, with one type told as unknown.
SparseRows rows_of(const TrainingData &data, const RewardExample &example, int hidden, int types) {
  SparseRows rows;
  for (int row = example.first; row < example.end; ++row) {
    std::map<int, float> entries;
    for (std::size_t i = data.rows.begin(row); i < data.rows.end(row); ++i) {
      auto [column, value] = data.rows.entries[i];
      if (hidden > 0 && column >= reward_column::count && (column - reward_column::count) % types == hidden)
        column -= hidden;
      entries[column] += value;
    }
    rows.entries.insert(rows.entries.end(), entries.begin(), entries.end());
    rows.ends.push_back(rows.entries.size());
  }
  return rows;
}

std::vector<double> ranks(const std::vector<double> &values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> all(values.size());
  for (std::size_t i = 0; i < order.size();) { // equals share the middle of their places
    std::size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t k = i; k < end; ++k) all[order[k]] = static_cast<double>(i + end - 1) / 2;
    i = end;
  }
  return all;
}

double correlation(const std::vector<double> &one, const std::vector<double> &other) {
  const auto count = static_cast<double>(one.size());
  const double mean = std::accumulate(one.begin(), one.end(), 0.0) / count,
               its = std::accumulate(other.begin(), other.end(), 0.0) / count;
  double both = 0, squares = 0, its_squares = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    both += (one[i] - mean) * (other[i] - its);
    squares += (one[i] - mean) * (one[i] - mean);
    its_squares += (other[i] - its) * (other[i] - its);
  }
  return squares > 0 && its_squares > 0 ? both / std::sqrt(squares * its_squares) : 0;
}

} // namespace

RewardSplit split_examples(const TrainingData &data, std::uint64_t seed) {
  RewardSplit split;
  const int types = static_cast<int>(data.types.size()) + 1;
  std::map<int, std::vector<double>> times; // by cluster: some were watched for longer than others
  for (const RewardExample &each : data.examples) times[each.cluster].push_back(each.at_s);
  std::map<int, double> late;
  for (const auto &[cluster, its] : times) late[cluster] = quantile(its, 0.9);
  if (types > 3) split.held_out_type = 1 + Random(seed, "held-out type").below(types - 1);
  for (std::size_t i = 0; i < data.examples.size(); ++i) {
    const RewardExample &each = data.examples[i];
    const int index = static_cast<int>(i);
    if (split.held_out_type && mentions(data, each, split.held_out_type, types)) {
      (each.type == split.held_out_type ? split.of_type : split.beside_type).push_back(index);
    } else if (each.pair && Random(seed, "pair", each.pair).unit() < 0.08) {
      split.pairs.push_back(index);
    } else if (Random(seed, "run", static_cast<std::uint64_t>(each.run)).unit() < 0.1) {
      split.runs.push_back(index);
    } else if (each.at_s > late[each.cluster]) {
      split.time.push_back(index);
    } else {
      split.train.push_back(index);
    }
  }
  return split;
}

RewardErrors reward_errors(const TrainingData &data, const std::vector<int> &which, const RewardNetwork &network,
                           const std::string &on, int hidden) {
  RewardErrors errors;
  errors.on = on;
  errors.examples = which.size();
  if (which.empty()) return errors;
  std::vector<double> off, predicted, true_speeds;
  std::size_t within = 0;
  for (const int index : which) {
    const RewardExample &each = data.examples[static_cast<std::size_t>(index)];
    const SparseRows rows = rows_of(data, each, hidden, network.types());
    const Opinion opinion = network.slowest(rows, 0, rows.count());
    const double mean = static_cast<double>(opinion.mean), speed = static_cast<double>(each.speed);
    off.push_back(std::abs(mean - speed) / speed);
    predicted.push_back(mean);
    true_speeds.push_back(speed);
    within += std::abs(mean - speed) <= 2 * std::max(0.01, static_cast<double>(opinion.deviation));
  }
  errors.median = quantile(off, 0.5);
  errors.p90 = quantile(off, 0.9);
  errors.rank_correlation = correlation(ranks(predicted), ranks(true_speeds));
  errors.within_doubt = static_cast<double>(within) / static_cast<double>(which.size());
  return errors;
}

std::vector<RewardErrors> reward_report(const TrainingData &data, const RewardSplit &split,
                                        const RewardNetwork &network) {
  std::vector<RewardErrors> all{reward_errors(data, split.runs, network, "unseen runs"),
                                reward_errors(data, split.time, network, "the last part of the time"),
                                reward_errors(data, split.pairs, network, "unseen pairs of types")};
  if (split.held_out_type)
    all.push_back(
        reward_errors(data, split.of_type, network,
                      fmt::format("an unseen type ({})", data.types[static_cast<std::size_t>(split.held_out_type) - 1]),
                      split.held_out_type));
  return all;
}

} // namespace harmony
