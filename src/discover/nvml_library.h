// Loading NVML at run time, for all who ask it: the library, its functions by name, and a thread to ask it on, since a
// driver may hang. Nothing here waits for the driver but start_nvml(). Any thread.
#pragma once

#include "src/discover/nvml_abi.h"

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace harmony {

// Finds functions by name and keeps a note of what is older than we know, or missing.
class NvmlLibrary {
public:
  // `instead` ends every problem: what happens without NVML. The library is never unloaded: it may have threads and
  // thread-exit handlers of its own.
  NvmlLibrary(const std::string &path, std::string instead);

  const std::string &problem() const { return problem_; }
  const std::vector<std::string> &notes() const { return notes_; }

  // The newest of `names` comes first.
  template <class Function> void need(Function &function, std::initializer_list<const char *> names) {
    function = reinterpret_cast<Function>(find(names));
    if (!function) miss(*names.begin());
  }

  template <class Function>
  void want(Function &function, std::initializer_list<const char *> names, const char *without) {
    function = reinterpret_cast<Function>(find(names));
    if (!function) note_missing(*names.begin(), without);
  }

  bool has(const char *name) const;
  void note(const std::string &line) { notes_.push_back(line); }

private:
  void *find(std::initializer_list<const char *> names);
  void miss(const char *name);
  void note_missing(const char *name, const char *without);

  void *handle_ = nullptr;
  std::string instead_, problem_;
  std::vector<std::string> notes_;
};

// What nobody can do without.
struct NvmlBasics {
  decltype(&nvml_abi::nvmlInit_v2) init = nullptr;
  decltype(&nvml_abi::nvmlShutdown) shutdown = nullptr;
  decltype(&nvml_abi::nvmlErrorString) error_string = nullptr;
  decltype(&nvml_abi::nvmlDeviceGetCount_v2) count = nullptr;
  decltype(&nvml_abi::nvmlDeviceGetHandleByIndex_v2) handle = nullptr;
};
NvmlBasics find_nvml_basics(NvmlLibrary &library);

// Calls nvmlInit; why it does not start, or empty.
std::string start_nvml(const NvmlBasics &basics, const std::string &instead);

std::string nvml_error_text(const NvmlBasics &basics, nvml_abi::nvmlReturn_t error);

// What NVML writes is not trusted to end, nor to be printable.
std::string nvml_text(const char *text, std::size_t capacity);

// Whether this answer means that the driver has lost the GPU, so that it need not be asked again.
bool means_lost(nvml_abi::nvmlReturn_t answer);

// Detached, and with all signals blocked, since they are for the threads of the program that we are in. Throws
// std::system_error if there can be no thread.
void start_nvml_thread(std::function<void()> work);

} // namespace harmony
