#include "src/discover/nvml_usage.h"

#include "src/discover/nvml_abi.h"
#include "src/discover/nvml_library.h"
#include "src/values/topology.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace harmony {

using namespace nvml_abi;

namespace {

constexpr const char *then_nothing = "; GPUs are not observed";

struct Functions : NvmlBasics {
  decltype(&nvmlDeviceGetMinorNumber) minor_number = nullptr;
  decltype(&nvmlDeviceGetMemoryInfo) memory = nullptr;
  decltype(&nvmlDeviceGetUtilizationRates) utilization = nullptr;
  decltype(&nvmlDeviceGetPcieThroughput) throughput = nullptr;
};

Functions find_functions(NvmlLibrary &library) {
  Functions f{find_nvml_basics(library)};
  library.want(f.minor_number, {"nvmlDeviceGetMinorNumber"}, "device files are not known");
  library.want(f.memory, {"nvmlDeviceGetMemoryInfo"}, "memory is not known");
  library.want(f.utilization, {"nvmlDeviceGetUtilizationRates"}, "GPU use is not known");
  library.want(f.throughput, {"nvmlDeviceGetPcieThroughput"}, "PCIe throughput is not known");
  return f;
}

struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return count > 0 ? sum / count : not_known; }
};

struct GpuFigures {
  int number = 0;
  Mean busy, pcie_in, pcie_out;
  double memory_mb = not_known;

  bool any() const { return busy.count + pcie_in.count + pcie_out.count > 0 || memory_mb >= 0; }
};

struct AskedGpu {
  nvmlDevice_t device = nullptr;
  bool lost = true; // until there is a handle
  std::optional<unsigned int> minor_number;
  int number = 0;

  template <class Function, class... Arguments> bool ask(Function function, Arguments... arguments) {
    if (!function || lost) return false;
    const nvmlReturn_t answer = function(device, arguments...);
    lost = means_lost(answer);
    return answer == NVML_SUCCESS;
  }
};

// As merge_nvml() numbers them: by device file where all are known, else in the order of the bus, which is NVML's.
void number_as_slurm(std::vector<AskedGpu> &gpus) {
  const bool all = std::all_of(gpus.begin(), gpus.end(), [](const AskedGpu &gpu) { return gpu.minor_number; });
  for (std::size_t i = 0; i < gpus.size(); ++i)
    gpus[i].number = all ? static_cast<int>(std::count_if(
                               gpus.begin(), gpus.end(),
                               [&](const AskedGpu &other) { return *other.minor_number < *gpus[i].minor_number; }))
                         : static_cast<int>(i);
}

std::vector<AskedGpu> find_gpus(const Functions &f) {
  unsigned int count = 0;
  if (f.count(&count) != NVML_SUCCESS) return {};
  std::vector<AskedGpu> gpus(std::min<unsigned int>(count, max_gpus));
  for (unsigned int i = 0; i < gpus.size(); ++i) {
    AskedGpu &gpu = gpus[i];
    gpu.lost = f.handle(i, &gpu.device) != NVML_SUCCESS;
    unsigned int minor_number = 0;
    if (gpu.ask(f.minor_number, &minor_number)) gpu.minor_number = minor_number;
  }
  number_as_slurm(gpus);
  return gpus;
}

void add_if_answered(const Functions &f, AskedGpu &gpu, nvmlPcieUtilCounter_t counter, Mean &mean) {
  unsigned int kb_s = 0;
  if (gpu.ask(f.throughput, counter, &kb_s)) mean.add(kb_s / 1000.0);
}

void take_sample(const Functions &f, AskedGpu &gpu, bool pcie, GpuFigures &figures) {
  nvmlUtilization_t utilization{};
  if (gpu.ask(f.utilization, &utilization)) figures.busy.add(std::min(utilization.gpu, 100U));
  nvmlMemory_t memory{};
  if (gpu.ask(f.memory, &memory)) {
    const double mb = static_cast<double>(memory.used) / (1 << 20);
    if (!(figures.memory_mb >= mb)) figures.memory_mb = mb;
  }
  if (!pcie) return;
  add_if_answered(f, gpu, NVML_PCIE_UTIL_RX_BYTES, figures.pcie_in);
  add_if_answered(f, gpu, NVML_PCIE_UTIL_TX_BYTES, figures.pcie_out);
}

} // namespace

// Owned by the asking thread too, so that either may be gone first.
struct NvmlUsage::Shared {
  std::string library;
  bool thread_started = false; // the caller's alone

  mutable std::mutex mutex; // never held while NVML is asked
  mutable std::condition_variable changed;
  bool wanted = false; // a sample, not taken yet
  bool over = false;
  bool finished = false; // nobody will take a sample any more
  std::string problem;
  std::vector<GpuFigures> figures;

  bool wait_for_work() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return wanted || over; });
    return !over;
  }

  void finish(const std::string &why) {
    const std::lock_guard<std::mutex> lock(mutex);
    problem = why;
    finished = true;
    wanted = false;
    changed.notify_all();
  }

  void work() {
    NvmlLibrary nvml(library, then_nothing);
    const Functions f = nvml.problem().empty() ? find_functions(nvml) : Functions();
    if (!nvml.problem().empty()) return finish(nvml.problem());
    if (const std::string why = start_nvml(f, then_nothing); !why.empty()) return finish(why);
    std::vector<AskedGpu> gpus = find_gpus(f);
    std::vector<GpuFigures> now(gpus.size());
    for (std::size_t i = 0; i < gpus.size(); ++i) now[i].number = gpus[i].number;
    for (std::size_t turn = 0; wait_for_work(); ++turn) {
      for (std::size_t i = 0; i < gpus.size(); ++i) take_sample(f, gpus[i], i == turn % gpus.size(), now[i]);
      const std::lock_guard<std::mutex> lock(mutex);
      figures = now;
      wanted = false;
      changed.notify_all();
    }
    f.shutdown();
    finish({});
  }
};

NvmlUsage::NvmlUsage(std::string library) : shared_(std::make_shared<Shared>()) {
  shared_->library = std::move(library);
}

NvmlUsage::~NvmlUsage() {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  shared_->over = true;
  shared_->changed.notify_all();
}

void NvmlUsage::sample() {
  {
    const std::lock_guard<std::mutex> lock(shared_->mutex);
    if (shared_->finished) return;
    shared_->wanted = true;
    shared_->changed.notify_all();
  }
  if (shared_->thread_started) return;
  shared_->thread_started = true;
  try {
    start_nvml_thread([shared = shared_] {
      try {
        shared->work();
      } catch (const std::exception &) {
        shared->finish("NVML: no memory");
      }
    });
  } catch (const std::exception &) {
    shared_->finish("NVML: no thread");
  }
}

bool NvmlUsage::wait(std::chrono::milliseconds limit) const {
  std::unique_lock<std::mutex> lock(shared_->mutex);
  return shared_->changed.wait_for(lock, limit, [this] { return !shared_->wanted; });
}

std::vector<GpuUsage> NvmlUsage::means() const {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  std::vector<GpuUsage> result;
  for (const GpuFigures &gpu : shared_->figures)
    if (gpu.any())
      result.push_back({gpu.number, gpu.busy.value(), gpu.memory_mb, gpu.pcie_in.value(), gpu.pcie_out.value()});
  std::sort(result.begin(), result.end(), [](const GpuUsage &a, const GpuUsage &b) { return a.gpu < b.gpu; });
  return result;
}

std::string NvmlUsage::problem() const {
  const std::lock_guard<std::mutex> lock(shared_->mutex);
  return shared_->problem;
}

} // namespace harmony
