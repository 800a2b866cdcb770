// Records for tests: of every kind, with every key set or left out by chance, all within their limits.
#pragma once

#include "src/record/records.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace harmony::fixtures {

class RandomRecords {
public:
  explicit RandomRecords(unsigned seed) : random_(seed) {}

  int below(int most) { return std::uniform_int_distribution<int>(0, most - 1)(random_); }
  bool maybe() { return below(2) == 0; }
  double real(double least, double most) { return std::uniform_real_distribution<double>(least, most)(random_); }

  std::string text(int most) {
    std::string made(static_cast<std::size_t>(below(most)), ' ');
    for (char &c : made) c = static_cast<char>(' ' + below('~' - ' ' + 1)); // quotes and backslashes among them
    return made;
  }
  Bits bits(int most) {
    Bits made(most);
    for (int i = below(4); i > 0; --i) made.set(below(most));
    return made;
  }
  std::uint32_t job() { return static_cast<std::uint32_t>(random_()); }
  RunId id() { return {"cluster" + text(9), job(), below(4)}; }
  std::optional<double> real_or_none(double most) {
    return maybe() ? std::optional<double>(real(0, most)) : std::nullopt;
  }
  std::vector<TasksAt> tasks() {
    std::vector<TasksAt> made(static_cast<std::size_t>(below(4)));
    for (TasksAt &each : made) {
      each.node = text(64);
      each.workers = below(9);
      each.ps = below(9);
      each.cores = bits(256);
      each.gpus = bits(16);
      for (int i = below(3); i > 0; --i) each.domains.push_back({below(40), bits(16)});
    }
    return made;
  }
  std::vector<Neighbour> neighbours() {
    std::vector<Neighbour> made(static_cast<std::size_t>(below(4)));
    for (Neighbour &each : made) each = {job(), text(32), below(9), below(9), below(9), tasks()};
    return made;
  }
  std::optional<Claim> claim() {
    if (maybe()) return std::nullopt;
    Claim made;
    made.epoch = real(0, most_claimed_epochs);
    made.of = real_or_none(most_claimed_epochs);
    made.samples_per_s = real_or_none(most_samples_per_s);
    if (maybe()) made.loss = real(-most_loss, most_loss);
    made.at = below(2000000000);
    return made;
  }

  NodeRecord node() { return {"c", text(64), text(2000)}; }
  StartRecord start() {
    StartRecord made;
    made.id = id();
    made.resumed = maybe();
    if (maybe()) made.array_job = 7, made.array_task = static_cast<std::uint32_t>(below(1000));
    for (int i = below(4); i > 0; --i) made.components.push_back(job());
    made.user = text(64);
    made.type = text(32);
    made.workers = below(1000);
    made.ps = below(1000);
    made.gpus = below(1000);
    made.epochs = static_cast<std::uint32_t>(below(100));
    made.model_kb = static_cast<std::uint32_t>(below(3)) * 0x7fffffff;
    made.cpus_per_task = below(3);
    made.time_limit_min = static_cast<std::uint32_t>(below(3));
    made.policy = text(20);
    made.by_plan = maybe();
    made.why_stock = text(500);
    made.model = text(100);
    made.predicted_speed = real_or_none(1);
    made.submit_s = real(-1e9, 2e9);
    made.begin_s = real(-1e9, 2e9);
    made.placement = tasks();
    made.neighbours = neighbours();
    made.cut = maybe();
    return made;
  }
  IntervalRecord interval() {
    IntervalRecord made;
    made.id = id();
    made.type = text(32);
    made.workers = below(1000);
    made.ps = below(1000);
    made.nodes = below(1000);
    made.begin_s = real(0, 2e9);
    made.end_s = made.begin_s + real(0, 1e5);
    made.epochs = real_or_none(1e6);
    made.relative_speed = real_or_none(1);
    made.terms = {real(0, 9), real(0, 9), real(0, 9), real(0, 1), real(0, 1)};
    made.neighbours = neighbours();
    made.cut = maybe();
    made.claim = claim();
    return made;
  }
  EndRecord end() {
    EndRecord made;
    made.id = id();
    made.type = text(32);
    made.state = "NODE_FAIL";
    made.begin_s = real(0, 2e9);
    made.end_s = made.begin_s + real(0, 1e5);
    made.elapsed_s = real(0, 1e5);
    made.epochs = real_or_none(1e6);
    made.mean_speed = real_or_none(1e3);
    made.requeues = below(5);
    made.exit_code = below(300) - 100;
    made.claim = claim();
    return made;
  }
  ShadowRecord shadow() {
    ShadowRecord made;
    made.id = id();
    made.type = text(32);
    made.policy = text(20);
    made.model = text(100);
    made.verdict = text(20);
    made.reason = text(500);
    made.decided_s = real(0, 2e9);
    made.plan = tasks();
    made.cut = maybe();
    made.same = maybe();
    made.predicted_speed = real_or_none(1);
    return made;
  }
  UsageRecord usage() {
    UsageRecord made;
    made.id = id();
    made.usage.job = made.id.job + 1;
    made.usage.step = maybe() ? "batch" : "3";
    made.usage.node = text(64);
    made.usage.begin_s = below(2000000000);
    made.usage.seconds = real(0, 1e6);
    made.usage.cpu = real(0, 256);
    made.usage.nic_rx_mb_s = real(0, 1e5);
    made.usage.nic_tx_mb_s = real(0, 1e5);
    for (int i = below(9); i > 0; --i)
      made.usage.gpus.push_back({i, real(0, 100), real(0, 1e5), real(0, 1e5), real(0, 1e5)});
    return made;
  }
  GapRecord gap() { return {"c", static_cast<std::uint64_t>(below(1000000)) << 20, real(0, 2e9), text(500)}; }

  Record any() {
    switch (below(7)) {
    case 0: return node();
    case 1: return start();
    case 2: return interval();
    case 3: return end();
    case 4: return shadow();
    case 5: return usage();
    default: return gap();
    }
  }

private:
  std::mt19937 random_;
};

} // namespace harmony::fixtures
