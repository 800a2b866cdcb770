#include "src/infer/torch/archive.h"

#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace harmony {
namespace {

constexpr std::size_t most_files = 4096;
constexpr std::uint64_t most_unpacked = 192 << 20;
// Deeper nesting than these sizes allow would overflow the stack of LibTorch's recursive readers.
constexpr std::uint64_t most_pickle = 64 << 10, most_code = 1 << 20;

struct Bytes {
  std::string_view all;

  template <class Number> Number number(std::uint64_t at) const {
    if (all.size() < sizeof(Number) || at > all.size() - sizeof(Number)) throw std::string("it ends too early");
    Number value;
    std::memcpy(&value, all.data() + at, sizeof value);
    return value;
  }
  std::string_view text(std::uint64_t at, std::uint64_t size) const {
    if (at > all.size() || size > all.size() - at) throw std::string("it ends too early");
    return all.substr(at, size);
  }
};

struct Directory {
  std::uint64_t start = 0, count = 0;
};

Directory find_directory(const Bytes &bytes) {
  const std::size_t end = bytes.all.rfind(std::string_view("PK\5\6", 4));
  if (end == std::string_view::npos) throw std::string("it has no zip directory; is it cut short?");
  Directory directory{bytes.number<std::uint32_t>(end + 16), bytes.number<std::uint16_t>(end + 10)};
  if (end < 20 || bytes.text(end - 20, 4) != std::string_view("PK\6\7", 4)) return directory;
  const auto wide = bytes.number<std::uint64_t>(end - 20 + 8);
  if (bytes.text(wide, 4) != std::string_view("PK\6\6", 4)) throw std::string("its zip directory is damaged");
  return {bytes.number<std::uint64_t>(wide + 48), bytes.number<std::uint64_t>(wide + 32)};
}

// In the 64-bit form the size stands in an extra field, first of its numbers.
std::uint64_t wide_size(const Bytes &bytes, std::uint64_t at, std::uint64_t end) {
  while (at + 4 <= end) {
    const auto id = bytes.number<std::uint16_t>(at), size = bytes.number<std::uint16_t>(at + 2);
    if (id == 1 && size >= 8) return bytes.number<std::uint64_t>(at + 4);
    at += 4u + size;
  }
  throw std::string("its zip directory is damaged");
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

void check(const ArchiveFile &file) {
  const std::string name = printable(file.name, 100);
  if (file.name == "model.json") throw std::string("it is in a form of LibTorch older than 1.4, which is not read");
  if (ends_with(file.name, ".pkl") && file.size > most_pickle)
    throw fmt::format("its {} is {} bytes long; {} are read at most", name, file.size, most_pickle);
  if (ends_with(file.name, ".py") && file.size > most_code)
    throw fmt::format("its {} is {} bytes long; {} are read at most", name, file.size, most_code);
}

std::vector<ArchiveFile> read_files(const Bytes &bytes) {
  if (bytes.all.substr(0, 4) != std::string_view("PK\3\4", 4)) throw std::string("it is no zip archive");
  const Directory directory = find_directory(bytes);
  if (directory.count > most_files)
    throw fmt::format("it holds {} files; {} are read at most", directory.count, most_files);
  std::vector<ArchiveFile> files;
  std::uint64_t unpacked = 0, at = directory.start;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (bytes.text(at, 4) != std::string_view("PK\1\2", 4)) throw std::string("its zip directory is damaged");
    const auto name_size = bytes.number<std::uint16_t>(at + 28), extra_size = bytes.number<std::uint16_t>(at + 30);
    const auto comment_size = bytes.number<std::uint16_t>(at + 32);
    std::uint64_t size = bytes.number<std::uint32_t>(at + 24);
    if (size == 0xffffffff) size = wide_size(bytes, at + 46 + name_size, at + 46 + name_size + extra_size);
    std::string_view name = bytes.text(at + 46, name_size);
    name.remove_prefix(std::min(name.find('/') + 1, name.size()));
    files.push_back({std::string(name), size});
    check(files.back());
    if (size > most_unpacked || (unpacked += size) > most_unpacked)
      throw fmt::format("it unpacks to more than {} MB", most_unpacked >> 20);
    at += 46u + name_size + extra_size + comment_size;
  }
  return files;
}

} // namespace

Archive read_archive(std::string_view bytes) {
  try {
    return {read_files({bytes}), {}};
  } catch (const std::string &problem) {
    return {{}, problem};
  }
}

} // namespace harmony
