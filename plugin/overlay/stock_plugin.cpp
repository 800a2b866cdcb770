#include "plugin/slurm_version.h"

#include "plugin/overlay/stock_plugin.h"

#include <dlfcn.h>
#include <sys/stat.h>

namespace harmony {
namespace {

// Whether two paths are the same file, through links and other spellings.
bool same_file(const char *one, const char *other) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool regular_file(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

const char *plugin_dirs() { return &slurm_conf && slurm_conf.plugindir ? slurm_conf.plugindir : ""; }

} // namespace

bool own_directory(char *directory, unsigned long size) {
  Dl_info self;
  if (!dladdr(reinterpret_cast<void *>(&own_directory), &self) || !self.dli_fname) return false;
  const char *slash = strrchr(self.dli_fname, '/');
  if (!slash || static_cast<unsigned long>(slash - self.dli_fname) >= size) return false;
  snprintf(directory, size, "%.*s", static_cast<int>(slash - self.dli_fname), self.dli_fname);
  return true;
}

void fail(const char *message) {
  if (running_in_slurmctld()) fatal("harmony: %s", message);
  error("harmony: %s", message);
}

bool StockPlugin::open(const char *file) {
  char own[sizeof path_] = "", self[sizeof path_];
  own_directory(own, sizeof own);
  snprintf(self, sizeof self, "%.3900s/%s", own, file);
  // Only behind ourselves: an older overlay that is still listed would find us, and we it, for ever.
  bool behind_us = false;
  for (const char *dir = plugin_dirs(); *dir;) {
    const size_t length = strcspn(dir, ":");
    snprintf(path_, sizeof path_, "%.*s/%s", static_cast<int>(length), dir, file);
    dir += length + (dir[length] == ':');
    if (same_file(path_, self)) {
      behind_us = true;
      continue;
    }
    if (!behind_us || !regular_file(path_)) continue;
    handle_ = dlopen(path_, RTLD_LAZY);
    if (handle_) return true;
    error("harmony: cannot load the stock plugin %s: %s; looking further along PluginDir", path_, dlerror());
  }
  path_[0] = '\0';
  return false;
}

bool StockPlugin::start() {
  const auto init = reinterpret_cast<int (*)()>(symbol("init"));
  return !init || init() == SLURM_SUCCESS;
}

bool StockPlugin::load(const char *file) {
  char message[2 * sizeof path_];
  if (!open(file)) {
    snprintf(message, sizeof message,
             "no stock %s in PluginDir=%s behind our own; list Slurm's plugin directory after ours", file,
             plugin_dirs());
    fail(message);
    return false;
  }
  if (!start()) {
    snprintf(message, sizeof message, "init() of the stock plugin %s failed", path_);
    fail(message);
    return false;
  }
  return true;
}

void *StockPlugin::symbol(const char *name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

// Closed as Slurm would: backfill's fini() leaves a mark in its own data that it is to end, and only a fresh copy
// begins again when slurmctld takes over a second time.
void StockPlugin::unload() {
  const auto fini = reinterpret_cast<void (*)()>(symbol("fini"));
  if (fini) fini();
  if (handle_) dlclose(handle_);
  handle_ = nullptr;
}

} // namespace harmony
