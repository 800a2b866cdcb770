// Finding and loading the stock plugin that an overlay stands in front of.
//
// Part of the overlay: free of exceptions and of the C++ run-time library, because every Slurm command
// loads it. Called from the plugin's init(), which Slurm serialises.
#pragma once

namespace harmony {

class StockPlugin {
public:
  // Loads FILE (such as "select_cons_tres.so") from the first directory of slurm.conf's PluginDir behind the overlay's
  // own that has one, and calls its init(). On failure says why, and where it looked, in slurmctld as a fatal error
  // (nothing can be scheduled without it), elsewhere as an error; returns false then.
  bool load(const char *file);

  // The address of a symbol, or nullptr.
  void *symbol(const char *name) const;

  // Calls the stock plugin's fini().
  void unload();

  const char *path() const { return path_; }

private:
  bool open(const char *file);
  bool start();

  void *handle_ = nullptr;
  char path_[4096] = "";
};

// The directory this overlay was loaded from, without a trailing slash, into `directory`.
bool own_directory(char *directory, unsigned long size);

// Says it as fatal() in slurmctld, which ends it, and as error() elsewhere.
void fail(const char *message);

} // namespace harmony
