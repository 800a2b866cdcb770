// Which BLAS the matrix products of LibTorch end in. Debian's libtorch_cpu asks for libblas.so.3, which is whatever the
// administrator's alternatives say; this library is linked with OpenBLAS itself, which stands before libblas.so.3 in
// its search order, so that sgemm_ is OpenBLAS's whatever the alternatives say. Only a BLAS that the program loaded
// before, for all to see, comes first.
#pragma once

#include <string>

namespace harmony {

struct Blas {
  bool openblas = false;
  std::string name; // OpenBLAS's version and kernel, or the file of the other one
};

// Looks, and takes OpenBLAS down to the calling thread: it starts a thread a core when it is loaded, which a daemon
// that forks has no use for.
Blas settle_blas();

} // namespace harmony
