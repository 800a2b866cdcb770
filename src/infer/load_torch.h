// Opens harmony_torch.so, where LibTorch is, and loads models with it. Opening takes about a second and 150 MB, so it
// is done when the first model is wanted, on a thread that nobody waits for; the library is never closed again,
// because LibTorch does not survive that.
#pragma once

#include "src/infer/model.h"
#include "src/infer/torch/torch_library.h"

#include <memory>
#include <string>

namespace harmony {

struct TorchLibrary {
  const HarmonyTorchLibrary *table = nullptr; // nullptr: it could not be opened, and `problem` says why in one line
  std::string problem;
};

constexpr const char *torch_library_file = "harmony_torch.so";

TorchLibrary open_torch_library(const std::string &path);

// A model of these bytes, checked but never asked yet; nullptr: `problem` says why in one line. `library` has a table.
std::shared_ptr<Model> load_model(const TorchLibrary &library, const std::string &bytes, const ModelShape &shape,
                                  std::string &problem);

// Asks the model for the first time, which takes longer than later, and sees that a row's score depends on the row (and
// the job) alone: not on its neighbours, their number or its place among them. What is wrong in one line, or empty.
// Throws ModelFailed and ModelShapeWrong like any question.
std::string warm_up(Model &model, const ModelShape &shape);

} // namespace harmony
