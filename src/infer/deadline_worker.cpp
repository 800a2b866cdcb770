#include "src/infer/deadline_worker.h"

#include "src/values/quiet_thread.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace harmony {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int lowest_priority = 19;
constexpr int late_times = 10; // late by so many times its patience, it may no longer compete with slurmctld

// The task is gone when this returns, with everything that it held.
std::exception_ptr thrown_by(std::function<void()> task) {
  try {
    task();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

} // namespace

// Everything is guarded by the mutex.
struct DeadlineWorker::Desk {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> task;
  bool handed = false;  // the task is here and not yet begun
  bool running = false; // from handing a task over until it has ended
  bool wanted = false;  // run() waits for it
  bool leave = false;   // the thread has to end when it is idle
  bool gone = false;    // it has
  bool lowered = false; // its priority; for good, since only root can raise it again
  std::exception_ptr thrown;
  Clock::time_point lower_at;
  pid_t thread = 0; // 0: not yet begun

  // While a task runs, so that the thread is there and the number is nobody else's.
  void lower() {
    if (lowered) return;
    lowered = true;
    if (thread != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(thread), lowest_priority);
  }
};

void DeadlineWorker::work(const std::shared_ptr<Desk> &desk) {
  pthread_setname_np(pthread_self(), "harmony-model");
  std::unique_lock lock(desk->mutex);
  desk->thread = gettid();
  if (desk->lowered) setpriority(PRIO_PROCESS, static_cast<id_t>(desk->thread), lowest_priority);
  for (;;) {
    desk->changed.wait(lock, [&desk] { return desk->handed || desk->leave; });
    if (!desk->handed) break;
    desk->handed = false;
    std::function<void()> task = std::exchange(desk->task, nullptr);
    lock.unlock();
    std::exception_ptr thrown = thrown_by(std::move(task));
    lock.lock();
    if (desk->wanted) desk->thrown = std::exchange(thrown, nullptr);
    desk->running = false;
    desk->gone = desk->lowered;
    desk->changed.notify_all();
    if (desk->gone) break;
  }
  desk->gone = true;
}

// A desk with a thread at it that may be given a task, or is busy with one.
void DeadlineWorker::seat() {
  if (desk_) {
    const std::lock_guard lock(desk_->mutex);
    if (!desk_->gone) return;
  }
  if (thread_.joinable()) thread_.join();
  desk_.reset();
  auto desk = std::make_shared<Desk>();
  thread_ = quiet_thread([desk] { work(desk); });
  desk_ = std::move(desk);
}

DeadlineWorker::Ended DeadlineWorker::run(std::function<void()> task, std::chrono::milliseconds patience) {
  seat();
  Desk &desk = *desk_;
  std::unique_lock lock(desk.mutex);
  const Clock::time_point now = Clock::now();
  if (desk.running) {
    if (now > desk.lower_at) desk.lower();
    return Ended::busy;
  }
  const Clock::time_point deadline = now + patience;
  desk.lower_at = deadline + late_times * patience;
  desk.task = std::move(task);
  desk.handed = desk.running = desk.wanted = true;
  desk.changed.notify_all();
  const bool in_time = desk.changed.wait_until(lock, deadline, [&desk] { return !desk.running; });
  desk.wanted = false;
  if (!in_time) return Ended::late;
  if (const std::exception_ptr thrown = std::exchange(desk.thrown, nullptr)) {
    lock.unlock();
    std::rethrow_exception(thrown);
  }
  return Ended::in_time;
}

bool DeadlineWorker::runs(const std::shared_ptr<Desk> &desk) {
  const std::lock_guard lock(desk->mutex);
  return desk->running;
}

bool DeadlineWorker::busy() const { return desk_ && runs(desk_); }

int DeadlineWorker::given_up() const {
  return static_cast<int>(std::count_if(given_up_.begin(), given_up_.end(), runs));
}

bool DeadlineWorker::replace() {
  if (!busy()) return true;
  given_up_.erase(std::remove_if(given_up_.begin(), given_up_.end(), [](const auto &desk) { return !runs(desk); }),
                  given_up_.end());
  if (given_up_.size() >= max_given_up) return false;
  given_up_.push_back(desk_);
  leave_alone();
  desk_.reset();
  return true;
}

DeadlineWorker::~DeadlineWorker() {
  if (desk_) leave_alone();
}

// Nobody will hand it a task any more.
void DeadlineWorker::leave_alone() {
  bool stuck = false;
  {
    const std::lock_guard lock(desk_->mutex);
    desk_->leave = true;
    stuck = desk_->running;
    if (stuck) desk_->lower();
    desk_->changed.notify_all();
  }
  stuck ? thread_.detach() : thread_.join();
}

} // namespace harmony
