// A stand-in for libnvidia-ml.so.1 with its real binary interface, for machines without a GPU. What it plays is chosen
// by HARMONY_NVML_SCENARIO, read at each nvmlInit:
//
//   normal8         a DGX-1 with V100: 8 GPUs, the NVLink cube
//   nvswitch16      a DGX-2: 16 GPUs, 6 links each into NVSwitches
//   mig             2 A100, MIG on in the second, device files numbered backwards, no NVLink
//   lost            normal8, GPU 3 falls off the bus after it told its address
//   lost_handle     normal8, GPU 3 was lost before: not even a handle
//   unknown_error   normal8, GPU 3 answers everything with "unknown error"
//   rude            mig, with texts that do not end and are not printable
//   no_devices, mismatch, driver_missing, no_permission
//   slow            normal8, every call takes 3 s
//   hang            nvmlInit never returns
//   hang_in_use     normal8, GPU 5 tells its use once, and then never returns
//
// Built with -DSTAND_IN_OLD it exports the older names only, as an old driver does.
#include "src/discover/nvml_abi.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace harmony::nvml_abi {

struct nvmlDevice_st {
  unsigned int index;
};

using namespace std::string_literals;

namespace {

enum Scenario {
  normal8,
  nvswitch16,
  mig,
  lost,
  lost_handle,
  unknown_error,
  rude,
  no_devices,
  mismatch,
  driver_missing,
  no_permission,
  slow,
  hang,
  hang_in_use,
  scenarios
};
const char *const scenario_names[scenarios] = {
    "normal8",  "nvswitch16",     "mig",           "lost", "lost_handle", "unknown_error", "rude", "no_devices",
    "mismatch", "driver_missing", "no_permission", "slow", "hang",        "hang_in_use"};

std::atomic<int> scenario{no_devices}; // atomic: a thread that was left behind may still be calling

constexpr unsigned int cube_bus[8] = {0x06, 0x07, 0x0a, 0x0b, 0x85, 0x86, 0x89, 0x8a};
constexpr unsigned int dgx2_bus[16] = {0x34, 0x36, 0x39, 0x3b, 0x57, 0x59, 0x5c, 0x5e,
                                       0xb7, 0xb9, 0xbc, 0xbe, 0xe0, 0xe2, 0xe5, 0xe7};
constexpr unsigned int mig_bus[2] = {0x3b, 0xaf};
constexpr unsigned int cube[8][6] = {{1, 2, 3, 3, 4, 4}, {0, 2, 2, 3, 5, 5}, {0, 1, 1, 3, 3, 6}, {0, 0, 1, 2, 2, 7},
                                     {0, 0, 5, 6, 7, 7}, {1, 1, 4, 6, 6, 7}, {2, 4, 5, 5, 7, 7}, {3, 4, 4, 5, 6, 6}};

nvmlDevice_st devices[16] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, {12}, {13}, {14}, {15}};

bool two_a100() { return scenario == mig || scenario == rude; }

unsigned int gpus() {
  if (scenario == no_devices) return 0;
  if (scenario == nvswitch16) return 16;
  return two_a100() ? 2 : 8;
}

unsigned int bus_of(unsigned int gpu) {
  if (scenario == nvswitch16) return dgx2_bus[gpu];
  return two_a100() ? mig_bus[gpu % 2] : cube_bus[gpu % 8];
}

// Before any answer: time passes, and GPU 3 may be lost.
nvmlReturn_t asked(nvmlDevice_t device = nullptr) {
  if (scenario == slow) sleep(3);
  if (!device || device->index != 3) return NVML_SUCCESS;
  if (scenario == unknown_error) return NVML_ERROR_UNKNOWN;
  return scenario == lost || scenario == lost_handle ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t put(const std::string &text, char *to, unsigned int length) {
  if (scenario == rude) { // no end, and no printable character but the first
    std::memset(to, 0xfe, length);
    to[0] = 'N';
    to[1] = '\n';
    return NVML_SUCCESS;
  }
  if (length <= text.size()) return 7; // NVML_ERROR_INSUFFICIENT_SIZE
  std::memcpy(to, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

void put_pci(unsigned int bus, unsigned int device_id, nvmlPciInfo_t *pci, bool old_layout) {
  std::memset(pci, 0, old_layout ? offsetof(nvmlPciInfo_t, busId) : sizeof *pci);
  std::snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", bus);
  pci->bus = bus;
  pci->pciDeviceId = device_id << 16 | 0x10de;
  if (!old_layout) std::snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", bus);
}

nvmlReturn_t start() {
  const char *name = std::getenv("HARMONY_NVML_SCENARIO");
  int chosen = no_devices;
  for (int i = 0; name && i < scenarios; ++i)
    if (std::strcmp(name, scenario_names[i]) == 0) chosen = i;
  scenario = chosen;
  while (scenario == hang) sleep(1000);
  if (scenario == mismatch) return NVML_ERROR_LIB_RM_VERSION_MISMATCH;
  if (scenario == driver_missing) return NVML_ERROR_DRIVER_NOT_LOADED;
  if (scenario == no_permission) return NVML_ERROR_NO_PERMISSION;
  return asked();
}

nvmlReturn_t count(unsigned int *number) {
  *number = gpus();
  return asked();
}

nvmlReturn_t handle(unsigned int index, nvmlDevice_t *device) {
  if (index >= gpus()) return NVML_ERROR_INVALID_ARGUMENT;
  *device = &devices[index];
  return scenario == lost_handle ? asked(*device) : asked();
}

nvmlReturn_t pci_info(nvmlDevice_t device, nvmlPciInfo_t *pci, bool old_layout) {
  put_pci(bus_of(device->index), 0x1db1, pci, old_layout);
  return asked();
}

nvmlReturn_t check_link(nvmlDevice_t device, unsigned int link) {
  if (const nvmlReturn_t error = asked(device)) return error;
  if (two_a100()) return NVML_ERROR_NOT_SUPPORTED;
  return link < 6 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t remote_pci(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci, bool old_layout) {
  if (const nvmlReturn_t error = check_link(device, link)) return error;
  if (scenario == nvswitch16)
    put_pci(0xc0 + link, 0x1ac2, pci, old_layout);
  else
    put_pci(cube_bus[cube[device->index % 8][link]], 0x1db1, pci, old_layout);
  return NVML_SUCCESS;
}

} // namespace

extern "C" {

nvmlReturn_t nvmlShutdown() { return asked(); }

const char *nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
  case NVML_ERROR_NO_PERMISSION: return "Insufficient Permissions";
  case NVML_ERROR_DRIVER_NOT_LOADED: return "Driver Not Loaded";
  case NVML_ERROR_GPU_IS_LOST: return "GPU is lost";
  case NVML_ERROR_LIB_RM_VERSION_MISMATCH: return "Driver/library version mismatch";
  default: return "Unknown Error";
  }
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
  asked();
  return put("535.104.05", version, length);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
  if (const nvmlReturn_t error = asked(device)) return error;
  return put("GPU-00000000-0000-0000-0000-00000000000"s + "0123456789abcdef"[device->index], uuid, length);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
  if (const nvmlReturn_t error = asked(device)) return error;
  return put(two_a100() ? "NVIDIA A100-PCIE-40GB" : "Tesla V100-SXM2-32GB", name, length);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  const unsigned long long total = two_a100() ? 40960ULL << 20 : 32768ULL << 20;
  const unsigned long long used = (1000ULL + device->index) << 20;
  *memory = {total, total - used, used};
  return asked(device);
}

// 90 % of GPU 0, 89 % of GPU 1, and so on.
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
  static std::atomic<bool> told{false};
  if (scenario == hang_in_use && device->index == 5 && told.exchange(true))
    while (true) sleep(1000);
  if (scenario == mig && device->index == 1) return NVML_ERROR_NOT_SUPPORTED;
  *utilization = {90 - device->index, 40};
  return asked(device);
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor) {
  *minor = two_a100() ? 1 - device->index % 2 : device->index;
  return asked(device);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation) {
  *generation = two_a100() ? 4 : 3;
  return asked(device);
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *width) {
  *width = 16;
  return asked(device);
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *active) {
  *active = NVML_FEATURE_ENABLED;
  return check_link(device, link);
}

// The older names, which today's library has too.
nvmlReturn_t nvmlInit() { return start(); }
nvmlReturn_t nvmlDeviceGetCount(unsigned int *number) { return count(number); }
nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device) { return handle(index, device); }
nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci) { return pci_info(device, pci, true); }
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci) {
  return remote_pci(device, link, pci, true);
}

#ifndef STAND_IN_OLD
nvmlReturn_t nvmlInit_v2() { return start(); }
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *number) { return count(number); }
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) { return handle(index, device); }
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) { return pci_info(device, pci, false); }
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci) {
  return remote_pci(device, link, pci, false);
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
  if (!two_a100()) return asked(device) ? asked(device) : NVML_ERROR_NOT_SUPPORTED;
  *current = *pending = device->index == 1 ? NVML_DEVICE_MIG_ENABLE : 0;
  return asked(device);
}

// As the real one it measures for 20 ms: 1, 2, 3 ... GB/s in and half of it out.
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned int *value) {
  usleep(20000);
  *value = 1000000 * (device->index + 1) / (counter == NVML_PCIE_UTIL_RX_BYTES ? 1 : 2);
  return asked(device);
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
                                                 nvmlIntNvLinkDeviceType_t *type) {
  *type = scenario == nvswitch16 ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
  return check_link(device, link);
}
#endif
}

} // namespace harmony::nvml_abi
