#include "src/publish/compact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <iterator>

namespace harmony {
namespace {

constexpr std::string_view base36 = "0123456789abcdefghijklmnopqrstuvwxyz";

// --- writing ---

template <class Value, class Write> std::string section(char letter, const std::vector<Value> &values, Write write) {
  if (values.empty()) return {};
  std::string text(1, letter);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i) text += '/';
    text += write(values[i]);
  }
  return text + ';';
}

std::string numa_entry(const NumaNode &numa) {
  std::string cores;
  for (const CoreRange &range : numa.cores)
    cores += fmt::format("{}{}-{}", cores.empty() ? "" : "+", range.first, range.last);
  return fmt::format("{}:{}:{}", numa.socket, cores, numa.memory_mb);
}

std::string domain_entry(const Domain &domain) {
  return domain.kind == DomainKind::host_bridge ? fmt::format("b{}", domain.numa) : fmt::format("s{}", domain.parent);
}

// Neighbouring GPUs of one model and memory share an entry.
std::string gpu_section(const std::vector<Gpu> &gpus) {
  std::string text;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const bool joined = i && gpus[i].model == gpus[i - 1].model && gpus[i].memory_mb == gpus[i - 1].memory_mb;
    if (joined)
      text += '+';
    else
      text += fmt::format("{}{}:{}:", i ? '/' : 'g', gpus[i].model, gpus[i].memory_mb);
    text += fmt::format("{}{}{}", gpus[i].domain, gpus[i].mig ? "m" : "", gpus[i].lost ? "x" : "");
  }
  return gpus.empty() ? text : text + ';';
}

std::string link_section(const Topology &topology) {
  if (topology.links.empty()) return {};
  std::string text = "l";
  auto link = topology.links.begin();
  const int count = static_cast<int>(topology.gpus.size());
  for (int first = 0; first < count; ++first)
    for (int second = first + 1; second < count; ++second) {
      const bool here = link != topology.links.end() && link->first == first && link->second == second;
      text += base36[here ? (link++)->count : 0];
    }
  return text + ';';
}

// --- reading ---

// Walks over the text. The first problem sticks, and everything after it reads nothing.
class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ok() const { return problem_.empty(); }
  std::size_t position() const { return position_; }
  const std::string &problem() const { return problem_; }
  char peek() const { return ok() && position_ < text_.size() ? text_[position_] : '\0'; }

  void fail(std::string problem) {
    if (ok()) problem_ = std::move(problem);
  }

  bool take(char wanted) {
    if (peek() != wanted || wanted == '\0') return false;
    ++position_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("expected '{}'", wanted));
  }

  void expect(std::string_view wanted) {
    for (char c : wanted) expect(c);
  }

  // A number from 0 to `limit`, written without leading zeros, so that every topology has one text only.
  std::uint32_t number(std::uint32_t limit) {
    const std::size_t start = position_;
    std::uint64_t value = 0;
    for (; peek() >= '0' && peek() <= '9' && position_ - start < 10; ++position_) value = value * 10 + (peek() - '0');
    const std::size_t digits = position_ - start;
    if (digits == 0) fail("expected a number");
    if (digits > 1 && text_[start] == '0') fail("a number with a leading zero");
    if (value > limit) fail(fmt::format("{} is more than {}", value, limit));
    return ok() ? static_cast<std::uint32_t>(value) : 0;
  }

  std::string word(std::size_t limit) {
    std::string text;
    while (ok() && text.size() <= limit && peek() != '\0' && is_model_name(std::string(1, peek())))
      text += text_[position_++];
    if (text.size() > limit) fail(fmt::format("a name of more than {} characters", limit));
    return text;
  }

private:
  std::string_view text_;
  std::size_t position_ = 0;
  std::string problem_;
};

// A section's entries, if the section is there; `limit` of them at most.
void entries(Reader &reader, char letter, std::size_t limit, const std::function<std::size_t()> &read_entry) {
  if (!reader.take(letter)) return;
  do {
    if (read_entry() > limit) reader.fail(fmt::format("more than {} entries", limit));
  } while (reader.ok() && reader.take('/'));
  reader.expect(';');
}

std::size_t read_numa(Reader &reader, Topology &topology) {
  NumaNode numa;
  numa.socket = reader.number(max_sockets);
  reader.expect(':');
  if (reader.peek() != ':') {
    do {
      CoreRange range;
      range.first = reader.number(max_cores);
      reader.expect('-');
      range.last = reader.number(max_cores);
      numa.cores.push_back(range);
    } while (reader.ok() && reader.take('+'));
  }
  reader.expect(':');
  numa.memory_mb = reader.number(UINT32_MAX);
  topology.numa.push_back(numa);
  return topology.numa.size();
}

std::size_t read_domain(Reader &reader, Topology &topology) {
  Domain domain;
  if (reader.take('b')) {
    domain.numa = reader.number(max_numa);
  } else {
    reader.expect('s');
    domain.kind = DomainKind::pcie_switch;
    domain.parent = reader.number(max_domains);
    if (static_cast<std::size_t>(domain.parent) < topology.domains.size())
      domain.numa = topology.domains[domain.parent].numa;
    else
      reader.fail(fmt::format("a switch below domain {}, which does not stand before it", domain.parent));
  }
  topology.domains.push_back(domain);
  return topology.domains.size();
}

std::size_t read_gpus(Reader &reader, Topology &topology) {
  Gpu gpu;
  gpu.model = reader.word(max_model_length);
  reader.expect(':');
  gpu.memory_mb = reader.number(UINT32_MAX);
  reader.expect(':');
  const bool joinable = !topology.gpus.empty() && topology.gpus.back().model == gpu.model &&
                        topology.gpus.back().memory_mb == gpu.memory_mb;
  if (joinable) reader.fail("an entry that belongs to the one before it");
  do {
    gpu.domain = reader.number(max_domains);
    gpu.mig = reader.take('m');
    gpu.lost = reader.take('x');
    topology.gpus.push_back(gpu);
  } while (reader.ok() && topology.gpus.size() <= max_gpus && reader.take('+'));
  return topology.gpus.size();
}

std::size_t read_nic(Reader &reader, Topology &topology) {
  Nic nic;
  nic.domain = reader.number(max_domains);
  reader.expect(':');
  nic.speed_mbps = reader.number(UINT32_MAX);
  topology.nics.push_back(nic);
  return topology.nics.size();
}

std::size_t read_disk(Reader &reader, Topology &topology) {
  Disk disk;
  disk.domain = reader.number(max_domains);
  topology.disks.push_back(disk);
  return topology.disks.size();
}

void read_links(Reader &reader, Topology &topology) {
  if (!reader.take('l')) return;
  const int count = static_cast<int>(topology.gpus.size());
  for (int first = 0; first < count; ++first)
    for (int second = first + 1; second < count && reader.ok(); ++second) {
      const std::size_t links = base36.find(reader.peek());
      if (links == std::string_view::npos || !reader.take(reader.peek()))
        reader.fail("expected a digit of the link matrix");
      else if (links)
        topology.links.push_back({first, second, static_cast<int>(links)});
    }
  if (topology.links.empty()) reader.fail("a link matrix without a link");
  reader.expect(';');
}

void read_sections(Reader &reader, Topology &topology) {
  reader.expect(compact_prefix);
  reader.expect('s');
  topology.sockets = reader.number(max_sockets);
  reader.expect(';');
  entries(reader, 'n', max_numa, [&] { return read_numa(reader, topology); });
  entries(reader, 'd', max_domains, [&] { return read_domain(reader, topology); });
  entries(reader, 'g', max_gpus, [&] { return read_gpus(reader, topology); });
  entries(reader, 'i', max_devices, [&] { return read_nic(reader, topology); });
  entries(reader, 'k', max_devices, [&] { return read_disk(reader, topology); });
  read_links(reader, topology);
  reader.expect('.');
}

} // namespace

std::string compact_form(const Topology &topology) {
  return fmt::format(
      "{}s{};{}{}{}{}{}{}.", compact_prefix, topology.sockets, section('n', topology.numa, numa_entry),
      section('d', topology.domains, domain_entry), gpu_section(topology.gpus),
      section('i', topology.nics, [](const Nic &nic) { return fmt::format("{}:{}", nic.domain, nic.speed_mbps); }),
      section('k', topology.disks, [](const Disk &disk) { return std::to_string(disk.domain); }),
      link_section(topology));
}

CompactResult parse_compact(std::string_view text) {
  CompactResult result;
  if (text.size() > max_compact_size) {
    result.problem = fmt::format("longer than {} bytes", max_compact_size);
    return result;
  }
  Reader reader(text);
  read_sections(reader, result.topology);
  if (reader.ok() && reader.position() != text.size()) reader.fail("text behind the end");
  if (reader.ok()) reader.fail(problem_with(result.topology));
  result.topology.source = TopologySource::published;
  result.problem = reader.problem();
  result.position = reader.position();
  return result;
}

} // namespace harmony
