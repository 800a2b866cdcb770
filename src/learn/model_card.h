// What a trained model is published with: its manifest, and a card for people. Pure functions.
#pragma once

#include "src/learn/judge.h"
#include "src/learn/reward_report.h"
#include "src/learn/trainer.h"
#include "src/store/manifest.h"

#include <string>
#include <vector>

namespace harmony {

struct CardFacts {
  std::string name, command;
  const TrainingData *data = nullptr;
  const TrainedPolicy *policy = nullptr;
  std::vector<RewardErrors> reward;
  Verdicts verdicts;
  std::vector<std::string> notes; // what was left out or forced
};

// `model`: the bytes of model.pt.
Manifest manifest_of(const CardFacts &facts, const std::string &model);
std::string model_card(const CardFacts &facts); // Markdown

} // namespace harmony
