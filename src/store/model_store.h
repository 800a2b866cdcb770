// The model store: a directory of published models. Each is a directory that never changes again, called 1, 2, 3 ...,
// with model.pt, manifest.json and MODEL_CARD.md; CURRENT says which of them is in use (current_file.h).
//
// Readers need no lock: a version appears whole or not at all, and CURRENT changes in one step. Writers hold a lock
// against each other. Killed at any point, they leave a store that can be read and written.
//
// Problems are values, one line each: which file or directory is wrong, and how to mend it. A store may be used from
// any thread, by one at a time.
#pragma once

#include "src/store/manifest.h"
#include "src/store/secure_file.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace harmony {

constexpr std::size_t max_model_size = std::size_t{64} << 20;
constexpr std::size_t max_card_size = 1 << 20;

// One step of the way to a sound model, for `harmony model verify`.
struct ModelCheck {
  std::string name;    // directories, manifest, schema, model, digest, card
  std::string detail;  // what was found to be right
  std::string problem; // empty if it is
};

struct ModelReading {
  int version = 0; // 0 for a directory that is not published
  Manifest manifest;
  std::string model;              // the bytes of model.pt, the very ones that have the digest
  std::vector<ModelCheck> checks; // those made, in order; the last one failed if there is a problem
  std::string problem;            // empty if the model may be loaded
  bool none = false;              // nothing was ever taken in use: no store, or no CURRENT. `problem` says so too
};

struct ModelEntry {
  int version = 0;
  Manifest manifest;
  std::string problem; // with the directory or the manifest; model.pt is not read
};

struct ModelListing {
  std::vector<ModelEntry> versions; // ascending
  int in_use = 0;                   // 0: none
  std::vector<int> before;          // in use before it, newest first
  std::string problem;              // with the store or CURRENT; the versions may be listed all the same
  bool none = false;                // nothing was ever taken in use, as in ModelReading
};

struct StoreChange {
  int version = 0; // that was published, or is in use now
  std::string problem;
};

// Changes whenever CURRENT does. To be taken before CURRENT is read: then a change in between is seen the next time.
struct StoreStamp {
  std::uint64_t device = 0, inode = 0; // all 0 if there is no CURRENT
  std::int64_t size = 0, modified_s = 0, modified_ns = 0;

  bool operator==(const StoreStamp &other) const {
    return device == other.device && inode == other.inode && size == other.size && modified_s == other.modified_s &&
           modified_ns == other.modified_ns;
  }
  bool operator!=(const StoreStamp &other) const { return !(*this == other); }
};

class ModelStore {
public:
  // Says why the features of a model are not ours, or nothing (src/encode/schema.h).
  using SchemaProblem = std::function<std::string(const Manifest &)>;

  ModelStore(std::string path, Trust trust, SchemaProblem schema_problem)
      : path_(std::move(path)), trust_(std::move(trust)), schema_problem_(std::move(schema_problem)) {}

  const std::string &path() const { return path_; }

  StoreStamp stamp() const; // one stat, nothing else
  ModelReading read_current() const;
  ModelReading read_version(int version) const;
  ModelListing list() const;

  // The same as reading, and the model card, which slurmctld does not need.
  ModelReading verify(int version) const;
  // A directory that may be anywhere, by the rules of a version of a store: the shipped model.
  ModelReading read_directory(const std::string &directory) const;
  ModelEntry entry_of_directory(const std::string &directory) const; // the same, without model.pt
  // A directory that may be anywhere, such as one to be added: owners and modes are not asked for, add() copies it.
  ModelReading verify_directory(const std::string &directory) const;

  StoreChange add(const std::string &directory); // published, not in use; the store is made if it is missing
  StoreChange use(int version);
  StoreChange rollback();

private:
  ModelReading read_in_store(int version, bool with_card) const;
  ModelReading read_model(const OpenDirectory &directory, int version, bool with_card, const Trust &trust) const;
  StoreChange publish(const OpenDirectory &store, ModelReading model, const std::string &card) const;
  StoreChange write_current(const OpenDirectory &store, const std::vector<int> &versions) const;

  std::string path_;
  Trust trust_;
  SchemaProblem schema_problem_;
};

} // namespace harmony
