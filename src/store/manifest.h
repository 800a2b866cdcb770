// What a model says of itself (manifest.json): which features it was trained on, within which ranges, and by what. A
// plain value, and its reader, which trusts nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace harmony {

// A feature and the range it had in training: beyond it the model is asked about what it has never seen.
struct FeatureRange {
  std::string name;
  double low = 0;
  double high = 1;
};

struct Manifest {
  std::string name;               // of the model, "harmony-mixed64"; the grammar of job types
  int version = 0;                // the directory's number; 0 until it is published
  int schema = 0;                 // of the features (src/encode/schema.h)
  std::string torch;              // the LibTorch it was written with, "1.13.1"
  std::string sha256;             // of model.pt, 64 hex digits
  std::vector<std::string> types; // job types it knows, without "unknown"
  std::vector<FeatureRange> job;  // in the order of the columns
  std::vector<FeatureRange> candidates;
  std::vector<FeatureRange> gangs;
  std::string trained_on; // one line each, for people
  std::string evaluation;
};

struct ManifestReading {
  Manifest manifest;
  std::string problem; // one line, empty if it is sound
};

constexpr std::size_t max_manifest_size = 1 << 20;
constexpr int max_model_version = 999999999;
constexpr std::size_t max_model_types = 64;     // each makes every row wider
constexpr std::size_t max_features = 4096;      // of each of the three kinds; some come once a type
constexpr std::size_t max_feature_name = 64;    // a-z, 0-9, '_', '.', ':' and '-', the first a letter or a digit
constexpr std::size_t max_manifest_text = 4096; // trained_on and evaluation
constexpr double max_feature_value = 1e9;       // low and high, on either side of zero

// One line, empty if lengths, counts, grammar and ranges are sound; whether the features are ours is schema.h's
// question.
std::string manifest_problem(const Manifest &manifest);

// Never throws. Every key is there, once, and no other; and what manifest_problem() checks.
ManifestReading read_manifest(const std::string &json);
std::string manifest_json(const Manifest &manifest); // of a sound one; indented, ends with a newline

} // namespace harmony
