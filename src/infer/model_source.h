// The model in service: read from the store, checked, loaded and warmed up on a thread of its own, and exchanged
// between rounds when CURRENT changes. A model that is refused leaves the one before it in service. As long as nothing
// was taken in use in the store, the model that is shipped with slurm-harmony serves.
#pragma once

#include "src/infer/deadline_worker.h"
#include "src/infer/scorer.h"
#include "src/store/model_store.h"
#include "src/values/say.h"
#include "src/values/statistics.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <sys/types.h>

namespace harmony {

// A model that may be asked, or why not.
struct Prepared {
  std::shared_ptr<const ReadyModel> model;
  std::string problem;
};

// All that stands between bytes and service: schema, LibTorch's version, loading, a warm-up whose scores are finite and
// tell one candidate from another. Takes a second the first time.
Prepared prepare_model(const ModelReading &reading, const std::string &torch_library);

class ModelSource {
public:
  // `torch_library`: the file harmony_torch.so; `shipped`: the directory of the shipped model, empty if there is none.
  ModelSource(std::string torch_library, std::string shipped, Statistics &statistics, Say say)
      : torch_library_(std::move(torch_library)), shipped_(std::move(shipped)), statistics_(statistics),
        say_(std::move(say)) {}

  // Before each round, from the thread that plans: a look at CURRENT, and if it is another one, the model it names.
  // That takes a moment at most, the first time a few: a model that takes longer is in service from a later round on.
  void look(const std::string &store, uid_t slurm_user);

  // Looks at the store afresh the next time, whether CURRENT changed or not. From any thread.
  void look_again() { look_again_ = true; }

  bool is_loading() const { return worker_.busy(); }                        // when nothing else is asked of it any more
  const std::shared_ptr<const ReadyModel> &model() const { return model_; } // nullptr: none; from the planning thread

  // From any thread: what is in service ("linear version 3", "harmony (shipped)", "none"), and what is wrong (empty).
  std::string title() const;
  std::string problem() const;

private:
  struct Load; // what the loading thread works with and leaves behind
  void begin(const ModelStore &store);
  void finish();
  void take(const Load &done);
  void refuse(const Load &done);
  void tell(const std::string &problem);

  const std::string torch_library_, shipped_;
  Statistics &statistics_;
  const Say say_;
  DeadlineWorker worker_;
  std::shared_ptr<Load> loading_;
  std::shared_ptr<const ReadyModel> model_;
  std::string name_; // of model_, as title() tells it
  std::string store_;
  StoreStamp stamp_;
  bool looked_ = false;
  std::int64_t begun_ms_ = 0;
  bool stuck_ = false; // loading takes so long that it is not expected to end
  std::atomic<bool> look_again_{false};
  mutable std::mutex mutex_;
  std::string title_ = "none", problem_; // guarded by mutex_
};

} // namespace harmony
