// How rows are put before a model. The kernels of a BLAS treat a row differently by its place and by the number of rows
// (OpenBLAS for Haswell and Zen: every second group of six has other last bits), but equal rows must get equal scores,
// alone, among 60,000 and in any order. So rows go through in blocks of two fixed sizes, and only those places of a
// block are used that were found to give the same bits. Where matrices of another size have another kernel (OpenBLAS
// for processors with AVX-512), the larger of the two is chosen smaller, or is not used. Knows nothing of LibTorch.
#pragma once

#include "src/infer/model.h"

#include <functional>
#include <vector>

namespace harmony {

// A small block costs little more than calling LibTorch does; a large one is made for many rows.
constexpr int small_block = 24;
constexpr int large_blocks[] = {240, 120, 72}; // the first that will do

struct Block {
  int rows = 0;
  std::vector<int> places; // that may be used; ascending
};

struct Blocks {
  Block small{small_block, {}}, large{large_blocks[0], {}}; // the large one may have no places
};

// Scores of `count` rows, for which count is a block's.
using AskBlock = std::function<void(const JobRow &job, const float *rows, int count, float *scores)>;

// Asks about the same row at all places of both blocks, again and again. Throws ModelFailed when the model itself
// prefers some places, and what `ask` throws.
Blocks find_places(const AskBlock &ask, const ModelShape &shape, int width);

// A score for every row.
std::vector<float> score_in_blocks(const AskBlock &ask, const Blocks &blocks, const JobRow &job, const Rows &rows);

} // namespace harmony
