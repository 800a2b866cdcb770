#include "src/discover/nvml.h"

#include "src/discover/nvml_abi.h"
#include "src/discover/nvml_library.h"
#include "src/values/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace harmony {
namespace {

using namespace nvml_abi;

constexpr const char *then_hwloc = "; GPUs are described by hwloc alone";

std::string bus_id(const nvmlPciInfo_t &pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", pci.domain, pci.bus, pci.device);
}

struct Functions : NvmlBasics {
  decltype(&nvmlSystemGetDriverVersion) driver = nullptr;
  decltype(&nvmlDeviceGetPciInfo_v3) pci = nullptr;
  decltype(&nvmlDeviceGetUUID) uuid = nullptr;
  decltype(&nvmlDeviceGetName) name = nullptr;
  decltype(&nvmlDeviceGetMemoryInfo) memory = nullptr;
  decltype(&nvmlDeviceGetMinorNumber) minor_number = nullptr;
  decltype(&nvmlDeviceGetMigMode) mig_mode = nullptr;
  decltype(&nvmlDeviceGetMaxPcieLinkGeneration) generation = nullptr;
  decltype(&nvmlDeviceGetMaxPcieLinkWidth) width = nullptr;
  decltype(&nvmlDeviceGetNvLinkState) link_state = nullptr;
  decltype(&nvmlDeviceGetNvLinkRemotePciInfo_v2) link_pci = nullptr;
  decltype(&nvmlDeviceGetNvLinkRemoteDeviceType) link_type = nullptr;
};

Functions find_functions(NvmlLibrary &library) {
  Functions f{find_nvml_basics(library)};
  library.need(f.pci, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});

  library.want(f.driver, {"nvmlSystemGetDriverVersion"}, "the driver's version is not known");
  library.want(f.uuid, {"nvmlDeviceGetUUID"}, "UUIDs are not known");
  library.want(f.name, {"nvmlDeviceGetName"}, "models are not known");
  library.want(f.memory, {"nvmlDeviceGetMemoryInfo"}, "memory is not known");
  library.want(f.minor_number, {"nvmlDeviceGetMinorNumber"}, "device files are not known");
  library.want(f.mig_mode, {"nvmlDeviceGetMigMode"}, "taking MIG as off");
  library.want(f.generation, {"nvmlDeviceGetMaxPcieLinkGeneration"}, "PCIe generation is not known");
  library.want(f.width, {"nvmlDeviceGetMaxPcieLinkWidth"}, "PCIe width is not known");
  library.want(f.link_state, {"nvmlDeviceGetNvLinkState"}, "NVLinks are not known");
  library.want(f.link_pci, {"nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo"},
               "NVLinks between GPUs are not known");
  library.want(f.link_type, {"nvmlDeviceGetNvLinkRemoteDeviceType"}, "NVSwitches are told by their PCI address");
  return f;
}

struct RemoteEnd {
  std::string bus_id;
  nvmlIntNvLinkDeviceType_t type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
  bool nvidia = true;
};

// One GPU while it is being read. Every question goes through ask(), so that a lost GPU is noticed at whichever call
// says so first, and asked no more.
struct Reading {
  NvmlGpu gpu;
  nvmlDevice_t device = nullptr;
  nvmlReturn_t last = NVML_SUCCESS;
  int switch_links = 0;
  std::vector<RemoteEnd> remote_ends;

  bool answered(nvmlReturn_t result) {
    last = result;
    if (means_lost(result)) gpu.lost = true;
    return result == NVML_SUCCESS;
  }

  template <class Function, class... Arguments> bool ask(Function function, Arguments... arguments) {
    return function && !gpu.lost && answered(function(device, arguments...));
  }

  template <std::size_t size, class Function> std::string ask_text(Function function) {
    char text[size] = {};
    return ask(function, text, static_cast<unsigned int>(size)) ? nvml_text(text, size) : std::string();
  }

  int ask_number(nvmlReturn_t (*function)(nvmlDevice_t, unsigned int *), unsigned int most) {
    unsigned int number = 0;
    return ask(function, &number) ? static_cast<int>(std::min(number, most)) : 0;
  }
};

void read_facts(const Functions &f, Reading &reading) {
  NvmlGpu &gpu = reading.gpu;
  gpu.uuid = reading.ask_text<NVML_DEVICE_UUID_V2_BUFFER_SIZE>(f.uuid);
  gpu.name = reading.ask_text<NVML_DEVICE_NAME_V2_BUFFER_SIZE>(f.name);
  nvmlMemory_t memory{};
  if (reading.ask(f.memory, &memory))
    gpu.memory_mb = static_cast<std::uint32_t>(std::min<unsigned long long>(memory.total >> 20, UINT32_MAX));
  unsigned int minor_number = 0;
  if (reading.ask(f.minor_number, &minor_number)) gpu.device = fmt::format("/dev/nvidia{}", minor_number);
  unsigned int mig = 0, pending = 0;
  gpu.mig = reading.ask(f.mig_mode, &mig, &pending) && mig == NVML_DEVICE_MIG_ENABLE;
  gpu.pcie_generation = reading.ask_number(f.generation, 99);
  gpu.pcie_width = reading.ask_number(f.width, 99);
}

void read_links(const Functions &f, Reading &reading) {
  for (unsigned int link = 0; link < links_to_ask_for && !reading.gpu.lost; ++link) {
    nvmlEnableState_t active = 0;
    if (!reading.ask(f.link_state, link, &active)) {
      if (reading.last == NVML_ERROR_INVALID_ARGUMENT) return; // past the last link
      continue;
    }
    if (active != NVML_FEATURE_ENABLED) continue;
    RemoteEnd end;
    if (!reading.ask(f.link_type, link, &end.type)) end.type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
    if (end.type == NVML_NVLINK_DEVICE_TYPE_SWITCH) {
      ++reading.switch_links;
      continue;
    }
    nvmlPciInfo_t pci{};
    if (end.type == NVML_NVLINK_DEVICE_TYPE_IBMNPU || !reading.ask(f.link_pci, link, &pci)) continue;
    const unsigned int vendor = pci.pciDeviceId & 0xffff;
    end.nvidia = vendor == 0 || vendor == 0x10de;
    end.bus_id = bus_id(pci);
    reading.remote_ends.push_back(std::move(end));
  }
}

Reading read_gpu(const Functions &f, unsigned int index, std::vector<std::string> &notes) {
  Reading reading;
  nvmlPciInfo_t pci{};
  if (reading.answered(f.handle(index, &reading.device)) && reading.ask(f.pci, &pci)) {
    reading.gpu.bus_id = bus_id(pci);
    read_facts(f, reading);
    read_links(f, reading);
  }
  const std::string who = fmt::format("GPU {} of NVML ({})", index,
                                      reading.gpu.bus_id.empty() ? "PCI address not known" : reading.gpu.bus_id);
  if (reading.gpu.lost)
    notes.push_back(fmt::format("{} is lost: {}", who, nvml_error_text(f, reading.last)));
  else if (reading.gpu.bus_id.empty())
    notes.push_back(fmt::format("{} cannot be read: {}", who, nvml_error_text(f, reading.last)));
  return reading;
}

// Without the remote end's type, an NVIDIA device that is not among the GPUs can only be an NVSwitch, provided that all
// GPUs are known.
void tell_switches(std::vector<Reading> &readings, std::vector<std::string> &notes) {
  const auto is_gpu = [&](const std::string &id) {
    return std::any_of(readings.begin(), readings.end(), [&](const Reading &r) { return r.gpu.bus_id == id; });
  };
  const bool all_known = !is_gpu("");
  bool uncertain = false;
  for (Reading &reading : readings)
    for (const RemoteEnd &end : reading.remote_ends) {
      if (end.type == NVML_NVLINK_DEVICE_TYPE_GPU || !end.nvidia || is_gpu(end.bus_id)) continue;
      if (all_known) ++reading.switch_links;
      uncertain |= !all_known;
    }
  if (uncertain) notes.push_back("NVLinks to a device that may be an NVSwitch or an unreadable GPU are not counted");
}

// As nvidia-smi counts: links straight to the other GPU, and through NVSwitches as many as both have.
void join_peers(std::vector<Reading> &readings) {
  for (Reading &one : readings) {
    for (const Reading &other : readings) {
      if (&one == &other || one.gpu.lost || other.gpu.lost || other.gpu.bus_id.empty()) continue;
      const auto straight = std::count_if(one.remote_ends.begin(), one.remote_ends.end(),
                                          [&](const RemoteEnd &end) { return end.bus_id == other.gpu.bus_id; });
      const int links = static_cast<int>(straight) + std::min(one.switch_links, other.switch_links);
      if (links > 0) one.gpu.peers.push_back({other.gpu.bus_id, links});
    }
    std::sort(one.gpu.peers.begin(), one.gpu.peers.end(),
              [](const NvmlPeer &a, const NvmlPeer &b) { return a.bus_id < b.bus_id; });
  }
}

void read_gpus(const Functions &f, const std::atomic<bool> &given_up, NvmlReport &report) {
  char version[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = {};
  if (f.driver && f.driver(version, sizeof version) == NVML_SUCCESS) report.driver = nvml_text(version, sizeof version);

  unsigned int count = 0;
  if (const nvmlReturn_t error = f.count(&count); error != NVML_SUCCESS) {
    report.present = false;
    report.problem = fmt::format("NVML cannot count the GPUs: {}{}", nvml_error_text(f, error), then_hwloc);
    return;
  }
  if (count == 0) report.notes.push_back("NVML sees no GPU");
  if (count > max_gpus) report.notes.push_back(fmt::format("NVML counts {} GPUs, reading {}", count, max_gpus));
  std::vector<Reading> readings;
  for (unsigned int i = 0; i < count && i < max_gpus && !given_up; ++i)
    readings.push_back(read_gpu(f, i, report.notes));
  tell_switches(readings, report.notes);
  join_peers(readings);
  for (Reading &reading : readings)
    if (reading.gpu.lost || !reading.gpu.bus_id.empty()) report.gpus.push_back(std::move(reading.gpu));
}

NvmlReport read_library(const std::string &path, const std::atomic<bool> &given_up) {
  NvmlReport report;
  NvmlLibrary library(path, then_hwloc);
  const Functions f = library.problem().empty() ? find_functions(library) : Functions();
  report.problem = library.problem();
  report.notes = library.notes();
  if (report.problem.empty()) report.problem = start_nvml(f, then_hwloc);
  if (!report.problem.empty()) return report;
  const std::unique_ptr<const Functions, void (*)(const Functions *)> shut_down_at_the_end(
      &f, [](const Functions *functions) { functions->shutdown(); });
  report.present = true;
  read_gpus(f, given_up, report);
  return report;
}

// All that the helper thread and its caller share; owned by both, so that either may be gone first.
struct Exchange {
  std::string library;
  std::atomic<bool> given_up{false};
  std::mutex mutex;
  std::condition_variable changed;
  bool finished = false; // with report, under mutex
  NvmlReport report;
};

void help(const std::shared_ptr<Exchange> &exchange) {
  NvmlReport report;
  try {
    report = read_library(exchange->library, exchange->given_up);
  } catch (const std::exception &) {
    report = NvmlReport();
    report.problem = "NVML: no memory"; // short enough to need none itself
  }
  const std::lock_guard<std::mutex> lock(exchange->mutex);
  exchange->report = std::move(report);
  exchange->finished = true;
  exchange->changed.notify_all();
}

} // namespace

NvmlReport read_nvml(std::chrono::milliseconds limit, const char *library) noexcept {
  NvmlReport report;
  try {
    const auto exchange = std::make_shared<Exchange>();
    exchange->library = library;
    start_nvml_thread([exchange] { help(exchange); });
    std::unique_lock<std::mutex> lock(exchange->mutex);
    const auto wait = std::min<std::chrono::milliseconds>(limit, std::chrono::hours(1));
    if (exchange->changed.wait_for(lock, wait, [&] { return exchange->finished; })) return std::move(exchange->report);
    exchange->given_up = true;
    report.timed_out = true;
    report.problem =
        fmt::format("NVML gave no answer within {} ms (a hanging or very slow driver?){}", wait.count(), then_hwloc);
  } catch (const std::exception &) {
    report.problem = "NVML: no thread"; // short enough to need no memory
  }
  return report;
}

} // namespace harmony
