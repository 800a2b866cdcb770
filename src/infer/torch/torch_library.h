// The border of the library that holds LibTorch (harmony_torch.so): one C function that gives this table. Everything
// behind it catches what is thrown, so that no exception crosses but ModelFailed and ModelShapeWrong.
#pragma once

#include "src/infer/model.h"

#include <cstddef>
#include <string>

extern "C" {

struct HarmonyTorchLibrary {
  int layout;                // torch_library_layout
  const char *torch_version; // of the LibTorch it runs with, "1.13.1"
  const char *blas;          // what multiplies matrices: "OpenBLAS 0.3.21 ... Zen", or the file of another, slower one
  bool blas_is_openblas;

  // A model of these bytes (model.pt), checked: it has the methods of the contract with their arguments, no loop, no
  // operator that reaches outside it (models/README). nullptr: `problem` says why in one line. Nothing of the model
  // runs, but hostile bytes are unpickled: under a deadline, not on a thread that anybody waits for without one.
  harmony::Model *(*load)(const char *bytes, std::size_t size, const harmony::ModelShape &shape, std::string &problem);
  void (*unload)(harmony::Model *model);
};

// The only symbol that the library shows.
const HarmonyTorchLibrary *harmony_torch_library();
}

constexpr int torch_library_layout = 3;
