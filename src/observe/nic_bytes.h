// Bytes that went through the node's NICs. For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace harmony {

struct NicCounters {
  std::uint64_t rx = 0, tx = 0; // bytes since they were last reset
};

// The lines of /proc/net/dev, by interface; those that cannot be read are left out.
std::map<std::string, NicCounters> read_net_dev(std::string_view text);

// Each byte is counted once: where there are interfaces with a device behind them, these alone, so that neither a bond,
// a bridge or a VLAN nor what runs inside the node is counted beside them. Else (in a container) all but loopback,
// bonds and bridges.
class NicBytes {
public:
  explicit NicBytes(std::string net_dev = "/proc/net/dev", std::string class_net = "/sys/class/net");

  void look();

  std::uint64_t rx() const { return sum_.rx; } // since the first look
  std::uint64_t tx() const { return sum_.tx; }

private:
  enum class Kind { physical, plain, passed_over };
  Kind kind_of(const std::string &interface);

  std::string net_dev_, class_net_;
  std::map<std::string, Kind> kinds_; // asked once each
  std::map<std::string, NicCounters> before_;
  NicCounters sum_;
};

} // namespace harmony
