// What people and programs are shown of a topology: text, JSON, SVG and gres.conf.
#include "src/discover/profiles.h"
#include "src/show/gres_conf.h"
#include "src/show/topology_json.h"
#include "src/show/topology_svg.h"
#include "src/show/topology_text.h"

#include <cppunit/extensions/HelperMacros.h>
#include <json/json.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string>
#include <vector>

namespace harmony {
namespace {

Topology profile(const std::string &name) { return synthetic_topology(name).value(); }

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

std::size_t times(const std::string &text, const std::string &part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The text from the matrix' heading to the blank line before the legend.
std::string matrix_of(const std::string &text) {
  const std::size_t from = text.find("\n\n      GPU0") + 2;
  return text.substr(from, text.find("\n\n", from) + 1 - from);
}

Json::Value parsed(const std::string &text) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  std::istringstream in(text);
  Json::Value root;
  std::string problem;
  CPPUNIT_ASSERT_MESSAGE(problem, Json::parseFromStream(builder, in, &root, &problem));
  return root;
}

// Whether every tag is closed in order, and no & or < stands where XML does not allow it.
bool well_formed(const std::string &xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    const char c = xml[at];
    if (c == '&') {
      const std::size_t end = xml.find(';', at);
      if (end == std::string::npos || end - at > 6) return false;
    }
    if (c != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos || xml.find('<', at + 1) < end) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (std::count(tag.begin(), tag.end(), '\'') % 2 != 0) return false;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (tag[0] != '?' && tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  return open.empty() && times(xml, "<svg ") == 1;
}

bool only_printable(const std::string &text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

constexpr const char *hostile = "\"'<script>&\\\x1b[2J\x01\n\xff\xc3# Name=x";

Topology hostile_topology() {
  Topology topology = profile("pcie8");
  for (Gpu &gpu : topology.gpus) gpu.model = gpu.uuid = gpu.bus_id = gpu.device = hostile;
  for (Nic &nic : topology.nics) nic.name = hostile;
  for (Disk &disk : topology.disks) disk.name = hostile;
  return topology;
}

} // namespace

class ShowTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ShowTest);
  CPPUNIT_TEST(the_headline_names_host_counts_and_source);
  CPPUNIT_TEST(the_tree_shows_each_device_below_its_switch);
  CPPUNIT_TEST(the_matrix_of_pcie8_is_that_of_nvidia_smi);
  CPPUNIT_TEST(the_matrix_of_dgx1_is_that_of_nvidia_smi);
  CPPUNIT_TEST(sixteen_gpus_fit_into_120_columns);
  CPPUNIT_TEST(a_node_without_gpus_says_so);
  CPPUNIT_TEST(mig_is_shown_and_what_is_unknown_is_not);
  CPPUNIT_TEST(json_parses_back_with_every_part);
  CPPUNIT_TEST(json_says_null_for_what_is_unknown);
  CPPUNIT_TEST(svg_is_well_formed_and_has_every_device);
  CPPUNIT_TEST(svg_draws_each_nvlink_but_one_bar_for_nvswitch);
  CPPUNIT_TEST(svg_refers_to_nothing_outside);
  CPPUNIT_TEST(hostile_names_do_no_harm_anywhere);
  CPPUNIT_TEST(every_view_is_the_same_each_time_and_ends_in_a_newline);
  CPPUNIT_TEST(gres_conf_of_pcie8_is_as_slurm_wants_it);
  CPPUNIT_TEST(gres_conf_gives_nvlinks_as_links);
  CPPUNIT_TEST(gres_conf_takes_the_device_that_the_driver_named);
  CPPUNIT_TEST(gres_conf_without_gpus_is_a_comment);
  CPPUNIT_TEST(gres_conf_counts_each_model_for_slurm_conf);
  CPPUNIT_TEST(gres_conf_warns_of_mig);
  CPPUNIT_TEST(a_type_never_reads_as_a_count);
  CPPUNIT_TEST_SUITE_END();

  void the_headline_names_host_counts_and_source() {
    CPPUNIT_ASSERT_EQUAL(std::string("n0: 2 sockets, 2 NUMA nodes, 32 cores, 8 GPUs (source: synthetic)"),
                         lines_of(topology_text(profile("pcie8"), "n0"))[0]);
    CPPUNIT_ASSERT_EQUAL(std::string("1 socket, 1 NUMA node, 72 cores, 1 GPU"), topology_summary(profile("gh200")));
  }

  void the_tree_shows_each_device_below_its_switch() {
    const std::string expected = "socket 0\n"
                                 "  NUMA node 0: cores 0-15, 125 GiB\n"
                                 "    host bridge (domain 0)\n"
                                 "      PCIe switch (domain 1)\n"
                                 "        GPU 0   rtx6000   24 GiB  0000:10:00.0  PCIe 3 x16\n"
                                 "        GPU 1   rtx6000   24 GiB  0000:18:00.0  PCIe 3 x16\n"
                                 "        NIC 0   mlx5_0  100 Gb/s\n"
                                 "    host bridge (domain 2)\n"
                                 "      PCIe switch (domain 3)\n"
                                 "        GPU 2   rtx6000   24 GiB  0000:20:00.0  PCIe 3 x16\n"
                                 "        GPU 3   rtx6000   24 GiB  0000:28:00.0  PCIe 3 x16\n"
                                 "    host bridge (domain 4)\n"
                                 "      disk 0   nvme0n1\n"
                                 "socket 1\n";
    CPPUNIT_ASSERT(contains(topology_text(profile("pcie8"), "n0"), expected));
  }

  void the_matrix_of_pcie8_is_that_of_nvidia_smi() {
    CPPUNIT_ASSERT_EQUAL(std::string("      GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7  CPU cores  NUMA\n"
                                     "GPU0   X    PIX   NODE  NODE  SYS   SYS   SYS   SYS   0-15       0\n"
                                     "GPU1  PIX    X    NODE  NODE  SYS   SYS   SYS   SYS   0-15       0\n"
                                     "GPU2  NODE  NODE   X    PIX   SYS   SYS   SYS   SYS   0-15       0\n"
                                     "GPU3  NODE  NODE  PIX    X    SYS   SYS   SYS   SYS   0-15       0\n"
                                     "GPU4  SYS   SYS   SYS   SYS    X    PIX   NODE  NODE  16-31      1\n"
                                     "GPU5  SYS   SYS   SYS   SYS   PIX    X    NODE  NODE  16-31      1\n"
                                     "GPU6  SYS   SYS   SYS   SYS   NODE  NODE   X    PIX   16-31      1\n"
                                     "GPU7  SYS   SYS   SYS   SYS   NODE  NODE  PIX    X    16-31      1\n"),
                         matrix_of(topology_text(profile("pcie8"), "n0")));
  }

  void the_matrix_of_dgx1_is_that_of_nvidia_smi() {
    CPPUNIT_ASSERT_EQUAL(std::string("      GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7  CPU cores  NUMA\n"
                                     "GPU0   X    NV1   NV1   NV2   NV2   SYS   SYS   SYS   0-19       0\n"
                                     "GPU1  NV1    X    NV2   NV1   SYS   NV2   SYS   SYS   0-19       0\n"
                                     "GPU2  NV1   NV2    X    NV2   SYS   SYS   NV1   SYS   0-19       0\n"
                                     "GPU3  NV2   NV1   NV2    X    SYS   SYS   SYS   NV1   0-19       0\n"
                                     "GPU4  NV2   SYS   SYS   SYS    X    NV1   NV1   NV2   20-39      1\n"
                                     "GPU5  SYS   NV2   SYS   SYS   NV1    X    NV2   NV1   20-39      1\n"
                                     "GPU6  SYS   SYS   NV1   SYS   NV1   NV2    X    NV2   20-39      1\n"
                                     "GPU7  SYS   SYS   SYS   NV1   NV2   NV1   NV2    X    20-39      1\n"),
                         matrix_of(topology_text(profile("dgx1"), "n0")));
  }

  void sixteen_gpus_fit_into_120_columns() {
    const std::string text = topology_text(profile("dgx2"), "a-rather-long-host-name-001");
    for (const std::string &line : lines_of(text)) CPPUNIT_ASSERT_MESSAGE(line, line.size() <= 120);
    CPPUNIT_ASSERT_EQUAL(std::size_t(16 * 15), times(matrix_of(text), "NV6"));
  }

  void a_node_without_gpus_says_so() {
    const std::string text = topology_text(profile("nogpu"), "n0");
    CPPUNIT_ASSERT(contains(text, "\nThis node has no GPU.\n"));
    CPPUNIT_ASSERT(!contains(text, "Legend"));
  }

  void mig_is_shown_and_what_is_unknown_is_not() {
    Topology topology = profile("servers6");
    topology.gpus[1].mig = true;
    topology.gpus[0].bus_id.clear();
    topology.gpus[0].pcie_generation = 0;
    topology.nics[0].speed_mbps = 0;
    const std::string text = topology_text(topology, "n0");
    CPPUNIT_ASSERT(contains(text, "GPU 0   gtx1080ti   11 GiB\n"));
    CPPUNIT_ASSERT(contains(text, "GPU 1   gtx1080ti   11 GiB  MIG  0000:18:00.0  PCIe 3 x16\n"));
    CPPUNIT_ASSERT(contains(text, "NIC 0   eth0\n"));
  }

  void json_parses_back_with_every_part() {
    for (const std::string &name : synthetic_names()) {
      const Topology topology = profile(name);
      const Json::Value root = parsed(topology_json(topology, "n0"));
      CPPUNIT_ASSERT_EQUAL(std::string("n0"), root["node"].asString());
      CPPUNIT_ASSERT_EQUAL(std::string("synthetic"), root["source"].asString());
      CPPUNIT_ASSERT_EQUAL(topology.sockets, root["sockets"].asInt());
      CPPUNIT_ASSERT_EQUAL(topology.numa.size(), std::size_t(root["numa"].size()));
      CPPUNIT_ASSERT_EQUAL(topology.numa[0].cores[0].last, root["numa"][0]["cores"][0][1].asInt());
      CPPUNIT_ASSERT_EQUAL(topology.domains.size(), std::size_t(root["domains"].size()));
      CPPUNIT_ASSERT_EQUAL(topology.nics.size(), std::size_t(root["nics"].size()));
      CPPUNIT_ASSERT_EQUAL(topology.disks.size(), std::size_t(root["disks"].size()));
      CPPUNIT_ASSERT_EQUAL(topology.links.size(), std::size_t(root["links"].size()));
      CPPUNIT_ASSERT_EQUAL(topology.gpus.size(), std::size_t(root["gpus"].size()));
      CPPUNIT_ASSERT(root["matrix"].isArray());
      for (int i = 0; i < static_cast<int>(topology.gpus.size()); ++i) {
        CPPUNIT_ASSERT_EQUAL(topology.gpus[i].model, root["gpus"][i]["model"].asString());
        CPPUNIT_ASSERT_EQUAL(topology.gpus[i].domain, root["gpus"][i]["domain"].asInt());
        CPPUNIT_ASSERT_EQUAL(reach_word(topology, 0, i), root["matrix"][0][i].asString());
      }
    }
  }

  void json_says_null_for_what_is_unknown() {
    const Json::Value root = parsed(topology_json(profile("gh200"), "n0"));
    for (const char *key : {"uuid", "device", "pcie_generation", "pcie_width"})
      CPPUNIT_ASSERT_MESSAGE(key, root["gpus"][0].isMember(key) && root["gpus"][0][key].isNull());
    CPPUNIT_ASSERT(root["domains"][0]["parent"].isNull());
  }

  void svg_is_well_formed_and_has_every_device() {
    for (const std::string &name : synthetic_names()) {
      const Topology topology = profile(name);
      const std::string svg = topology_svg(topology, "n0");
      CPPUNIT_ASSERT_MESSAGE(name, well_formed(svg));
      CPPUNIT_ASSERT_MESSAGE(name, contains(svg, " viewBox='0 0 "));
      for (std::size_t i = 0; i < topology.gpus.size(); ++i)
        CPPUNIT_ASSERT_EQUAL(std::size_t(1), times(svg, ">GPU " + std::to_string(i) + "</text>"));
      for (const Nic &nic : topology.nics) CPPUNIT_ASSERT_EQUAL(std::size_t(1), times(svg, ">" + nic.name + " "));
      for (const Disk &disk : topology.disks) CPPUNIT_ASSERT_EQUAL(std::size_t(1), times(svg, ">" + disk.name + "<"));
    }
    CPPUNIT_ASSERT(!well_formed("<svg ><g></svg ></g>") && !well_formed("<svg >a & b</svg>"));
  }

  void svg_draws_each_nvlink_but_one_bar_for_nvswitch() {
    const std::string cube = topology_svg(profile("dgx1"), "n0"), all = topology_svg(profile("dgx2"), "n0");
    CPPUNIT_ASSERT_EQUAL(profile("dgx1").links.size(), times(cube, "<path "));
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), times(cube, ">NV2</text>"));
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), times(cube, ">NV1</text>"));
    CPPUNIT_ASSERT(!contains(cube, "NVSwitch"));
    CPPUNIT_ASSERT_EQUAL(std::size_t(16), times(all, "<path "));
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), times(all, "NVSwitch: 6 NVLinks between any two of 16 GPUs"));
  }

  void svg_refers_to_nothing_outside() {
    const std::string svg = topology_svg(profile("dgx2"), "n0");
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), times(svg, "http")); // the name space
    for (const char *word : {"href", "url(", "@import", "<script", "<image", "<style"})
      CPPUNIT_ASSERT_MESSAGE(word, !contains(svg, word));
  }

  void hostile_names_do_no_harm_anywhere() {
    const Topology topology = hostile_topology();
    const std::string text = topology_text(topology, hostile), json = topology_json(topology, hostile),
                      svg = topology_svg(topology, hostile), gres = gres_conf(topology, hostile);
    for (const std::string &view : {text, json, svg, gres}) CPPUNIT_ASSERT(only_printable(view));
    CPPUNIT_ASSERT_EQUAL(lines_of(topology_text(profile("pcie8"), "n0")).size(), lines_of(text).size());
    CPPUNIT_ASSERT_EQUAL(std::string("\"'<script>&\\?[2J????# Name=x"), parsed(json)["node"].asString());
    CPPUNIT_ASSERT_EQUAL(parsed(json)["node"].asString(), parsed(json)["gpus"][7]["uuid"].asString());
    CPPUNIT_ASSERT(well_formed(svg));
    CPPUNIT_ASSERT(!contains(svg, "<script"));
    CPPUNIT_ASSERT(contains(svg, "&lt;script&gt;&amp;"));
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), times(gres, "\nNodeName="));
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), times(gres, " Name="));
    CPPUNIT_ASSERT_EQUAL(std::size_t(8), times(gres, " File=/dev/nvidia"));
    CPPUNIT_ASSERT_EQUAL(std::size_t(10), lines_of(gres).size());
  }

  void every_view_is_the_same_each_time_and_ends_in_a_newline() {
    for (const std::string &name : synthetic_names())
      for (const auto view : {topology_text, topology_json, topology_svg, gres_conf}) {
        const std::string once = view(profile(name), "n0");
        CPPUNIT_ASSERT_EQUAL(once, view(profile(name), "n0"));
        CPPUNIT_ASSERT(once.size() > 1 && once.back() == '\n' && once[once.size() - 2] != '\n');
      }
  }

  void gres_conf_of_pcie8_is_as_slurm_wants_it() {
    CPPUNIT_ASSERT_EQUAL(
        std::string("# n0: 2 sockets, 2 NUMA nodes, 32 cores, 8 GPUs; made by harmony topology --gres (source: "
                    "synthetic)\n"
                    "# slurm.conf: GresTypes=gpu, and NodeName=n0 Gres=gpu:rtx6000:8\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia0 Cores=0-15 Links=-1,0,0,0,0,0,0,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia1 Cores=0-15 Links=0,-1,0,0,0,0,0,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia2 Cores=0-15 Links=0,0,-1,0,0,0,0,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia3 Cores=0-15 Links=0,0,0,-1,0,0,0,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia4 Cores=16-31 Links=0,0,0,0,-1,0,0,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia5 Cores=16-31 Links=0,0,0,0,0,-1,0,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia6 Cores=16-31 Links=0,0,0,0,0,0,-1,0\n"
                    "NodeName=n0 Name=gpu Type=rtx6000 File=/dev/nvidia7 Cores=16-31 Links=0,0,0,0,0,0,0,-1\n"),
        gres_conf(profile("pcie8"), "n0"));
  }

  void gres_conf_gives_nvlinks_as_links() {
    CPPUNIT_ASSERT(contains(gres_conf(profile("dgx1"), "n0"), "nvidia5 Cores=20-39 Links=0,2,0,0,1,-1,2,1\n"));
  }

  void gres_conf_takes_the_device_that_the_driver_named() {
    Topology topology = profile("servers6");
    topology.gpus[0].device = "/dev/nvidia7";
    topology.gpus[1].device = "nvidia7";
    topology.numa[0].cores = {{0, 1}, {4, 4}};
    const std::vector<std::string> lines = lines_of(gres_conf(topology, "n[0-3]"));
    CPPUNIT_ASSERT_EQUAL(
        std::string("NodeName=n[0-3] Name=gpu Type=gtx1080ti File=/dev/nvidia7 Cores=0-1,4 Links=-1,0"), lines[2]);
    CPPUNIT_ASSERT_EQUAL(
        std::string("NodeName=n[0-3] Name=gpu Type=gtx1080ti File=/dev/nvidia1 Cores=0-1,4 Links=0,-1"), lines[3]);
  }

  void gres_conf_without_gpus_is_a_comment() {
    const std::vector<std::string> lines = lines_of(gres_conf(profile("nogpu"), "n0"));
    CPPUNIT_ASSERT_EQUAL(std::size_t(1), lines.size());
    CPPUNIT_ASSERT_EQUAL('#', lines[0][0]);
  }

  void gres_conf_counts_each_model_for_slurm_conf() {
    Topology topology = profile("pcie8");
    topology.gpus[0].model = "a100";
    topology.gpus[7].model = "";
    const std::string text = gres_conf(topology, "n0");
    CPPUNIT_ASSERT(contains(text, " Gres=gpu:a100:1,gpu:rtx6000:6,gpu:1\n"));
    CPPUNIT_ASSERT(contains(text, "Name=gpu File=/dev/nvidia7 "));
  }

  void gres_conf_warns_of_mig() {
    Topology topology = profile("servers6");
    topology.gpus[1].mig = true;
    CPPUNIT_ASSERT(contains(gres_conf(topology, "n0"), "\n# GPU 1 is in MIG mode"));
  }

  void a_type_never_reads_as_a_count() {
    CPPUNIT_ASSERT_EQUAL(std::string("nvidia_a100-sxm4-80gb"), gres_type("NVIDIA A100-SXM4-80GB"));
    CPPUNIT_ASSERT_EQUAL(std::string("gpu_4090"), gres_type("4090"));
    CPPUNIT_ASSERT_EQUAL(std::string("gpu_80gb"), gres_type("80GB"));
    CPPUNIT_ASSERT_EQUAL(std::string("1080ti"), gres_type("1080ti"));
    CPPUNIT_ASSERT_EQUAL(std::string("a_b_c"), gres_type("a:b,c"));
    CPPUNIT_ASSERT_EQUAL(std::string(), gres_type(""));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ShowTest);

} // namespace harmony
