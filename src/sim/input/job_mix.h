// Which types of jobs there are and how many of each, and what is made up where a trace says nothing. Random numbers
// come from the caller, so that the same seed gives the same jobs.
#pragma once

#include "src/sim/random.h"
#include "src/sim/input/sim_job.h"

#include <vector>

namespace harmony {

template <class Value> struct Share {
  Value value;
  double weight = 1; // relative to the others'
};
using TypeMix = std::vector<Share<const char *>>;
using SizeMix = std::vector<Share<int>>; // workers

template <class Value> Value draw(Random &random, const std::vector<Share<Value>> &shares) {
  double total = 0;
  for (const Share<Value> &share : shares) total += share.weight;
  double left = random.unit() * total;
  for (const Share<Value> &share : shares)
    if ((left -= share.weight) < 0) return share.value;
  return shares.back().value;
}

// Kept out of every other mix and of traces without types, so that a model can be tested on a type that it never saw.
constexpr const char *held_out_type = "gpt2";

// Of traces that do not tell their jobs' types. Assumed: image models are about half of it, language a third.
const TypeMix &trace_mix();

// The type and the architecture of a job of which a trace tells the number of GPUs only: a worker a GPU, two CPUs a
// task; of two workers and more, half have PS, one for four workers.
void make_up(SimJob &job, std::uint64_t seed);

} // namespace harmony
