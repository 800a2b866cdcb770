// A checked module as a Model.
#pragma once

#include "src/infer/model.h"
#include "src/infer/torch/blocks.h"
#include "src/infer/torch/module_check.h"

#include <torch/csrc/jit/runtime/interpreter.h>

#include <exception>
#include <optional>
#include <string>

namespace harmony {

class TorchModel : public Model {
public:
  TorchModel(torch::jit::Module module, const CheckedGraphs &graphs, const ModelShape &shape);

  std::vector<float> score_candidates(const JobRow &job, const Rows &candidates) override;
  std::vector<float> score_gangs(const JobRow &job, const Rows &gangs) override;
  std::vector<float> reward_parameters() override;

private:
  struct Head {
    const char *method;
    int width;
    torch::jit::Code code;
    std::optional<Blocks> blocks; // found when it is first asked
  };
  std::vector<float> score(Head &head, const JobRow &job, const Rows &rows);
  void ask(const Head &head, const JobRow &job, const float *rows, int count, float *scores) const;

  torch::jit::Module module_;
  ModelShape shape_;
  Head candidates_, gangs_;
  std::optional<torch::jit::Code> reward_;
};

// What was thrown, in one line: LibTorch's own texts are pages long.
std::string what_happened(std::exception_ptr thrown);

} // namespace harmony
