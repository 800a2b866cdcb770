#include "src/tool/topology_command.h"

#include "plugin/client/node_extra.h"
#include "src/discover/discover.h"
#include "src/publish/compact.h"
#include "src/show/gres_conf.h"
#include "src/show/topology_json.h"
#include "src/show/topology_svg.h"
#include "src/show/topology_text.h"
#include "src/tool/node_view.h"
#include "src/tool/publish_topology.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <syslog.h>
#include <unistd.h>

namespace harmony {
namespace {

void complain(const TopologyOptions &options, const std::string &problem) {
  fmt::print(stderr, "harmony topology: {}\n", problem);
  if (options.syslog) syslog(LOG_DAEMON | LOG_ERR, "harmony topology: %s", problem.c_str());
}

std::string short_host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  const std::string host = name;
  return host.substr(0, host.find('.'));
}

// The name Slurm has for this node.
std::string node_name(const TopologyOptions &options) {
  if (!options.as.empty()) return options.as;
  if (!options.node.empty()) return options.node;
  const char *slurmd_name = std::getenv("SLURMD_NODENAME");
  if (slurmd_name && *slurmd_name) return slurmd_name;
  const std::string host = short_host_name();
  return options.publish ? node_on_host(host) : host;
}

// Publishing may take its time, and rather leaves what is published than to replace it by what is known without the
// driver: one that has not been used since the machine started can take a minute.
constexpr std::chrono::seconds patient(180), quick(10);

Discovery find_topology(const TopologyOptions &options) {
  if (!options.node.empty()) return view_node(options.node);
  if (!options.xml.empty()) return discover_xml(options.xml);
  if (!options.synthetic.empty()) return discover_synthetic(options.synthetic);
  return options.publish ? discover_this_machine(patient, true) : discover_this_machine(quick, false);
}

// Written beside and renamed, so that a reader never sees half a picture.
std::string write_file(const std::string &path, const std::string &text) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return fmt::format("cannot write {}", path);
  }
  return {};
}

int publish(const TopologyOptions &options, const Topology &topology) {
  const Publication done = publish_topology(node_name(options), topology, options.wait);
  if (!done.problem.empty()) {
    complain(options, done.problem);
    return 1;
  }
  fmt::print("node {}: {} ({} bytes, {})\n", node_name(options), done.changed ? "published" : "already published",
             compact_form(topology).size(), source_name(topology.source));
  return 0;
}

int show(const TopologyOptions &options, const Topology &topology) {
  const std::string host = node_name(options);
  if (!options.svg.empty()) {
    const std::string problem = write_file(options.svg, topology_svg(topology, host));
    if (!problem.empty()) {
      complain(options, problem);
      return 1;
    }
  }
  std::string text;
  if (options.json)
    text = topology_json(topology, host);
  else if (options.gres)
    text = gres_conf(topology, host);
  else if (options.compact)
    text = compact_form(topology) + "\n";
  else if (options.svg.empty())
    text = topology_text(topology, host);
  std::fputs(text.c_str(), stdout);
  return 0;
}

} // namespace

int run_topology(const TopologyOptions &options) {
  const Discovery found = find_topology(options);
  for (const std::string &note : found.notes) fmt::print(stderr, "harmony topology: note: {}\n", note);
  std::string problem = found.problem;
  if (problem.empty()) problem = problem_with(found.topology);
  if (!problem.empty()) {
    complain(options, problem);
    return 1;
  }
  return options.publish ? publish(options, found.topology) : show(options, found.topology);
}

} // namespace harmony
