// The progress line of a long simulation, on a terminal only: how far, how fast, how long still. From any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace harmony {

class SimMeter {
public:
  // `jobs`: that end in all simulations together.
  explicit SimMeter(std::size_t jobs);
  ~SimMeter(); // takes the line away

  void ended(std::size_t jobs); // more of them

private:
  void print(std::int64_t now);

  const std::size_t jobs_;
  const bool shown_;
  const std::int64_t begun_ms_;
  std::atomic<std::size_t> ended_{0};
  std::atomic<std::int64_t> next_ms_;
  std::mutex mutex_; // the terminal
};

} // namespace harmony
