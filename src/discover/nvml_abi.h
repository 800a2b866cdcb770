// The part of NVML's public binary interface that we use, under NVML's own names, so that neither its header nor its
// library is needed to build. Nothing here is ever linked: nvml_library.cpp finds the functions at run time, and the
// tests' stand-in (tests/nvml/stand_in.cpp) defines them, checked against these declarations by the compiler.
//
// Layouts and values are facts of libnvidia-ml.so.1 and may not change.
#pragma once

#include <cstddef>

namespace harmony::nvml_abi {

// NVML's enums are 4 bytes wide; plain integers, because a newer library may return values that we do not list.
using nvmlReturn_t = unsigned int;
using nvmlEnableState_t = unsigned int;
using nvmlIntNvLinkDeviceType_t = unsigned int;

using nvmlDevice_t = struct nvmlDevice_st *;

constexpr nvmlReturn_t NVML_SUCCESS = 0;
constexpr nvmlReturn_t NVML_ERROR_INVALID_ARGUMENT = 2;
constexpr nvmlReturn_t NVML_ERROR_NOT_SUPPORTED = 3;
constexpr nvmlReturn_t NVML_ERROR_NO_PERMISSION = 4;
constexpr nvmlReturn_t NVML_ERROR_DRIVER_NOT_LOADED = 9;
constexpr nvmlReturn_t NVML_ERROR_GPU_IS_LOST = 15;
constexpr nvmlReturn_t NVML_ERROR_RESET_REQUIRED = 16;
constexpr nvmlReturn_t NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18;
constexpr nvmlReturn_t NVML_ERROR_UNKNOWN = 999;

using nvmlPcieUtilCounter_t = unsigned int;
constexpr nvmlPcieUtilCounter_t NVML_PCIE_UTIL_TX_BYTES = 0;
constexpr nvmlPcieUtilCounter_t NVML_PCIE_UTIL_RX_BYTES = 1;

constexpr nvmlEnableState_t NVML_FEATURE_ENABLED = 1;
constexpr unsigned int NVML_DEVICE_MIG_ENABLE = 1;

constexpr nvmlIntNvLinkDeviceType_t NVML_NVLINK_DEVICE_TYPE_GPU = 0;
constexpr nvmlIntNvLinkDeviceType_t NVML_NVLINK_DEVICE_TYPE_IBMNPU = 1;
constexpr nvmlIntNvLinkDeviceType_t NVML_NVLINK_DEVICE_TYPE_SWITCH = 2;
constexpr nvmlIntNvLinkDeviceType_t NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255;

// NVML_NVLINK_MAX_LINKS is 18 for Hopper and Blackwell; links past a GPU's last one are answered with an error.
constexpr unsigned int links_to_ask_for = 36;

constexpr std::size_t NVML_DEVICE_UUID_V2_BUFFER_SIZE = 96;
constexpr std::size_t NVML_DEVICE_NAME_V2_BUFFER_SIZE = 96;
constexpr std::size_t NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE = 80;

// As nvmlDeviceGetPciInfo_v3 and nvmlDeviceGetNvLinkRemotePciInfo_v2 fill it. The older functions fill a shorter
// structure that begins alike up to pciDeviceId, so this one may be passed to them; busId then stays empty.
struct nvmlPciInfo_t {
  char busIdLegacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pciDeviceId; // device id above, vendor id below
  unsigned int pciSubSystemId;
  char busId[32];
};
static_assert(sizeof(nvmlPciInfo_t) == 68 && offsetof(nvmlPciInfo_t, domain) == 16 &&
              offsetof(nvmlPciInfo_t, pciDeviceId) == 28 && offsetof(nvmlPciInfo_t, busId) == 36);

struct nvmlMemory_t { // bytes
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
static_assert(sizeof(nvmlMemory_t) == 24 && offsetof(nvmlMemory_t, used) == 16);

struct nvmlUtilization_t { // percent of the last second or less
  unsigned int gpu;
  unsigned int memory; // of its bandwidth
};
static_assert(sizeof(nvmlUtilization_t) == 8);

extern "C" {
nvmlReturn_t nvmlInit_v2(); // before it: nvmlInit
nvmlReturn_t nvmlShutdown();
const char *nvmlErrorString(nvmlReturn_t result);
nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count);                              // nvmlDeviceGetCount
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device); // nvmlDeviceGetHandleByIndex
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci); // _v2, nvmlDeviceGetPciInfo
nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending);
nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned int *generation);
nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned int *width);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *active);
nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
                                                 nvmlIntNvLinkDeviceType_t *type);
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization);
// Measures for 20 ms before it answers; `value` is in kB/s.
nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned int *value);
}

} // namespace harmony::nvml_abi
