#include "src/tool/sim_meter.h"

#include "src/sim/result_text.h"
#include "src/values/clock.h"

#include <fmt/format.h>

#include <cstdio>
#include <unistd.h>

namespace harmony {
namespace {

constexpr std::int64_t first_after_ms = 1000, every_ms = 250;

} // namespace

SimMeter::SimMeter(std::size_t jobs)
    : jobs_(jobs), shown_(isatty(STDERR_FILENO)), begun_ms_(now_ms()), next_ms_(begun_ms_ + first_after_ms) {}

SimMeter::~SimMeter() {
  if (shown_ && next_ms_ > begun_ms_ + first_after_ms) std::fputs("\r\033[K", stderr);
}

void SimMeter::ended(std::size_t jobs) {
  ended_ += jobs;
  if (!shown_) return;
  const std::int64_t now = now_ms();
  std::int64_t next = next_ms_;
  if (now >= next && next_ms_.compare_exchange_strong(next, now + every_ms)) print(now);
}

void SimMeter::print(std::int64_t now) {
  const std::lock_guard lock(mutex_);
  const double seconds = static_cast<double>(now - begun_ms_) / 1000;
  const double rate = static_cast<double>(ended_) / seconds;
  const double left = rate > 0 ? static_cast<double>(jobs_ - ended_) / rate : 0;
  const std::string line =
      fmt::format("\r\033[K{} of {} jobs, {:.0f} jobs/s, {} left", ended_.load(), jobs_, rate, duration_text(left));
  std::fputs(line.c_str(), stderr);
}

} // namespace harmony
