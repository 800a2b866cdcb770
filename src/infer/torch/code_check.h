// The TorchScript source of a model, judged before LibTorch compiles it: compiling runs some of it (default values,
// constants of classes), and unpickling runs __setstate__; there is no stopping a loop in there.
#pragma once

#include <string>

namespace harmony {

// What is wrong with it in one line, or empty. Throws what LibTorch's parser throws.
std::string code_problem(const std::string &file, const std::string &text);

} // namespace harmony
