// So many pieces of work on so many threads; what is done with piece i must not depend on who does it.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace harmony {

// `work` gets the piece and the thread's number. Throws what the first piece threw that did.
inline void in_parallel(std::size_t pieces, int threads,
                        const std::function<void(std::size_t piece, int thread)> &work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr thrown; // guarded by mutex
  const auto run = [&](int thread) {
    for (std::size_t piece; (piece = next++) < pieces && !failed;) {
      try {
        work(piece, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
        failed = true;
      }
    }
  };
  std::vector<std::thread> others;
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
  run(0);
  for (std::thread &other : others) other.join();
  if (thrown) std::rethrow_exception(thrown);
}

} // namespace harmony
