// Threads in slurmctld: signals are for its own.
#pragma once

#include <csignal>
#include <pthread.h>
#include <thread>
#include <utility>

namespace harmony {

// A thread that gets no signals: a new one inherits what is blocked while it is made.
template <class Body> std::thread quiet_thread(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

} // namespace harmony
