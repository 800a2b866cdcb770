// What a model may take while it is loaded or asked: LibTorch's CPU memory is handed out by our own allocator, which
// refuses once the calling thread has taken more than the limit since the limit was set. A model of permitted operators
// could otherwise ask for all the memory of slurmctld's machine.
#pragma once

#include <cstdint>

namespace harmony {

constexpr std::int64_t model_memory_limit = 256 << 20;

// Puts the allocator in place, once a process.
void limit_torch_memory();

// For the calling thread, while it lives. Not nested.
class MemoryLimit {
public:
  explicit MemoryLimit(std::int64_t bytes);
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit &) = delete;
  MemoryLimit &operator=(const MemoryLimit &) = delete;
};

} // namespace harmony
