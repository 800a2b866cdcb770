#include "src/infer/scorer.h"

#include "src/values/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace harmony {
namespace {

std::size_t hash_of(const float *row, std::size_t width) {
  std::uint64_t hash = width;
  for (std::size_t i = 0; i < width; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, row + i, sizeof bits);
    hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return static_cast<std::size_t>(hash);
}

// Ranges are of training data, written with few digits; what is beyond by less than that is within.
constexpr double tolerance = 1e-4;

void check(const char *which, const std::vector<FeatureRange> &ranges, const float *row) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const double value = row[i];
    if (value >= ranges[i].low - tolerance && value <= ranges[i].high + tolerance) continue;
    throw ModelRefused(ModelFault::out_of_distribution,
                       fmt::format("{} feature {} is {:.3f}, it was trained on {:.3f} to {:.3f}", which, ranges[i].name,
                                   value, ranges[i].low, ranges[i].high));
  }
}

} // namespace

std::string ReadyModel::title() const {
  return manifest.version ? fmt::format("{} version {}", manifest.name, manifest.version) : manifest.name;
}

void Scorer::ask_about(const JobRow &job) {
  job_ = job;
  forget();
  check("job", ready_.manifest.job, job_.features.data());
}

void Scorer::forget() {
  known_.values.clear();
  known_.count = 0;
  scores_.clear();
  table_.clear();
}

std::vector<float> Scorer::ask(const Rows &rows, bool about_gangs) {
  const std::int64_t begin = now_ns();
  std::vector<float> scores;
  try {
    scores = about_gangs ? ready_.model->score_gangs(job_, rows) : ready_.model->score_candidates(job_, rows);
  } catch (const ModelShapeWrong &wrong) {
    throw ModelRefused(ModelFault::wrong_shape, wrong.what());
  } catch (const std::exception &failed) {
    throw ModelRefused(ModelFault::failed, failed.what());
  }
  timed(now_ns() - begin);
  if (scores.size() != static_cast<std::size_t>(rows.count))
    throw ModelRefused(ModelFault::wrong_shape, fmt::format("{} scores for {} rows", scores.size(), rows.count));
  const auto odd = std::find_if(scores.begin(), scores.end(), [](float score) { return !std::isfinite(score); });
  if (odd != scores.end())
    throw ModelRefused(ModelFault::not_finite,
                       fmt::format("the score of row {} of {} is {}", odd - scores.begin(), rows.count, *odd));
  computed_ += scores.size();
  return scores;
}

int Scorer::known(const float *row, std::size_t width, std::size_t hash) const {
  return table_.find(hash, [&](int place) {
    return std::memcmp(known_.values.data() + static_cast<std::size_t>(place) * width, row, width * sizeof(float)) == 0;
  });
}

// Its place among the known rows; one more if it is not known yet, with a score to come.
int Scorer::find(const float *row, std::size_t width) {
  const std::size_t hash = hash_of(row, width);
  const int place = known(row, width, hash);
  if (place >= 0) return place;
  known_.values.insert(known_.values.end(), row, row + width);
  ++known_.count;
  return table_.add(hash);
}

std::vector<float> Scorer::candidates(const Rows &rows) {
  const auto width = static_cast<std::size_t>(rows.width);
  const int known_before = known_.count;
  std::vector<int> places;
  places.reserve(static_cast<std::size_t>(rows.count));
  for (int i = 0; i < rows.count; ++i)
    places.push_back(find(rows.values.data() + static_cast<std::size_t>(i) * width, width));
  if (known_.count > known_before) {
    fresh_.width = rows.width;
    fresh_.count = known_.count - known_before;
    fresh_.values.assign(known_.values.begin() +
                             static_cast<std::ptrdiff_t>(static_cast<std::size_t>(known_before) * width),
                         known_.values.end());
    const std::vector<float> scores = ask(fresh_, false);
    scores_.insert(scores_.end(), scores.begin(), scores.end());
  }
  reused_ += static_cast<std::uint64_t>(rows.count - (known_.count - known_before));
  std::vector<float> result;
  result.reserve(places.size());
  for (const int place : places) result.push_back(scores_[static_cast<std::size_t>(place)]);
  return result;
}

bool Scorer::knows(const Rows &rows) const {
  const auto width = static_cast<std::size_t>(rows.width);
  for (int i = 0; i < rows.count; ++i) {
    const float *row = rows.values.data() + static_cast<std::size_t>(i) * width;
    if (known(row, width, hash_of(row, width)) < 0) return false;
  }
  return true;
}

std::vector<float> Scorer::gangs(const Rows &rows) { return rows.count ? ask(rows, true) : std::vector<float>(); }

void Scorer::check_candidate(const float *row) const { check("candidate", ready_.manifest.candidates, row); }
void Scorer::check_gang(const float *row) const { check("gang", ready_.manifest.gangs, row); }

} // namespace harmony
