#include "src/infer/torch/blas.h"

#include <dlfcn.h>

extern "C" {
void sgemm_();
char *openblas_get_config();
char *openblas_get_corename();
void openblas_set_num_threads(int threads);
int blas_thread_shutdown_();
}

namespace harmony {
namespace {

std::string file_of(void (*function)()) {
  Dl_info info{};
  return dladdr(reinterpret_cast<void *>(function), &info) && info.dli_fname ? info.dli_fname : "an unknown library";
}

} // namespace

Blas settle_blas() {
  openblas_set_num_threads(1);
  blas_thread_shutdown_();
  const std::string file = file_of(sgemm_);
  if (file != file_of(reinterpret_cast<void (*)()>(openblas_set_num_threads))) return {false, file};
  const std::string config = openblas_get_config();
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...": the first two words name it, the kernel says how fast it is.
  const std::size_t end = config.find(' ', config.find(' ') + 1);
  return {true, config.substr(0, end) + " " + openblas_get_corename()};
}

} // namespace harmony
