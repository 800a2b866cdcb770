#include "src/observe/nic_bytes.h"

#include "src/store/descriptor.h"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <unistd.h>

namespace harmony {
namespace {

constexpr std::size_t most_text = 1 << 20; // thousands of interfaces

std::string read_text(const std::string &path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[16384];
  ssize_t size = 0;
  while (file.is_open() && text.size() < most_text && (size = read(file.get(), part, sizeof part)) > 0)
    text.append(part, static_cast<std::size_t>(size));
  return text;
}

bool take_number(std::string_view &text, std::uint64_t &number) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool exists(const std::string &path) { return access(path.c_str(), F_OK) == 0; }

// A counter that went back was reset, and began at zero.
std::uint64_t grown(std::uint64_t before, std::uint64_t now) { return now >= before ? now - before : now; }

} // namespace

std::map<std::string, NicCounters> read_net_dev(std::string_view text) {
  std::map<std::string, NicCounters> result;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t colon = line.rfind(':'); // eth0:1 was a name once
    if (colon == std::string_view::npos || colon == 0) continue;
    const std::string name(line.substr(0, colon));
    line.remove_prefix(colon + 1);
    std::uint64_t columns[9] = {}; // the first is bytes received, the ninth bytes sent
    const bool good = std::all_of(std::begin(columns), std::end(columns),
                                  [&line](std::uint64_t &column) { return take_number(line, column); });
    if (good) result[name] = {columns[0], columns[8]};
  }
  return result;
}

NicBytes::NicBytes(std::string net_dev, std::string class_net)
    : net_dev_(std::move(net_dev)), class_net_(std::move(class_net)) {}

NicBytes::Kind NicBytes::kind_of(const std::string &interface) {
  const auto known = kinds_.find(interface);
  if (known != kinds_.end()) return known->second;
  Kind kind = Kind::plain;
  const std::string directory = class_net_ + "/" + interface;
  if (interface == "lo" || interface.find('/') != std::string::npos || exists(directory + "/bonding") ||
      exists(directory + "/bridge"))
    kind = Kind::passed_over;
  else if (exists(directory + "/device"))
    kind = Kind::physical;
  kinds_[interface] = kind;
  return kind;
}

void NicBytes::look() {
  std::map<std::string, NicCounters> now = read_net_dev(read_text(net_dev_));
  bool physical = false;
  for (const auto &[name, counters] : now) physical = physical || kind_of(name) == Kind::physical;
  for (const auto &[name, counters] : now) {
    if (kind_of(name) != (physical ? Kind::physical : Kind::plain)) continue;
    const auto before = before_.find(name);
    if (before == before_.end()) continue; // its counters may be from before it came here
    sum_.rx += grown(before->second.rx, counters.rx);
    sum_.tx += grown(before->second.tx, counters.tx);
  }
  before_ = std::move(now);
}

} // namespace harmony
