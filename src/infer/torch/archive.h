// The zip directory of a model.pt, read by ourselves before LibTorch unpacks anything: what it unpacks to is bounded,
// and the files that may not be there are not. Knows nothing of LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

struct ArchiveFile {
  std::string name;       // below the archive's own top folder: "data.pkl", "code/__torch__/Policy.py"
  std::uint64_t size = 0; // unpacked
};

struct Archive {
  std::vector<ArchiveFile> files;
  std::string problem; // one line; empty: the directory could be read and everything is within bounds
};

Archive read_archive(std::string_view bytes);

} // namespace harmony
