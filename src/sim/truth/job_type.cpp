#include "src/sim/truth/job_type.h"

namespace harmony {
namespace {

struct Exchange {
  double overlap, network_efficiency, ring_latency_s, spread;
};

// Fitted by `harmony sim calibrate` to the speeds by GPUs and nodes that Chronus (SoCC'21) was published with.
constexpr Exchange fitted_alexnet{1.00, 0.47, 0.0070, 0.98}, fitted_inception3{0.17, 0.77, 0.0210, 0.35},
    fitted_mobilenet{0.39, 0.43, 0.0079, 2.03}, fitted_resnet101{0.41, 0.45, 0.0388, 0.63},
    fitted_vgg16{0.52, 1.00, 0.0034, 3.00};

// Of the others, assumed: middling values of those above.
constexpr Exchange layers_alike(double compute_s) { return {0.4, 0.6, 0.08 * compute_s, 0.6}; }
constexpr Exchange one_big_layer(double compute_s) { return {0.5, 0.8, 0.08 * compute_s, 2.0}; }

struct Row {
  const char *name;
  double parameters_mb, compute_s, steps_per_epoch, input_mb, host_mb, cpu_s, memory_mb;
  Exchange exchange;
  bool skewed;
  const char *source;
};

// Parameters are 4 bytes each. Measured step times are of a V100, or of a T4 times 0.6 (see gpu_speed). An image of
// ImageNet (1.28 million) is 0.11 MB on disk and 0.6 MB as floats of 224 x 224 pixels, and takes 4 ms of a core
// (assumed); memory_mb is about three times what is copied (assumed).
constexpr Row rows[] = {
    {"alexnet", 244, 0.035, 10009, 14.1, 77, 0.1, 230, fitted_alexnet, true,
     "61.1 M parameters (torchvision); batch 128; step time assumed; prepared records, so little of a core (assumed)"},
    {"bert", 440, 0.163, 22000, 0.02, 0.1, 0.002, 1, layers_alike(0.163), false,
     "110 M parameters (Devlin 2019, base); batch 4: GPU stage of Muri's trace; SQuAD of 88,000 examples"},
    {"ctc", 24, 0.10, 1000, 4, 8, 0.6, 200, layers_alike(0.10), false,
     "a CPU-heavy speech model of the Harmony testbed; all sizes assumed"},
    {"deepspeech2", 152, 0.41, 14000, 6, 12, 0.15, 60, layers_alike(0.41), false,
     "about 38 M parameters (Amodei 2016); batch 20: Pollux, T4; LibriSpeech of 281,000 utterances; input assumed"},
    {"dlrm", 100, 0.03, 30000, 8, 60, 0.05, 600, one_big_layer(0.03), true,
     "all assumed: 25 M parameters exchanged densely, tables in host memory (the shape is Naumov 2019's)"},
    {"dqn", 6.7, 0.008, 1000, 0, 3.6, 0.44, 30, layers_alike(0.008), false,
     "1.7 M parameters (Mnih 2015); batch 128: stage times of Muri's trace, one core (assumed); steps assumed"},
    {"gpt2", 496, 0.413, 30000, 0.01, 0.03, 0.002, 1, layers_alike(0.413), false,
     "124 M parameters (OpenAI 2019, small); batch 4: GPU stage of Muri's trace; steps assumed"},
    {"graphsage", 2, 0.05, 150, 0, 350, 0.15, 1400, layers_alike(0.05), false,
     "below 1 M parameters (Hamilton 2017); Reddit in batches of 1,000; its features go to the GPU each step; assumed"},
    {"inception3", 95, 0.32, 20018, 7, 69, 0.26, 210, fitted_inception3, false,
     "23.8 M parameters (torchvision, without the auxiliary head); batch 64: ElasticFlow, A100, times 1.56; 299 x 299 "
     "pixels"},
    {"lstm", 80, 0.0154, 3000, 0, 0.01, 0.001, 1, one_big_layer(0.0154), true,
     "20 M parameters (Zaremba 2014, medium; Gavel's may differ); batch 20: Gavel's LM, V100; steps assumed"},
    {"mobilenet", 14, 0.06, 20018, 7, 38.5, 0.2, 120, fitted_mobilenet, false,
     "v2, 3.5 M parameters (torchvision); batch 64; step time assumed"},
    {"ncf", 127, 0.013, 3000, 0, 1, 0.002, 5, one_big_layer(0.013), true,
     "31.8 M parameters (NeuMF of MLPerf); batch 32,768: Pollux, T4, whose model may differ; ml-20m with negatives"},
    {"resnet101", 178, 0.36, 20018, 7, 38.5, 0.26, 120, fitted_resnet101, false,
     "44.5 M parameters (torchvision); batch 64: ResNet-50's time by operations"},
    {"resnet18", 45, 0.0556, 391, 0.4, 1.6, 0.03, 5, layers_alike(0.0556), false,
     "11.2 M parameters (He 2016); batch 128: Gavel, V100; CIFAR-10"},
    {"resnet50", 102, 0.2275, 20018, 7, 38.5, 0.26, 120, layers_alike(0.2275), false,
     "25.6 M parameters (torchvision); batch 64: Gavel, V100"},
    {"resnext50", 100, 0.30, 20018, 7, 38.5, 0.26, 120, layers_alike(0.30), false,
     "25.0 M parameters (torchvision, 32x4d); batch 64; step time assumed"},
    {"seq2seq", 640, 0.25, 35000, 0.03, 0.1, 0.005, 2, one_big_layer(0.25), true,
     "about 160 M parameters (counted from the layers of NVIDIA's GNMT v2); batch 128; WMT16; step time assumed"},
    {"transformer", 260, 0.116, 10000, 0.02, 0.1, 0.005, 2, layers_alike(0.116), false,
     "65 M parameters (Vaswani 2017, base); batch 64: Gavel, V100; steps assumed"},
    {"vgg11", 531, 0.045, 80073, 1.8, 9.6, 0.065, 30, fitted_vgg16, true,
     "132.9 M parameters (torchvision); batch 16; VGG-16's time by operations; exchange as VGG-16"},
    {"vgg16", 553, 0.072, 80073, 1.8, 9.6, 0.065, 30, fitted_vgg16, true,
     "138.4 M parameters (torchvision); batch 16: GPU stage of Muri's trace"},
    {"vgg19", 575, 0.083, 80073, 1.8, 9.6, 0.065, 30, fitted_vgg16, true,
     "143.7 M parameters (torchvision); batch 16: GPU stage of Muri's trace; exchange as VGG-16"},
    {"yolov3", 248, 0.196, 2000, 0.9, 17, 0.08, 50, layers_alike(0.196), false,
     "61.9 M parameters (Redmon 2018); batch 8: Pollux, T4; Pascal VOC of 16,500 images"},
};

JobType type_of(const Row &row) {
  JobType made;
  made.name = row.name;
  made.parameters_mb = row.parameters_mb;
  made.compute_s = row.compute_s;
  made.steps_per_epoch = row.steps_per_epoch;
  made.input_mb = row.input_mb;
  made.host_mb = row.host_mb;
  made.cpu_s = row.cpu_s;
  made.memory_mb = row.memory_mb;
  made.overlap = row.exchange.overlap;
  made.network_efficiency = row.exchange.network_efficiency;
  made.ring_latency_s = row.exchange.ring_latency_s;
  made.spread = row.exchange.spread;
  made.skewed = row.skewed;
  made.source = row.source;
  return made;
}

} // namespace

JobTypes::JobTypes() {
  for (const Row &row : rows) set(type_of(row));
  middling_.name = "unknown";
  middling_.compute_s = 0.15;
  middling_.input_mb = 3;
  middling_.host_mb = 20;
  middling_.cpu_s = 0.1;
  middling_.source = "assumed: a middling model";
}

const JobType &JobTypes::of(const std::string &name) const {
  const auto found = types_.find(name);
  return found != types_.end() ? found->second : middling_;
}

std::vector<std::string> JobTypes::names() const {
  std::vector<std::string> all;
  for (const auto &[name, type] : types_) all.push_back(name);
  return all;
}

} // namespace harmony
