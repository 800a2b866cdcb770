// Files for the tests of what the simulator reads, and where the published traces are, which are not part of the
// project.
#pragma once

#include <cppunit/extensions/HelperMacros.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace harmony {
namespace fixtures {

// A folder that goes away with the test.
class Files {
public:
  Files() {
    char name[] = "/tmp/harmony-sim-XXXXXX";
    CPPUNIT_ASSERT(mkdtemp(name));
    path_ = name;
  }
  ~Files() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Files(const Files &) = delete;
  Files &operator=(const Files &) = delete;

  const std::string &path() const { return path_; }
  std::string write(const std::string &name, const std::string &text) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
    return path;
  }

private:
  std::string path_;
};

// The path of a published file: in $HARMONY_DATA, else beside the sources. Empty, and said so, if it is not there.
inline std::string published(const std::string &name) {
  const char *given = std::getenv("HARMONY_DATA"), *top = std::getenv("srcdir");
  const std::string folder = given ? given : std::string(top ? top : ".") + "/../shared/data";
  const std::string path = folder + "/" + name;
  if (std::filesystem::exists(path)) return path;
  std::cout << "\n  skipped: there is no " << path << "; set HARMONY_DATA to the folder of the published traces\n";
  return {};
}

// What the call throws, without the folder of the file; empty if it throws nothing.
template <class Call> std::string thrown(Call call, const std::string &folder = {}) {
  try {
    call();
  } catch (const std::runtime_error &problem) {
    std::string text = problem.what();
    for (std::size_t at; !folder.empty() && (at = text.find(folder + "/")) != std::string::npos;)
      text.erase(at, folder.size() + 1);
    return text;
  }
  return {};
}

} // namespace fixtures
} // namespace harmony
