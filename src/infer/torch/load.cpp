// The one symbol of harmony_torch.so, and how bytes become a Model.

#include "src/infer/torch/archive.h"
#include "src/infer/torch/blas.h"
#include "src/infer/torch/code_check.h"
#include "src/infer/torch/memory_limit.h"
#include "src/infer/torch/torch_library.h"
#include "src/infer/torch/torch_model.h"
#include "src/values/printable.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <caffe2/serialize/inline_container.h>
#include <caffe2/serialize/read_adapter_interface.h>
#include <torch/csrc/jit/serialization/import.h>
#include <torch/csrc/api/include/torch/version.h>

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string_view>

namespace harmony {
namespace {

class Memory : public caffe2::serialize::ReadAdapterInterface {
public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t at, void *to, std::size_t count, const char *) const override {
    if (at > bytes_.size() || count > bytes_.size() - at) return 0;
    std::memcpy(to, bytes_.data() + at, count);
    return count;
  }

private:
  std::string_view bytes_;
};

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Before LibTorch reads the archive for itself: compiling and unpickling run some of what is in it.
std::string content_problem(std::string_view bytes) {
  const Archive archive = read_archive(bytes);
  if (!archive.problem.empty()) return archive.problem;
  caffe2::serialize::PyTorchStreamReader reader(std::make_shared<Memory>(bytes));
  if (reader.getAllRecords().size() != archive.files.size()) return "its zip directory is damaged";
  for (const std::string &name : reader.getAllRecords()) {
    const bool code = starts_with(name, "code/") && ends_with(name, ".py"), pickle = ends_with(name, ".pkl");
    if (!code && !pickle) continue;
    const auto [data, size] = reader.getRecord(name);
    const std::string text(static_cast<const char *>(data.get()), size);
    // Classes that are made in C++ run their own code when they are unpickled.
    if (text.find("torch.classes") != std::string::npos)
      return fmt::format("its {} uses a class of another library", printable(name, 100));
    if (!code) continue;
    const std::string problem = code_problem(printable(name, 100), text);
    if (!problem.empty()) return problem;
  }
  return {};
}

Model *load(const char *bytes, std::size_t size, const ModelShape &shape, std::string &problem) {
  try {
    const MemoryLimit limit(model_memory_limit);
    problem = content_problem({bytes, size});
    if (!problem.empty()) return nullptr;
    torch::jit::Module module =
        torch::jit::load(std::make_shared<Memory>(std::string_view(bytes, size)), c10::Device(c10::DeviceType::CPU));
    module.eval();
    const CheckedGraphs graphs = check_module(module);
    return new TorchModel(std::move(module), graphs, shape);
  } catch (...) {
    problem = what_happened(std::current_exception());
    if (problem.empty()) problem = "LibTorch cannot read it, and does not say why";
    return nullptr;
  }
}

void unload(Model *model) { delete model; }

struct Library {
  Library() {
    limit_torch_memory();
    at::set_num_threads(1);
    try {
      at::set_num_interop_threads(1);
    } catch (...) {
      // May be set once a process only; nothing of ours starts such a thread.
    }
  }
  Blas blas = settle_blas();
  HarmonyTorchLibrary table{torch_library_layout, TORCH_VERSION, blas.name.c_str(), blas.openblas, &load, &unload};
};

} // namespace
} // namespace harmony

const HarmonyTorchLibrary *harmony_torch_library() {
  static const harmony::Library library;
  return &library.table;
}
