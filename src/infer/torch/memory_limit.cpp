#include "src/infer/torch/memory_limit.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace harmony {
namespace {

thread_local bool limited = false;
thread_local std::int64_t left = 0;

// LibTorch wants 64 bytes of alignment; the size stands in the 64 bytes before.
constexpr std::size_t header = 64;

void release(void *data) {
  if (!data) return;
  char *start = static_cast<char *>(data) - header;
  if (limited) left += *reinterpret_cast<std::int64_t *>(start);
  std::free(start);
}

struct LimitedAllocator : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) const override {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &release, cpu};
    if (limited && (bytes > static_cast<std::size_t>(INT64_MAX) || static_cast<std::int64_t>(bytes) > left))
      throw std::runtime_error("the model needs more memory than the " + std::to_string(model_memory_limit >> 20) +
                               " MB that it may take");
    void *start = nullptr;
    if (bytes > SIZE_MAX - header || posix_memalign(&start, header, bytes + header) != 0) throw std::bad_alloc();
    *static_cast<std::int64_t *>(start) = static_cast<std::int64_t>(bytes);
    if (limited) left -= static_cast<std::int64_t>(bytes);
    void *data = static_cast<char *>(start) + header;
    return {data, data, &release, cpu};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
};

} // namespace

void limit_torch_memory() {
  static LimitedAllocator allocator;
  c10::SetCPUAllocator(&allocator, 1);
}

MemoryLimit::MemoryLimit(std::int64_t bytes) {
  limited = true;
  left = bytes;
}
MemoryLimit::~MemoryLimit() { limited = false; }

} // namespace harmony
