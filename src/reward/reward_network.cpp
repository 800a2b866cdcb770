#include "src/reward/reward_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace harmony {
namespace {

using Hidden = std::array<float, reward_hidden>;

void add_scaled(Hidden &sum, const float *row, float factor) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * row[i];
}

float softplus(float z) { return z > 20 ? z : std::log1p(std::exp(z)); }

float steps(float speed) { return std::max(1.f, std::round(speed * 65536)) / 65536; }

} // namespace

RewardLayout::RewardLayout(int types) {
  const auto width = static_cast<std::size_t>(reward_width(types)), known = static_cast<std::size_t>(types);
  first = 0;
  first_bias = first + width * reward_hidden;
  second = first_bias + reward_hidden;
  second_bias = second + std::size_t{reward_hidden} * reward_hidden;
  last = second_bias + reward_hidden;
  last_bias = last + reward_hidden;
  victim = last_bias + 1;
  aggressor = victim + known * reward_pair;
  size = aggressor + known * reward_pair;
}

RewardNetwork::RewardNetwork(int types, std::vector<float> parameters)
    : types_(types), layout_(types), parameters_(std::move(parameters)) {}

std::size_t RewardNetwork::parameter_count(int types) { return reward_members * RewardLayout(types).size; }

std::string RewardNetwork::problem_with(int types, const std::vector<float> &parameters) {
  if (parameters.size() != parameter_count(types))
    return fmt::format("its reward network has {} parameters instead of {}", parameters.size(), parameter_count(types));
  for (const float each : parameters)
    if (!std::isfinite(each)) return "its reward network has a parameter that is not finite";
  return {};
}

float RewardNetwork::speed(const float *p, const SparseRows &rows, int row) const {
  Hidden first, second;
  std::copy_n(p + layout_.first_bias, reward_hidden, first.begin());
  std::copy_n(p + layout_.second_bias, reward_hidden, second.begin());
  std::array<float, reward_pair> others{};
  const float *me = p + layout_.victim;
  const int me_at = reward_column_of(reward_group::me, 0, types_),
            jobs_at = reward_column_of(reward_group::jobs, 0, types_);
  for (std::size_t i = rows.begin(row); i < rows.end(row); ++i) {
    const auto [column, value] = rows.entries[i];
    add_scaled(first, p + layout_.first + static_cast<std::size_t>(column) * reward_hidden, value);
    if (column >= me_at && column < me_at + types_)
      me = p + layout_.victim + static_cast<std::size_t>(column - me_at) * reward_pair;
    if (column < jobs_at || column >= jobs_at + types_) continue;
    const float *its = p + layout_.aggressor + static_cast<std::size_t>(column - jobs_at) * reward_pair;
    for (std::size_t k = 0; k < others.size(); ++k) others[k] += value * its[k];
  }
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] > 0) add_scaled(second, p + layout_.second + i * reward_hidden, first[i]);
  float z = p[layout_.last_bias];
  for (std::size_t i = 0; i < second.size(); ++i) z += std::max(0.f, second[i]) * p[layout_.last + i];
  for (std::size_t k = 0; k < others.size(); ++k) z += me[k] * others[k];
  return std::exp(-softplus(z));
}

float RewardNetwork::slowest_by(int member, const SparseRows &rows, int begin, int end) const {
  const float *parameters = parameters_.data() + static_cast<std::size_t>(member) * layout_.size;
  float slowest = 1;
  for (int row = begin; row < end; ++row) slowest = std::min(slowest, speed(parameters, rows, row));
  return steps(slowest);
}

Opinion RewardNetwork::slowest(const SparseRows &rows, int begin, int end) const {
  float sum = 0, squares = 0;
  for (int member = 0; member < reward_members; ++member) {
    const float speed = slowest_by(member, rows, begin, end);
    sum += speed;
    squares += speed * speed;
  }
  const float mean = sum / reward_members;
  return {steps(mean), std::sqrt(std::max(0.f, squares / reward_members - mean * mean))};
}

} // namespace harmony
