// What a training has found so far, on the disk, so that one that was stopped goes on. A checkpoint of another dataset
// or of other options is not used. For one thread.
#pragma once

#include <string>
#include <vector>

namespace harmony {

class Checkpoint {
public:
  Checkpoint() = default;
  Checkpoint(std::string directory, const std::string &fingerprint);

  // Empty: nothing of that name was kept.
  std::vector<float> numbers(const std::string &name) const;
  void keep(const std::string &name, const std::vector<float> &numbers) const;
  void done() const; // it is of no use any more

private:
  std::string path(const std::string &name) const { return directory_ + "/" + name + ".checkpoint"; }
  std::string directory_;
};

} // namespace harmony
