// Threads in slurmctld: signals are for its own.
#pragma once

#include <csignal>
#include <pthread.h>
#include <thread>
#include <utility>

namespace harmony {

// A thread that gets no signals: a new one inherits what is blocked while it is made. Throws std::system_error if none
// can be made.
template <class Body> std::thread quiet_thread(Body body) {
  struct Blocked {
    Blocked() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_BLOCK, &all, &before);
    }
    ~Blocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  };
  const Blocked blocked;
  return std::thread(std::move(body));
}

} // namespace harmony
