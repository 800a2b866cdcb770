#include "src/infer/torch/blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

namespace harmony {
namespace {

// Two places that are treated differently still agree on about every second row by chance.
constexpr int questions = 40;

// A model that prefers places by itself leaves fewer of them than any BLAS does: an eighth of a block.
bool enough(const Block &block) { return block.places.size() * 8 >= static_cast<std::size_t>(block.rows); }

// What another kernel may differ by, relative to the score: its last digits.
constexpr float last_digits = 1e-3f;

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

// Answers of all places of a block.
std::vector<Answers> ask_everywhere(const AskBlock &ask, const ModelShape &shape, int width, int block) {
  std::vector<Answers> answers(static_cast<std::size_t>(block));
  std::mt19937 random(1);
  std::vector<float> rows, scores(answers.size());
  for (int i = 0; i < questions; ++i) {
    const Question asked = question(random, i, shape, width);
    rows.clear();
    for (int k = 0; k < block; ++k) rows.insert(rows.end(), asked.row.begin(), asked.row.end());
    ask(asked.job, rows.data(), block, scores.data());
    for (std::size_t k = 0; k < answers.size(); ++k) answers[k].push_back(bits(scores[k]));
  }
  return answers;
}

float value(std::uint32_t same) {
  float read;
  std::memcpy(&read, &same, sizeof read);
  return read;
}

bool close(const Answers &one, const Answers &other) {
  return std::equal(one.begin(), one.end(), other.begin(), [](std::uint32_t a, std::uint32_t b) {
    return a == b || std::abs(value(a) - value(b)) <= last_digits * (1 + std::abs(value(a))); // NaN is not NaN
  });
}

// The places of both blocks that give the same bits, as many as can be.
Blocks alike(const std::vector<Answers> &small, const std::vector<Answers> &large) {
  std::map<Answers, Blocks> by_answers;
  for (std::size_t k = 0; k < small.size(); ++k) by_answers[small[k]].small.places.push_back(static_cast<int>(k));
  for (std::size_t k = 0; k < large.size(); ++k) by_answers[large[k]].large.places.push_back(static_cast<int>(k));
  Blocks best;
  const auto worth = [](const Blocks &blocks) {
    return blocks.small.places.empty() ? 0 : blocks.large.places.size() + blocks.small.places.size();
  };
  for (const auto &[key, blocks] : by_answers)
    if (worth(blocks) > worth(best)) best = blocks;
  best.large.rows = static_cast<int>(large.size());
  return best;
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
  const std::vector<Answers> small = ask_everywhere(ask, shape, width, small_block);
  for (const int size : large_blocks) {
    const std::vector<Answers> large = ask_everywhere(ask, shape, width, size);
    if (!close(small.front(), large.front())) // no kernel differs by that much
      throw ModelFailed("equal rows get different scores, by the number of rows");
    Blocks both = alike(small, large);
    if (enough(both.large)) return both;
  }
  Blocks only_small = alike(small, {});
  if (!enough(only_small.small)) throw ModelFailed("equal rows get different scores, by their place");
  return only_small;
}

std::vector<float> score_in_blocks(const AskBlock &ask, const Blocks &blocks, const JobRow &job, const Rows &rows) {
  std::vector<float> scores(static_cast<std::size_t>(rows.count)), block, answered(large_blocks[0]);
  for (int first = 0; first < rows.count;) {
    const int left = rows.count - first;
    // The largest block takes about as long as three small ones.
    const bool many = left > 3 * static_cast<int>(blocks.small.places.size()) && !blocks.large.places.empty();
    const Block &kind = many ? blocks.large : blocks.small;
    const int used = std::min(left, static_cast<int>(kind.places.size()));
    fill(block, kind, rows.values.data() + static_cast<std::size_t>(first) * rows.width, used, rows.width);
    ask(job, block.data(), kind.rows, answered.data());
    for (int k = 0; k < used; ++k) scores[first + k] = answered[kind.places[k]];
    first += used;
  }
  return scores;
}

} // namespace harmony
