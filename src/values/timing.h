// How long something takes: a histogram of durations, cheap enough for slurmctld's hottest calls. Every member may be
// called from any thread at any time, and none waits for another; a summary taken beside additions may miss the
// newest, and a reset beside them may keep some of one.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace harmony {

struct TimingSummary {
  std::uint64_t count = 0;
  double sum_us = 0;
  double mean_us = 0;
  double p99_us = 0; // at most 12.5 % above the true one, never below it
  double max_us = 0; // exact
};

class Timing {
public:
  // A clock that went backwards counts as no time; more than 1000 s counts in the last bucket.
  void add(std::int64_t ns) {
    const std::uint64_t duration = ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
    buckets_[bucket_of(duration)].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(duration, std::memory_order_relaxed);
    std::uint64_t max = max_ns_.load(std::memory_order_relaxed);
    while (duration > max && !max_ns_.compare_exchange_weak(max, duration, std::memory_order_relaxed)) continue;
  }

  TimingSummary summary() const {
    std::array<std::uint64_t, bucket_count> counts;
    TimingSummary summary;
    for (std::size_t i = 0; i < bucket_count; ++i) {
      counts[i] = buckets_[i].load(std::memory_order_relaxed);
      summary.count += counts[i];
    }
    if (summary.count == 0) return summary;
    const std::uint64_t max = max_ns_.load(std::memory_order_relaxed);
    summary.sum_us = static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1000;
    summary.mean_us = summary.sum_us / static_cast<double>(summary.count);
    summary.max_us = static_cast<double>(max) / 1000;
    std::uint64_t below = summary.count - summary.count / 100; // 99 % of them, rounded up
    std::size_t i = 0;
    for (; i + 1 < bucket_count && counts[i] < below; ++i) below -= counts[i];
    // The last bucket has no upper end but the longest duration itself.
    const std::uint64_t end = i + 1 < bucket_count ? std::min(upper_end(i), max) : max;
    summary.p99_us = static_cast<double>(end) / 1000;
    return summary;
  }

  void reset() {
    for (auto &bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
    sum_ns_.store(0, std::memory_order_relaxed);
    max_ns_.store(0, std::memory_order_relaxed);
  }

private:
  // Each power of two from 64 ns to 2^40 ns (1100 s) is cut into 8 buckets of equal width, so that a bucket is never
  // wider than an eighth of what it holds. What is shorter than 64 ns shares one.
  static constexpr int lowest_bit = 6, highest_bit = 39;
  static constexpr std::size_t bucket_count = 1 + 8 * (highest_bit - lowest_bit + 1);

  static std::size_t bucket_of(std::uint64_t ns) {
    if (ns < (std::uint64_t{1} << lowest_bit)) return 0;
    const int bit = 63 - __builtin_clzll(ns);
    if (bit > highest_bit) return bucket_count - 1;
    return 1 + 8 * static_cast<std::size_t>(bit - lowest_bit) + ((ns >> (bit - 3)) & 7);
  }

  // The longest duration that belongs into the bucket.
  static std::uint64_t upper_end(std::size_t bucket) {
    if (bucket == 0) return (std::uint64_t{1} << lowest_bit) - 1;
    const std::size_t bit = lowest_bit + (bucket - 1) / 8, eighth = (bucket - 1) % 8;
    return ((8 + eighth + 1) << (bit - 3)) - 1;
  }

  std::array<std::atomic<std::uint64_t>, bucket_count> buckets_{};
  std::atomic<std::uint64_t> sum_ns_{0};
  std::atomic<std::uint64_t> max_ns_{0};
};

} // namespace harmony
