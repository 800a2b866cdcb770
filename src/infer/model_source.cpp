#include "src/infer/model_source.h"

#include "src/encode/schema.h"
#include "src/values/clock.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace harmony {
namespace {

// A round may be late by that much because of a new model; what takes longer goes on beside the rounds.
constexpr std::chrono::milliseconds patience(200);
// But the first: LibTorch takes about a second, and gangs that waited for slurmctld's start had better be the model's.
constexpr std::chrono::milliseconds patience_at_first(3000);
// LibTorch is there within a few seconds on any machine; what takes longer will not end.
constexpr std::int64_t longest_ms = 60 * 1000;

bool is_same(const ReadyModel &one, const ReadyModel &other) {
  return one.manifest.version == other.manifest.version && manifest_json(one.manifest) == manifest_json(other.manifest);
}

} // namespace

// The thread is over before anybody else reads this: DeadlineWorker sees to that.
struct ModelSource::Load {
  ModelReading reading; // of the store
  bool shipped = false; // there is nothing in use, so the shipped model was read in its place
  Prepared prepared;

  void run(const ModelStore &store, const std::string &shipped_model, const std::string &torch_library) {
    try {
      reading = store.read_current();
      shipped = reading.none && !shipped_model.empty();
      if (shipped)
        prepared = prepare_model(store.read_directory(shipped_model), torch_library);
      else if (!reading.none)
        prepared = prepare_model(reading, torch_library);
    } catch (const std::exception &failed) {
      prepared = {nullptr, failed.what()};
    }
    std::string().swap(reading.model);
  }
};

void ModelSource::look(const std::string &store, uid_t slurm_user) {
  if (loading_) finish();
  Trust trust;
  trust.owner = slurm_user;
  const ModelStore there(store, trust, schema_problem);
  const StoreStamp stamp = there.stamp();
  if (looked_ && store == store_ && stamp == stamp_ && !look_again_) return;
  const bool stuck = loading_ && stuck_;
  if (loading_ && !stuck) return; // one at a time; what is different now still is when that one has ended
  if (stuck && !worker_.replace())
    return tell("too many models are stuck while they load; slurmctld has to be restarted");
  look_again_ = false;
  looked_ = true;
  store_ = store;
  stamp_ = stamp;
  begin(there);
}

void ModelSource::begin(const ModelStore &store) {
  loading_ = std::make_shared<Load>();
  const auto longest = begun_ms_ == 0 ? patience_at_first : patience;
  begun_ms_ = now_ms();
  stuck_ = false;
  const auto task = [load = loading_, store, shipped = shipped_, library = torch_library_] {
    load->run(store, shipped, library);
  };
  try {
    if (worker_.run(task, longest) == DeadlineWorker::Ended::in_time) finish();
  } catch (const std::exception &failed) { // no thread
    loading_.reset();
    looked_ = false;
    tell(fmt::format("the model of {} cannot be loaded now: {}", store_, failed.what()));
  }
}

void ModelSource::finish() {
  if (worker_.busy()) {
    if (!stuck_ && now_ms() - begun_ms_ > longest_ms) {
      stuck_ = true;
      tell(fmt::format("the model that {}/CURRENT names, or the shipped one, does not finish loading", store_));
    }
    return;
  }
  const std::shared_ptr<Load> done = std::move(loading_);
  loading_.reset();
  done->prepared.model ? take(*done) : refuse(*done);
}

void ModelSource::take(const Load &done) {
  // The one in service keeps its standing when it is read again.
  if (!model_ || !is_same(*model_, *done.prepared.model)) {
    ++statistics_.models_loaded;
    model_ = done.prepared.model;
    name_ = done.shipped ? model_->manifest.name + " (shipped)" : model_->title();
    say_(Loudness::info, fmt::format("model {} is in service, loaded in {} ms", name_, now_ms() - begun_ms_));
  }
  const std::lock_guard lock(mutex_);
  title_ = name_;
  problem_.clear();
}

void ModelSource::refuse(const Load &done) {
  // Whoever takes the last version out of use does not want the one that was in service any more.
  if (done.reading.none) model_.reset();
  if (done.reading.none && !done.shipped) return tell(done.reading.problem);
  ++statistics_.models_refused;
  if (done.shipped)
    return tell(
        fmt::format("no version of {} is in use, and the shipped model is refused: {}", store_, done.prepared.problem));
  const std::string which =
      done.reading.version ? fmt::format("version {} of {}", done.reading.version, store_) : "the model of " + store_;
  tell(fmt::format("{} is refused: {}", which, done.prepared.problem));
}

void ModelSource::tell(const std::string &problem) {
  const std::string now =
      model_ ? fmt::format("model {} stays in service", name_) : std::string("gangs are placed by the heuristic");
  const std::lock_guard lock(mutex_);
  const std::string title = model_ ? name_ : "none";
  if (problem != problem_ || title != title_) say_(Loudness::error, fmt::format("{}; {}", problem, now));
  title_ = title;
  problem_ = problem;
}

std::string ModelSource::title() const {
  const std::lock_guard lock(mutex_);
  return title_;
}

std::string ModelSource::problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

} // namespace harmony
