#include "src/reward/reward_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>

namespace harmony {
namespace {

using Hidden = std::array<float, reward_hidden>;

void add_scaled(Hidden &sum, const float *row, float factor) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * row[i];
}

float softplus(float z) { return z > 20 ? z : std::log1p(std::exp(z)); }

// What was asked lately: a gang that waits is asked about again and again, beside neighbours that stay. Of one thread.
struct Remembered {
  std::uint64_t row = 0; // network and row, hashed: of 2^64 two alike are not to be expected
  RewardSpeeds speeds{};
};
constexpr std::size_t most_remembered = 1 << 14;

Remembered &memory_of(std::uint64_t row) {
  thread_local std::vector<Remembered> memory(most_remembered);
  return memory[row % most_remembered];
}

std::uint64_t hash_of(std::uint64_t network, const SparseRows &rows, int row) {
  std::uint64_t hash = network * 0x9e3779b97f4a7c15u + 1;
  for (std::size_t i = rows.begin(row); i < rows.end(row); ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, &rows.entries[i].second, sizeof value);
    hash ^= static_cast<std::uint64_t>(rows.entries[i].first) << 32 | value;
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

std::uint64_t next_network() {
  static std::atomic<std::uint64_t> made{0};
  return ++made;
}

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
    : number_(next_network()), types_(types), layout_(types), parameters_(std::move(parameters)),
      usual_({parameters_.end() - types, parameters_.end()}) {}

std::size_t RewardNetwork::parameter_count(int types) {
  return reward_members * RewardLayout(types).size + static_cast<std::size_t>(types);
}

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
  float pairs = 0;
  for (std::size_t k = 0; k < others.size(); ++k) pairs += me[k] * others[k];
  return std::exp(-std::max(0.f, pairs)) / (1 + softplus(z));
}

const RewardSpeeds &RewardNetwork::speeds(const SparseRows &rows, int row) const {
  const std::uint64_t hash = hash_of(number_, rows, row);
  Remembered &known = memory_of(hash);
  if (known.row == hash) return known.speeds;
  known.row = hash;
  for (std::size_t member = 0; member < reward_members; ++member)
    known.speeds[member] = speed(parameters_.data() + member * layout_.size, rows, row);
  return known.speeds;
}

float RewardNetwork::slowest_by(int member, const SparseRows &rows, int begin, int end) const {
  float slowest = 1;
  for (int row = begin; row < end; ++row)
    slowest = std::min(slowest, speeds(rows, row)[static_cast<std::size_t>(member)]);
  return steps(slowest);
}

Opinion RewardNetwork::slowest(const SparseRows &rows, int begin, int end) const {
  RewardSpeeds slowest;
  slowest.fill(1);
  for (int row = begin; row < end; ++row) {
    const RewardSpeeds &here = speeds(rows, row);
    for (std::size_t member = 0; member < reward_members; ++member)
      slowest[member] = std::min(slowest[member], here[member]);
  }
  float sum = 0, squares = 0;
  for (const float each : slowest) {
    const float speed = steps(each);
    sum += speed;
    squares += speed * speed;
  }
  const float mean = sum / reward_members;
  return {steps(mean), std::sqrt(std::max(0.f, squares / reward_members - mean * mean))};
}

} // namespace harmony
