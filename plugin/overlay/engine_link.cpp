#include "plugin/overlay/engine_link.h"

#include "plugin/overlay/stock_plugin.h"

#include <dlfcn.h>

namespace harmony {
namespace {

constexpr const char *without_it = "everything is left to stock";

bool right_build(const EngineApi &engine, const char *path) {
  if (engine.layout == engine_layout && engine.slurm_version == SLURM_VERSION_NUMBER &&
      strncmp(engine.version, HARMONY_VERSION, sizeof engine.version) == 0)
    return true;
  error("harmony: %s is version %.31s (layout %u) for Slurm 0x%06x, the overlay is " HARMONY_VERSION
        " (layout %u) for 0x%06x: install both from one build; %s",
        path, engine.version, engine.layout, engine.slurm_version, engine_layout,
        static_cast<unsigned>(SLURM_VERSION_NUMBER), without_it);
  return false;
}

void complain(const ModeSetting &setting) {
  if (setting.bad)
    error("harmony: SchedulerParameters: harmony_mode=%.*s is none of %s; running as off, %s",
          static_cast<int>(setting.bad_value.size() > 64 ? 64 : setting.bad_value.size()), setting.bad_value.data(),
          mode_names_allowed, without_it);
  if (!setting.unknown_entry.empty())
    error("harmony: SchedulerParameters: unknown entry %.*s is ignored; harmony_mode is the only one",
          static_cast<int>(setting.unknown_entry.size() > 64 ? 64 : setting.unknown_entry.size()),
          setting.unknown_entry.data());
}

} // namespace

bool EngineLink::load() {
  char directory[4000], path[4096];
  if (!own_directory(directory, sizeof directory)) {
    error("harmony: cannot tell which directory the overlay is in; %s", without_it);
    return false;
  }
  snprintf(path, sizeof path, "%s/%s", directory, engine_file);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    error("harmony: cannot load the engine %s: %s; %s", path, dlerror(), without_it);
    return false;
  }
  const auto *engine = static_cast<const EngineApi *>(dlsym(handle, engine_symbol));
  if (!engine) {
    error("harmony: %s has no %s and is no engine of ours; %s", path, engine_symbol, without_it);
    return false;
  }
  if (!right_build(*engine, path)) return false;
  engine_ = engine;
  return true;
}

// The engine in this mode, or nullptr with the reason in the log.
const EngineApi *EngineLink::engine_for(Mode mode) {
  if (mode == Mode::off) {
    if (engine_) engine_->set_mode(mode); // its threads rest
    return nullptr;
  }
  if (!engine_ && !load()) return nullptr;
  if (engine_->set_mode(mode)) return engine_;
  error("harmony: the engine refuses mode %s; %s", mode_name(mode), without_it);
  return nullptr;
}

void EngineLink::apply(const char *scheduler_parameters) {
  const ModeSetting setting = mode_from_scheduler_parameters(scheduler_parameters ? scheduler_parameters : "");
  complain(setting);
  if (setting.mode == Mode::off && !setting.bad) info("harmony: mode off, %s", without_it);
  const EngineApi *engine = engine_for(setting.mode);
  const char *state = "loaded";
  if (setting.bad)
    state = "not loaded: harmony_mode is not understood";
  else if (setting.mode == Mode::off)
    state = "not needed";
  else if (!engine)
    state = "not working: slurmctld's log says why";
  __atomic_store_n(&mode_, setting.mode, __ATOMIC_RELAXED);
  __atomic_store_n(&state_, state, __ATOMIC_RELEASE);
  __atomic_store_n(&active_, engine, __ATOMIC_RELEASE);
}

} // namespace harmony
