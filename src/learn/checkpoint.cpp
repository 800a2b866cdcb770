#include "src/learn/checkpoint.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace harmony {
namespace {

const char *const kept[] = {"reward", "practice", "judge", "tested", "weights"};

std::string text_of(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

Checkpoint::Checkpoint(std::string directory, const std::string &fingerprint) : directory_(std::move(directory)) {
  if (text_of(path("of")) == fingerprint) return;
  done();
  std::ofstream(path("of")) << fingerprint;
}

std::vector<float> Checkpoint::numbers(const std::string &name) const {
  const std::string bytes = text_of(path(name));
  std::vector<float> all(bytes.size() / sizeof(float));
  bytes.copy(reinterpret_cast<char *>(all.data()), all.size() * sizeof(float));
  for (const float each : all)
    if (!std::isfinite(each)) return {};
  return all;
}

void Checkpoint::keep(const std::string &name, const std::vector<float> &numbers) const {
  const std::string fresh = path(name) + ".new";
  {
    std::ofstream file(fresh, std::ios::binary);
    file.write(reinterpret_cast<const char *>(numbers.data()),
               static_cast<std::streamsize>(numbers.size() * sizeof(float)));
  }
  std::error_code ignored; // without it, a training only cannot go on
  std::filesystem::rename(fresh, path(name), ignored);
}

void Checkpoint::done() const {
  std::error_code ignored;
  for (const char *name : kept) std::filesystem::remove(path(name), ignored);
  std::filesystem::remove(path("of"), ignored);
}

} // namespace harmony
