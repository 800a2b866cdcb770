#include "src/infer/deadline_worker.h"

#include <cppunit/extensions/HelperMacros.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace harmony {

class DeadlineWorkerTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DeadlineWorkerTest);
  CPPUNIT_TEST(a_task_that_ends_in_time_has_ended_when_run_returns);
  CPPUNIT_TEST(one_thread_runs_all_tasks_and_gets_no_signals);
  CPPUNIT_TEST(a_late_task_goes_on_and_the_caller_does_not);
  CPPUNIT_TEST(while_a_late_task_runs_none_is_begun_and_none_waited_for);
  CPPUNIT_TEST(a_stuck_thread_can_be_replaced);
  CPPUNIT_TEST(no_more_than_two_stuck_threads_are_given_up);
  CPPUNIT_TEST(an_idle_thread_is_not_replaced);
  CPPUNIT_TEST(a_given_up_thread_yields_to_everybody);
  CPPUNIT_TEST(a_thread_that_is_ten_times_late_yields_and_is_not_used_again);
  CPPUNIT_TEST(what_a_task_throws_is_thrown_at_the_caller);
  CPPUNIT_TEST(what_a_late_task_throws_is_dropped);
  CPPUNIT_TEST(a_task_that_is_none_is_thrown_at_the_caller);
  CPPUNIT_TEST(a_task_is_destroyed_before_its_end_is_told);
  CPPUNIT_TEST(a_stuck_task_outlives_the_worker_unharmed);
  CPPUNIT_TEST(a_worker_that_was_never_used_ends);
  CPPUNIT_TEST(ten_thousand_quick_tasks_end_in_time);
  CPPUNIT_TEST_SUITE_END();

  using Ended = DeadlineWorker::Ended;
  static constexpr std::chrono::milliseconds brief{1}, long_enough{std::chrono::minutes(5)};

  // A door that a task waits at until the test opens it, and what is seen of the task meanwhile.
  struct Door {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    pid_t inside = 0;
    bool passed = false;

    void pass() {
      std::unique_lock lock(mutex);
      inside = gettid();
      changed.notify_all();
      changed.wait(lock, [this] { return open; });
      passed = true;
      changed.notify_all();
    }

    void let_pass() {
      const std::lock_guard lock(mutex);
      open = true;
      changed.notify_all();
    }

    pid_t thread() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return inside != 0; });
      return inside;
    }

    void await_passed() {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return passed; });
    }
  };

  using DoorPtr = std::shared_ptr<Door>;

  // A worker that is stuck at the door.
  static DoorPtr stick(DeadlineWorker &worker) {
    auto door = std::make_shared<Door>();
    CPPUNIT_ASSERT(worker.run([door] { door->pass(); }, brief) == Ended::late);
    door->thread();
    return door;
  }

  template <class Condition> static void await(Condition condition) {
    for (int i = 0; i < 60000 && !condition(); ++i) usleep(1000);
    CPPUNIT_ASSERT(condition());
  }

  static int priority_of(pid_t thread) { return getpriority(PRIO_PROCESS, static_cast<id_t>(thread)); }

  // The thread that runs tasks now.
  static pid_t thread_of(DeadlineWorker &worker) {
    auto thread = std::make_shared<pid_t>(0);
    CPPUNIT_ASSERT(worker.run([thread] { *thread = gettid(); }, long_enough) == Ended::in_time);
    return *thread;
  }

  void a_task_that_ends_in_time_has_ended_when_run_returns() {
    DeadlineWorker worker;
    auto done = std::make_shared<bool>(false); // no atomic: run() itself is what orders the two threads
    CPPUNIT_ASSERT(worker.run([done] { *done = true; }, long_enough) == Ended::in_time);
    CPPUNIT_ASSERT(*done && !worker.busy());
  }

  void one_thread_runs_all_tasks_and_gets_no_signals() {
    DeadlineWorker worker;
    sigset_t before, after;
    pthread_sigmask(SIG_BLOCK, nullptr, &before);
    auto blocked = std::make_shared<sigset_t>();
    worker.run([blocked] { pthread_sigmask(SIG_BLOCK, nullptr, blocked.get()); }, long_enough);
    pthread_sigmask(SIG_BLOCK, nullptr, &after);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE, SIGALRM, SIGABRT}) {
      CPPUNIT_ASSERT_EQUAL_MESSAGE(std::to_string(signal), 1, sigismember(blocked.get(), signal));
      CPPUNIT_ASSERT_EQUAL(sigismember(&before, signal), sigismember(&after, signal));
    }
    const pid_t thread = thread_of(worker);
    CPPUNIT_ASSERT(thread != gettid());
    CPPUNIT_ASSERT_EQUAL(thread, thread_of(worker));
  }

  void a_late_task_goes_on_and_the_caller_does_not() {
    DeadlineWorker worker;
    const DoorPtr door = stick(worker);
    CPPUNIT_ASSERT(worker.busy());
    door->let_pass();
    door->await_passed();
    await([&worker] { return !worker.busy(); });
    thread_of(worker);
  }

  // The door opens only afterwards, and the patience is long: whoever waits, waits forever.
  void while_a_late_task_runs_none_is_begun_and_none_waited_for() {
    DeadlineWorker worker;
    const DoorPtr door = stick(worker);
    auto begun = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < 1000; ++i)
      CPPUNIT_ASSERT(worker.run([begun] { ++*begun; }, std::chrono::hours(24)) == Ended::busy);
    door->let_pass();
    await([&worker] { return !worker.busy(); });
    thread_of(worker);
    CPPUNIT_ASSERT_EQUAL(0, begun->load());
  }

  void a_stuck_thread_can_be_replaced() {
    DeadlineWorker worker;
    const DoorPtr door = stick(worker);
    CPPUNIT_ASSERT(worker.replace());
    CPPUNIT_ASSERT(!worker.busy());
    CPPUNIT_ASSERT_EQUAL(1, worker.given_up());
    CPPUNIT_ASSERT(thread_of(worker) != door->thread());
    door->let_pass();
    await([&worker] { return worker.given_up() == 0; });
    thread_of(worker);
  }

  void no_more_than_two_stuck_threads_are_given_up() {
    DeadlineWorker worker;
    const DoorPtr first = stick(worker);
    CPPUNIT_ASSERT(worker.replace());
    const DoorPtr second = stick(worker);
    CPPUNIT_ASSERT(worker.replace());
    const DoorPtr third = stick(worker);
    for (int i = 0; i < 10; ++i) CPPUNIT_ASSERT(!worker.replace());
    CPPUNIT_ASSERT(worker.busy());
    CPPUNIT_ASSERT_EQUAL(2, worker.given_up());
    second->let_pass();
    await([&worker] { return worker.given_up() == 1; });
    CPPUNIT_ASSERT(worker.replace());
    thread_of(worker);
    first->let_pass();
    third->let_pass();
    await([&worker] { return worker.given_up() == 0; });
  }

  void an_idle_thread_is_not_replaced() {
    DeadlineWorker worker;
    CPPUNIT_ASSERT(worker.replace());
    const pid_t thread = thread_of(worker);
    for (int i = 0; i < 10; ++i) CPPUNIT_ASSERT(worker.replace());
    CPPUNIT_ASSERT_EQUAL(thread, thread_of(worker));
    CPPUNIT_ASSERT_EQUAL(0, worker.given_up());
  }

  void a_given_up_thread_yields_to_everybody() {
    DeadlineWorker worker;
    const DoorPtr door = stick(worker);
    CPPUNIT_ASSERT_EQUAL(priority_of(gettid()), priority_of(door->thread()));
    CPPUNIT_ASSERT(worker.replace());
    CPPUNIT_ASSERT_EQUAL(19, priority_of(door->thread()));
    CPPUNIT_ASSERT_EQUAL(priority_of(gettid()), priority_of(thread_of(worker)));
    door->let_pass();
  }

  void a_thread_that_is_ten_times_late_yields_and_is_not_used_again() {
    DeadlineWorker worker;
    const DoorPtr door = stick(worker);
    await([&] { return worker.run([] {}, long_enough) == Ended::busy && priority_of(door->thread()) == 19; });
    door->let_pass();
    await([&worker] { return !worker.busy(); });
    CPPUNIT_ASSERT_EQUAL(priority_of(gettid()), priority_of(thread_of(worker)));
    CPPUNIT_ASSERT_EQUAL(0, worker.given_up());
  }

  void what_a_task_throws_is_thrown_at_the_caller() {
    DeadlineWorker worker;
    for (int i = 0; i < 100; ++i) try {
        worker.run([i] { throw std::runtime_error("round " + std::to_string(i)); }, long_enough);
        CPPUNIT_FAIL("nothing was thrown");
      } catch (const std::runtime_error &error) {
        CPPUNIT_ASSERT_EQUAL("round " + std::to_string(i), std::string(error.what()));
      }
    CPPUNIT_ASSERT_THROW(worker.run([] { throw 7; }, long_enough), int);
    thread_of(worker);
  }

  void what_a_late_task_throws_is_dropped() {
    DeadlineWorker worker;
    auto door = std::make_shared<Door>();
    const auto task = [door] {
      door->pass();
      throw std::runtime_error("nobody wants to know");
    };
    CPPUNIT_ASSERT(worker.run(task, brief) == Ended::late);
    door->let_pass();
    await([&worker] { return !worker.busy(); });
    thread_of(worker);
  }

  void a_task_that_is_none_is_thrown_at_the_caller() {
    DeadlineWorker worker;
    CPPUNIT_ASSERT_THROW(worker.run(nullptr, long_enough), std::bad_function_call);
  }

  void a_task_is_destroyed_before_its_end_is_told() {
    DeadlineWorker worker;
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = held;
    CPPUNIT_ASSERT(worker.run([held = std::move(held)] {}, long_enough) == Ended::in_time);
    CPPUNIT_ASSERT(watched.expired());
    const DoorPtr door = stick(worker);
    const std::weak_ptr<Door> held_by_the_task = door;
    door->let_pass();
    await([&worker] { return !worker.busy(); });
    CPPUNIT_ASSERT_EQUAL(1L, held_by_the_task.use_count());
  }

  void a_stuck_task_outlives_the_worker_unharmed() {
    DoorPtr given_up, stuck;
    {
      DeadlineWorker worker;
      given_up = stick(worker);
      CPPUNIT_ASSERT(worker.replace());
      stuck = stick(worker);
    }
    for (const DoorPtr &door : {given_up, stuck}) {
      CPPUNIT_ASSERT_EQUAL(19, priority_of(door->thread()));
      door->let_pass();
      door->await_passed();
    }
    await([&] { return given_up.use_count() == 1 && stuck.use_count() == 1; });
  }

  void a_worker_that_was_never_used_ends() { DeadlineWorker(); }

  void ten_thousand_quick_tasks_end_in_time() {
    DeadlineWorker worker;
    auto count = std::make_shared<int>(0);
    for (int i = 0; i < 10000; ++i) CPPUNIT_ASSERT(worker.run([count] { ++*count; }, long_enough) == Ended::in_time);
    CPPUNIT_ASSERT_EQUAL(10000, *count);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(DeadlineWorkerTest);

} // namespace harmony
