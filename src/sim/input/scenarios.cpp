// The mixes of the scenarios. Shares and sizes are assumed, unless a source stands beside them.
//
// Cores are asked for such that they do not run out before GPUs do: a job's cores by GPU, PS included, are at most the
// node's. servers6 has 4 a GPU, pcie8 4, quad4 6.
#include "src/sim/input/scenario_mix.h"

#include <cmath>

namespace harmony {
namespace {

// Fitted to the Philly trace by maximum likelihood (mean and standard deviation of the logarithm of the durations) over
// its jobs of a minute and more: 70,447 with one GPU, 4,146 with several. Those above 6 hours (5 % and 52 % of them)
// are left out, because a workload of some hundred jobs would be about a few of them only.
constexpr Durations philly_one{6.98, 1.84, 120, 21600}, philly_several{9.51, 2.71, 120, 21600};

Durations around(double median_s, double log_deviation, double least_s, double most_s) {
  return {std::log(median_s), log_deviation, least_s, most_s};
}

// The Harmony testbed: jobs of 8 types with PS, a worker and a PS each up to 4 and 2, three in 20 minutes. Its types
// are those of the paper as far as they are published.
ScenarioMix servers6(const char *name, int nic_mbps) {
  ScenarioMix mix;
  mix.name = name;
  mix.about = nic_mbps == 25000 ? "6 servers of 8 cores and 2 GPUs, 25 GbE; PS jobs of 8 types (the Harmony testbed)"
                                : "as servers6, with 50 GbE";
  mix.groups = {{"s", 6, "servers6", "", nic_mbps, "r1"}};
  mix.types = {{"resnet50", 1}, {"vgg16", 1},   {"resnext50", 1}, {"inception3", 1},
               {"alexnet", 1},  {"seq2seq", 1}, {"ctc", 1},       {"transformer", 1}};
  mix.workers = {{1, 1}, {2, 1}, {3, 1}, {4, 1}};
  mix.with_ps = 1;
  mix.ps_from = 1;
  mix.workers_per_ps = 2;
  mix.cpus_per_task = 2;
  mix.of_one = mix.of_several = around(1200, 0.8, 300, 10800);
  mix.jobs = 120;
  mix.natural_gap_s = 400;
  return mix;
}

ScenarioMix pcie8() {
  ScenarioMix mix;
  mix.name = "pcie8";
  mix.about = "16 nodes of 2 sockets, 4 PCIe switches and 8 GPUs; jobs of 1 to 16 GPUs, odd sizes among them";
  mix.groups = {{"p", 16, "pcie8", "", 0, "r1"}};
  mix.types = {{"resnet50", 16}, {"vgg16", 10},    {"inception3", 8},  {"resnext50", 8}, {"alexnet", 8},
               {"mobilenet", 6}, {"bert", 14},     {"transformer", 8}, {"seq2seq", 4},   {"deepspeech2", 6},
               {"dlrm", 5},      {"graphsage", 4}, {"yolov3", 3}};
  mix.workers = {{1, 30}, {2, 17}, {3, 10}, {4, 15}, {5, 5}, {6, 6}, {7, 3}, {8, 9}, {12, 3}, {16, 2}};
  mix.with_ps = 0.25;
  mix.ps_from = 3;
  mix.cpus_per_task = 3;
  mix.of_one = mix.of_several = around(1800, 1.0, 300, 21600);
  mix.jobs = 300;
  return mix;
}

// Types that move the most from host memory to the GPU in a second of computing.
ScenarioMix pcie8_heavy() {
  ScenarioMix mix = pcie8();
  mix.name = "pcie8-heavy";
  mix.about = "as pcie8, with jobs that move much from host memory to GPUs";
  mix.types = {{"alexnet", 28}, {"graphsage", 22}, {"dlrm", 22}, {"mobilenet", 14}, {"resnet50", 8}, {"vgg16", 6}};
  return mix;
}

// Half of the nodes have another GPU; the two are close enough for the load to mean what it says.
std::vector<NodeGroup> of_two_kinds(int nodes) {
  return {{"v", nodes / 2, "quad4", "v100", 0, "r1"}, {"t", nodes - nodes / 2, "quad4", "rtx6000", 0, "r2"}};
}

ScenarioMix mixed64() {
  ScenarioMix mix;
  mix.name = "mixed64";
  mix.about = "64 nodes of 4 GPUs, two kinds; PS and all-reduce; arrivals and durations after the Philly trace";
  mix.groups = of_two_kinds(64);
  mix.types = {{"resnet50", 15},   {"vgg16", 10}, {"inception3", 7},   {"resnext50", 6}, {"alexnet", 5},
               {"mobilenet", 4},   {"bert", 14},  {"transformer", 10}, {"seq2seq", 6},   {"lstm", 4},
               {"deepspeech2", 6}, {"ctc", 3},    {"dlrm", 5},         {"graphsage", 3}, {"yolov3", 2}};
  mix.workers = {{1, 42}, {2, 18}, {3, 3}, {4, 17}, {6, 3}, {8, 11}, {12, 2}, {16, 4}};
  mix.with_ps = 0.4;
  mix.of_one = philly_one;
  mix.of_several = philly_several;
  mix.arrivals = Arrivals::philly;
  return mix;
}

ScenarioMix scale512() {
  ScenarioMix mix = mixed64();
  mix.name = "scale512";
  mix.about = "as mixed64, on 512 nodes, with jobs of up to 64 GPUs";
  mix.groups = of_two_kinds(512);
  mix.workers.push_back({32, 2});
  mix.workers.push_back({64, 1});
  mix.jobs = 2400;
  return mix;
}

ScenarioMix unseen() {
  ScenarioMix mix = mixed64();
  mix.name = "unseen";
  mix.about = std::string("as mixed64, a quarter of the jobs of a type that is in no other scenario: ") + held_out_type;
  double others = 0;
  for (const auto &share : mix.types) others += share.weight;
  mix.types.push_back({held_out_type, others / 3});
  return mix;
}

ScenarioMix shift_load() {
  ScenarioMix mix = mixed64();
  mix.name = "shift-load";
  mix.about = "as mixed64, but jobs arrive twice as fast in the second half of the time; the load is that of the whole";
  mix.arrivals = Arrivals::doubling;
  return mix;
}

ScenarioMix shift_mix() {
  ScenarioMix mix = mixed64();
  mix.name = "shift-mix";
  mix.about = "as mixed64, with another mix: larger jobs, more language models and recommenders, more PS";
  mix.types = {{"bert", 26}, {"transformer", 18}, {"seq2seq", 14},  {"dlrm", 14},
               {"lstm", 8},  {"vgg19", 8},        {"resnet101", 6}, {"ncf", 6}};
  mix.workers = {{1, 22}, {2, 16}, {4, 26}, {6, 5}, {8, 20}, {12, 3}, {16, 8}};
  mix.with_ps = 0.6;
  return mix;
}

} // namespace

const std::vector<ScenarioMix> &scenario_mixes() {
  static const std::vector<ScenarioMix> all = {servers6("servers6", 25000),
                                               servers6("servers6-50", 50000),
                                               pcie8(),
                                               pcie8_heavy(),
                                               mixed64(),
                                               scale512(),
                                               unseen(),
                                               shift_load(),
                                               shift_mix()};
  return all;
}

} // namespace harmony
