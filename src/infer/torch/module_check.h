// A loaded module, judged against the contract of models/README before anything of it runs.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <memory>
#include <string>

namespace harmony {

// Values in parameters, buffers, constants and wherever else a module can keep tensors.
constexpr std::int64_t most_values = 16'000'000;

// The methods of the contract with all their calls inlined: what was checked is what runs.
struct CheckedGraphs {
  std::shared_ptr<torch::jit::Graph> candidates;
  std::shared_ptr<torch::jit::Graph> gangs;
  std::shared_ptr<torch::jit::Graph> reward; // nullptr: it has no such method
};

// Throws std::runtime_error with one line.
CheckedGraphs check_module(const torch::jit::Module &module);

} // namespace harmony
