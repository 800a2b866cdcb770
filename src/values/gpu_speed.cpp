#include "src/values/gpu_speed.h"

namespace harmony {
namespace {

struct GpuSpeed {
  const char *part; // of the model's name
  double speed;
};

// ResNet-50, batch 64, relative to the V100. The first that fits counts.
constexpr GpuSpeed gpu_speeds[] = {
    {"gh200", 3.2},                                                      // assumed
    {"h100", 3.0},                                                       // assumed
    {"a100", 1.56},                                                      // ElasticFlow's A100 against Gavel's V100
    {"v100", 1},                                                         // 4.4 steps a second (Gavel)
    {"rtx6000", 0.9}, {"3090", 0.95}, {"2080ti", 0.75}, {"1080ti", 0.6}, // assumed: 1080 Ti as P100, others between
    {"t4", 0.6},   // Pollux's ImageNet on the T4 against Gavel's V100
    {"p100", 0.6}, // Gavel
    {"k80", 0.14}, // Gavel
};

} // namespace

double gpu_speed(const std::string &model) {
  std::string plain; // rtx_3090 and rtx-3090 alike
  for (const char c : model)
    if (c != '_' && c != '-') plain += c;
  for (const GpuSpeed &each : gpu_speeds)
    if (plain.find(each.part) != std::string::npos) return each.speed;
  return 1;
}

} // namespace harmony
