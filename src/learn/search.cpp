#include "src/learn/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace harmony {

Search::Search(std::vector<double> centre, std::vector<double> deviations, int population, std::uint64_t seed)
    : centre_(std::move(centre)), scales_(std::move(deviations)), variances_(centre_.size(), 1), path_(centre_.size()),
      step_path_(centre_.size()), random_(seed, "search") {
  drawn_.resize(static_cast<std::size_t>(std::max(4, population)));
  const std::size_t best = drawn_.size() / 2;
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < best; ++i) {
    weights_.push_back(std::log(static_cast<double>(best) + 0.5) - std::log(static_cast<double>(i) + 1));
    sum += weights_.back();
  }
  for (double &each : weights_) {
    each /= sum;
    squares += each * each;
  }
  effective_ = 1 / squares;
}

const std::vector<std::vector<double>> &Search::candidates() {
  for (std::size_t i = 0; i < drawn_.size(); ++i) {
    std::vector<double> &one = drawn_[i];
    one = centre_;
    if (i % 2 == 1) { // the mirror image of the one before: half of the noise is gone
      for (std::size_t k = 0; k < one.size(); ++k) one[k] = 2 * centre_[k] - drawn_[i - 1][k];
      continue;
    }
    for (std::size_t k = 0; k < one.size(); ++k)
      one[k] += sigma_ * scales_[k] * std::sqrt(variances_[k]) * random_.normal();
  }
  return drawn_;
}

void Search::told(const std::vector<double> &costs) {
  std::vector<std::size_t> order(drawn_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  const auto n = static_cast<double>(centre_.size());
  const double step_rate = (effective_ + 2) / (n + effective_ + 5),
               damping = 1 + step_rate + 2 * std::max(0.0, std::sqrt((effective_ - 1) / (n + 1)) - 1);
  const double path_rate = (4 + effective_ / n) / (n + 4 + 2 * effective_ / n);
  // Separable: variances by axis are learned faster than a whole matrix.
  const double one_rate = std::min(0.5, 2 / ((n + 1.3) * (n + 1.3) + effective_) * (n + 2) / 3),
               rank_rate = std::min(1 - one_rate, 2 * (effective_ - 2 + 1 / effective_) /
                                                      ((n + 2) * (n + 2) + effective_) * (n + 2) / 3);
  ++generation_;
  double length = 0;
  std::vector<double> moved(centre_.size());
  for (std::size_t k = 0; k < centre_.size(); ++k) {
    for (std::size_t i = 0; i < weights_.size(); ++i)
      moved[k] += weights_[i] * (drawn_[order[i]][k] - centre_[k]) / (sigma_ * scales_[k]);
    step_path_[k] = (1 - step_rate) * step_path_[k] +
                    std::sqrt(step_rate * (2 - step_rate) * effective_) * moved[k] / std::sqrt(variances_[k]);
    length += step_path_[k] * step_path_[k];
  }
  const double expected = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
  const bool steady =
      std::sqrt(length) / std::sqrt(1 - std::pow(1 - step_rate, 2.0 * generation_)) < (1.4 + 2 / (n + 1)) * expected;
  for (std::size_t k = 0; k < centre_.size(); ++k) {
    path_[k] =
        (1 - path_rate) * path_[k] + (steady ? std::sqrt(path_rate * (2 - path_rate) * effective_) * moved[k] : 0);
    double spread = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double off = (drawn_[order[i]][k] - centre_[k]) / (sigma_ * scales_[k]);
      spread += weights_[i] * off * off;
    }
    variances_[k] = std::clamp(
        (1 - one_rate - rank_rate) * variances_[k] + one_rate * path_[k] * path_[k] + rank_rate * spread, 1e-6, 1e6);
    centre_[k] += sigma_ * scales_[k] * moved[k];
  }
  sigma_ = std::clamp(sigma_ * std::exp(step_rate / damping * (std::sqrt(length) / expected - 1)), 1e-3, 3.0);
}

} // namespace harmony
