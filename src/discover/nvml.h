// What NVML, the NVIDIA driver's library, says about this machine's GPUs. It is loaded at run time; a machine without
// it is not an error here, only a report that says so.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace harmony {

struct NvmlPeer {
  std::string bus_id;
  int links = 0; // active NVLinks, straight or through NVSwitches; at least 1
};

struct NvmlGpu {
  std::string uuid;
  std::string bus_id; // 0000:3b:00.0, lower case; empty for a GPU that was lost before it told
  std::string name;   // as NVML gives it
  std::string device; // /dev/nvidia0, by minor number
  std::uint32_t memory_mb = 0;
  bool mig = false;
  int pcie_generation = 0; // what GPU and slot can do, not what a sleeping link runs at; 0: unknown
  int pcie_width = 0;
  std::vector<NvmlPeer> peers; // ascending by bus id; none of them lost
  bool lost = false;           // the driver lists it and cannot reach it: no job can run there
};

struct NvmlReport {
  bool present = false; // NVML was loaded and answered
  std::vector<NvmlGpu> gpus;
  std::string problem;            // why not present
  bool timed_out = false;         // the driver did not answer in time; it may later
  std::vector<std::string> notes; // what is incomplete
  std::string driver;             // its version
};

// Reads NVML on a thread of its own and waits for it no longer than `limit`. A driver that hangs leaves that thread
// behind, which touches nothing of the caller's and ends by itself if NVML ever returns. The library stays loaded. May
// be called from any thread; throws nothing.
NvmlReport read_nvml(std::chrono::milliseconds limit = std::chrono::seconds(10),
                     const char *library = "libnvidia-ml.so.1") noexcept;

} // namespace harmony
