#include "src/sim/input/job_mix.h"

#include <algorithm>

namespace harmony {

const TypeMix &trace_mix() {
  static const TypeMix mix = {{"resnet50", 20},   {"vgg16", 9}, {"inception3", 8},  {"resnext50", 6}, {"alexnet", 4},
                              {"mobilenet", 5},   {"bert", 14}, {"transformer", 9}, {"seq2seq", 5},   {"lstm", 4},
                              {"deepspeech2", 5}, {"ctc", 3},   {"dlrm", 4},        {"graphsage", 2}, {"ncf", 2}};
  return mix;
}

void make_up(SimJob &job, std::uint64_t seed) {
  Random random(seed, "types", job.id);
  job.type = draw(random, trace_mix());
  const bool with_ps = random.below(2) == 0;
  job.ps = with_ps && job.workers > 1 ? std::clamp(job.workers / 4, 1, 1024) : 0;
}

} // namespace harmony
