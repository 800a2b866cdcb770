// A place on the disk for tests of the model store, and models to put into it. Below /tmp, so the walk to the root
// begins at the place itself.
#pragma once

#include "src/store/model_store.h"
#include "src/store/sha256.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace harmony {

class Place {
public:
  Place() {
    char name[] = "/tmp/harmony-store-XXXXXX";
    CPPUNIT_ASSERT(mkdtemp(name));
    path_ = std::filesystem::canonical(name);
    trust_.owner = geteuid();
    trust_.root = path_;
  }
  ~Place() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;

  std::string operator/(const std::string &name) const { return path_ + "/" + name; }
  const std::string &path() const { return path_; }
  const Trust &trust() const { return trust_; }

private:
  std::string path_;
  Trust trust_;
};

inline void write_text(const std::string &path, const std::string &text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  chmod(path.c_str(), 0644);
}

inline std::string read_text(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void make_directory(const std::string &path) {
  std::filesystem::create_directories(path);
  chmod(path.c_str(), 0755);
}

inline Manifest some_manifest(const std::string &model) {
  Manifest manifest;
  manifest.name = "harmony-test";
  manifest.schema = 1;
  manifest.torch = "1.13.1";
  manifest.sha256 = sha256_hex(model);
  manifest.types = {"resnet50", "vgg16"};
  manifest.job = {{"workers", 0, 1}};
  manifest.candidates = {{"free_gpus", 0, 1}, {"node_type:resnet50", -0.125, 0.3}};
  manifest.gangs = {{"wait", 0, 1}};
  manifest.trained_on = "nothing";
  manifest.evaluation = "a \"test\" with \\";
  return manifest;
}

// A directory as training leaves it.
inline void make_model(const std::string &directory, const std::string &model) {
  make_directory(directory);
  write_text(directory + "/model.pt", model);
  write_text(directory + "/manifest.json", manifest_json(some_manifest(model)));
  write_text(directory + "/MODEL_CARD.md", "# A card\n");
}

// A store, and a directory `source` to publish from.
struct Shop {
  Place place;
  std::string path = place / "models", source = place / "trained";
  ModelStore store{path, place.trust(), {}};

  explicit Shop(int versions = 0) {
    for (int i = 1; i <= versions; ++i) publish("model " + std::to_string(i));
  }

  int publish(const std::string &model) {
    make_model(source, model);
    const StoreChange change = store.add(source);
    CPPUNIT_ASSERT_EQUAL(std::string(), change.problem);
    return change.version;
  }
  void use(int version) { CPPUNIT_ASSERT_EQUAL(std::string(), store.use(version).problem); }
  std::string current() const { return read_text(path + "/CURRENT"); }
  std::string file(const std::string &name) const { return path + "/1/" + name; }

  void refused(const std::string &part) const {
    const ModelReading reading = store.read_current();
    CPPUNIT_ASSERT_MESSAGE(part + " / " + reading.problem, reading.problem.find(part) != std::string::npos);
    CPPUNIT_ASSERT(reading.problem.find('\n') == std::string::npos);
    CPPUNIT_ASSERT(reading.model.empty());
  }
  void good() const { CPPUNIT_ASSERT_EQUAL(std::string(), store.read_current().problem); }
};

inline bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace harmony
