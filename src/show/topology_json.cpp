#include "src/show/topology_json.h"

#include "src/show/topology_text.h"
#include "src/values/printable.h"

#include <json/json.h>

namespace harmony {
namespace {

Json::Value known(const std::string &text) { return text.empty() ? Json::Value() : Json::Value(one_line(text)); }
Json::Value known(std::uint32_t number) { return number == 0 ? Json::Value() : Json::Value(number); }
Json::Value known(int number) { return number <= 0 ? Json::Value() : Json::Value(number); }

Json::Value numa_json(const NumaNode &node) {
  Json::Value value;
  value["socket"] = node.socket;
  value["cores"] = Json::arrayValue;
  for (const CoreRange &range : node.cores) {
    Json::Value ends(Json::arrayValue);
    ends.append(range.first);
    ends.append(range.last);
    value["cores"].append(ends);
  }
  value["memory_mb"] = node.memory_mb;
  return value;
}

Json::Value domain_json(const Domain &domain) {
  Json::Value value;
  value["kind"] = domain.kind == DomainKind::host_bridge ? "host_bridge" : "pcie_switch";
  value["parent"] = domain.parent < 0 ? Json::Value() : Json::Value(domain.parent);
  value["numa"] = domain.numa;
  return value;
}

Json::Value gpu_json(const Topology &topology, const Gpu &gpu) {
  Json::Value value;
  value["domain"] = gpu.domain;
  value["numa"] = topology.domains[gpu.domain].numa;
  value["model"] = known(gpu.model);
  value["memory_mb"] = gpu.memory_mb;
  value["mig"] = gpu.mig;
  value["lost"] = gpu.lost;
  value["uuid"] = known(gpu.uuid);
  value["bus_id"] = known(gpu.bus_id);
  value["device"] = known(gpu.device);
  value["pcie_generation"] = known(gpu.pcie_generation);
  value["pcie_width"] = known(gpu.pcie_width);
  return value;
}

Json::Value nic_json(const Nic &nic) {
  Json::Value value;
  value["domain"] = nic.domain;
  value["speed_mbps"] = known(nic.speed_mbps);
  value["name"] = known(nic.name);
  return value;
}

Json::Value disk_json(const Disk &disk) {
  Json::Value value;
  value["domain"] = disk.domain;
  value["name"] = known(disk.name);
  return value;
}

Json::Value link_json(const Link &link) {
  Json::Value value;
  value["first"] = link.first;
  value["second"] = link.second;
  value["count"] = link.count;
  return value;
}

Json::Value matrix_json(const Topology &topology) {
  Json::Value rows(Json::arrayValue);
  const int gpus = static_cast<int>(topology.gpus.size());
  for (int i = 0; i < gpus; ++i) {
    Json::Value row(Json::arrayValue);
    for (int j = 0; j < gpus; ++j) row.append(reach_word(topology, i, j));
    rows.append(row);
  }
  return rows;
}

template <class Item, class Convert> Json::Value array_of(const std::vector<Item> &items, Convert convert) {
  Json::Value array(Json::arrayValue);
  for (const Item &item : items) array.append(convert(item));
  return array;
}

} // namespace

std::string topology_json(const Topology &topology, const std::string &host) {
  Json::Value root;
  root["node"] = one_line(host);
  root["source"] = source_name(topology.source);
  root["sockets"] = topology.sockets;
  root["numa"] = array_of(topology.numa, numa_json);
  root["domains"] = array_of(topology.domains, domain_json);
  root["gpus"] = array_of(topology.gpus, [&](const Gpu &gpu) { return gpu_json(topology, gpu); });
  root["nics"] = array_of(topology.nics, nic_json);
  root["disks"] = array_of(topology.disks, disk_json);
  root["links"] = array_of(topology.links, link_json);
  root["matrix"] = matrix_json(topology);
  Json::StreamWriterBuilder writer;
  writer["indentation"] = "  ";
  return Json::writeString(writer, root) + "\n";
}

} // namespace harmony
