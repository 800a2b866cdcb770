#include "src/infer/torch/blocks.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <random>

namespace harmony {
namespace {

// Two places that are treated differently still agree on about every second row by chance.
constexpr int questions = 40;

// A model that prefers places by itself leaves fewer than any BLAS does.
constexpr std::size_t fewest_places = large_block / 8;

using Answers = std::vector<std::uint32_t>; // the bits of what one place answered to each question

std::uint32_t bits(float value) {
  std::uint32_t same;
  std::memcpy(&same, &value, sizeof same);
  return same;
}

struct Question {
  JobRow job;
  std::vector<float> row;
};

Question question(std::mt19937 &random, int i, const ModelShape &shape, int width) {
  // std::mt19937 gives the same numbers everywhere; the distributions of the standard library need not.
  const float scale = i % 3 == 0 ? 1.f : i % 3 == 1 ? 0.1f : 10.f, shift = i % 2 == 0 ? 0.f : 0.5f;
  const auto value = [&] { return (static_cast<float>(random() >> 8) / static_cast<float>(1 << 24) - shift) * scale; };
  Question made;
  made.job.type = i % shape.types;
  for (int k = 0; k < shape.job; ++k) made.job.features.push_back(value());
  for (int k = 0; k < width; ++k) made.row.push_back(value());
  return made;
}

// Answers of all places: the small block's first, then the large one's.
std::vector<Answers> ask_everywhere(const AskBlock &ask, const ModelShape &shape, int width) {
  std::vector<Answers> answers(small_block + large_block);
  std::mt19937 random(1);
  std::vector<float> rows, scores(large_block);
  for (int i = 0; i < questions; ++i) {
    const Question asked = question(random, i, shape, width);
    rows.clear();
    for (int k = 0; k < large_block; ++k) rows.insert(rows.end(), asked.row.begin(), asked.row.end());
    for (const int count : {small_block, large_block}) {
      ask(asked.job, rows.data(), count, scores.data());
      for (int k = 0; k < count; ++k) answers[(count == small_block ? 0 : small_block) + k].push_back(bits(scores[k]));
    }
  }
  return answers;
}

void fill(std::vector<float> &block, const Block &kind, const float *rows, int used, int width) {
  block.resize(static_cast<std::size_t>(kind.rows) * width);
  // All places that are not used hold a row that is asked about anyway.
  for (int k = 0; k < kind.rows; ++k) std::copy_n(rows, width, block.data() + static_cast<std::size_t>(k) * width);
  for (int k = 0; k < used; ++k)
    std::copy_n(rows + static_cast<std::size_t>(k) * width, width,
                block.data() + static_cast<std::size_t>(kind.places[k]) * width);
}

} // namespace

Blocks find_places(const AskBlock &ask, const ModelShape &shape, int width) {
  std::map<Answers, Blocks> alike;
  const std::vector<Answers> answers = ask_everywhere(ask, shape, width);
  for (int k = 0; k < small_block + large_block; ++k) {
    Blocks &blocks = alike[answers[k]];
    (k < small_block ? blocks.small : blocks.large).places.push_back(k < small_block ? k : k - small_block);
  }
  const Blocks *best = nullptr;
  const auto worth = [](const Blocks &blocks) {
    return blocks.small.places.empty() ? 0 : blocks.large.places.size() + blocks.small.places.size();
  };
  for (const auto &[key, blocks] : alike)
    if (!best || worth(blocks) > worth(*best)) best = &blocks;
  if (!best || best->small.places.empty() || best->large.places.size() < fewest_places)
    throw ModelFailed("equal rows get different scores, by their place or by the number of rows");
  return *best;
}

std::vector<float> score_in_blocks(const AskBlock &ask, const Blocks &blocks, const JobRow &job, const Rows &rows) {
  std::vector<float> scores(static_cast<std::size_t>(rows.count)), block, answered(large_block);
  for (int first = 0; first < rows.count;) {
    const int left = rows.count - first;
    // A large block takes about as long as three small ones.
    const Block &kind = left > 3 * static_cast<int>(blocks.small.places.size()) ? blocks.large : blocks.small;
    const int used = std::min(left, static_cast<int>(kind.places.size()));
    fill(block, kind, rows.values.data() + static_cast<std::size_t>(first) * rows.width, used, rows.width);
    ask(job, block.data(), kind.rows, answered.data());
    for (int k = 0; k < used; ++k) scores[first + k] = answered[kind.places[k]];
    first += used;
  }
  return scores;
}

} // namespace harmony
