#include "src/discover/nvml_library.h"

#include "src/values/printable.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>

#include <cstring>
#include <thread>

namespace harmony {

using namespace nvml_abi;

namespace {

// A plugin may be unloaded while the thread is still in NVML and has to return into this code. (For an executable this
// finds nothing to do.)
void keep_this_code_loaded() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void *>(&start_nvml_thread), &self) && self.dli_fname)
    dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

} // namespace

NvmlLibrary::NvmlLibrary(const std::string &path, std::string instead) : instead_(std::move(instead)) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle_) problem_ = fmt::format("NVML cannot be loaded: {}{}", nvml_text(dlerror(), 300), instead_);
}

bool NvmlLibrary::has(const char *name) const { return handle_ && dlsym(handle_, name) != nullptr; }

void *NvmlLibrary::find(std::initializer_list<const char *> names) {
  for (const char *name : names) {
    void *function = handle_ ? dlsym(handle_, name) : nullptr;
    if (!function) continue;
    if (name != *names.begin()) note(fmt::format("older NVML without {}: using {}", *names.begin(), name));
    return function;
  }
  return nullptr;
}

void NvmlLibrary::miss(const char *name) {
  if (problem_.empty()) problem_ = fmt::format("NVML has no function {}: not used{}", name, instead_);
}

void NvmlLibrary::note_missing(const char *name, const char *without) {
  note(fmt::format("older NVML without {}: {}", name, without));
}

NvmlBasics find_nvml_basics(NvmlLibrary &library) {
  NvmlBasics f;
  library.need(f.init, {"nvmlInit_v2", "nvmlInit"});
  library.need(f.shutdown, {"nvmlShutdown"});
  // The two generations number GPUs differently: never one of each.
  if (library.has("nvmlDeviceGetCount_v2") && library.has("nvmlDeviceGetHandleByIndex_v2")) {
    library.need(f.count, {"nvmlDeviceGetCount_v2"});
    library.need(f.handle, {"nvmlDeviceGetHandleByIndex_v2"});
  } else {
    library.need(f.count, {"nvmlDeviceGetCount"});
    library.need(f.handle, {"nvmlDeviceGetHandleByIndex"});
    library.note("older NVML without nvmlDeviceGetCount_v2: GPUs that we may not use are not seen");
  }
  library.want(f.error_string, {"nvmlErrorString"}, "errors are given as numbers");
  return f;
}

std::string start_nvml(const NvmlBasics &basics, const std::string &instead) {
  const nvmlReturn_t error = basics.init();
  if (error == NVML_SUCCESS) return {};
  const char *hint = "";
  if (error == NVML_ERROR_LIB_RM_VERSION_MISMATCH)
    hint = ": the library and the loaded driver are of different versions (updated without a reboot?)";
  if (error == NVML_ERROR_DRIVER_NOT_LOADED) hint = ": the NVIDIA driver is not loaded";
  if (error == NVML_ERROR_NO_PERMISSION) hint = ": no permission to talk to the NVIDIA driver";
  return fmt::format("NVML does not start{}: {}{}", hint, nvml_error_text(basics, error), instead);
}

std::string nvml_error_text(const NvmlBasics &basics, nvmlReturn_t error) {
  const char *text = basics.error_string ? basics.error_string(error) : nullptr;
  return text ? fmt::format("{} (NVML error {})", nvml_text(text, 200), error) : fmt::format("NVML error {}", error);
}

std::string nvml_text(const char *text, std::size_t capacity) {
  return text ? one_line(std::string_view(text, strnlen(text, capacity))) : std::string();
}

bool means_lost(nvmlReturn_t answer) {
  return answer == NVML_ERROR_GPU_IS_LOST || answer == NVML_ERROR_RESET_REQUIRED || answer == NVML_ERROR_UNKNOWN;
}

void start_nvml_thread(std::function<void()> work) {
  keep_this_code_loaded();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(std::move(work)).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace harmony
