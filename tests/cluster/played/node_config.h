// What slurm.conf and gres.conf say about the nodes to be played. Read once, by the main thread, before
// any other thread exists; never changed afterwards.
#ifndef PLAYED_NODES_CONFIG_H
#define PLAYED_NODES_CONFIG_H

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace played {

struct Node {
  std::string name;
  std::string hostname;
  std::string address;
  uint16_t port = 0;
  uint16_t cpus = 0;
  uint16_t boards = 0;
  uint16_t sockets = 0;
  uint16_t cores = 0;
  uint16_t threads = 0;
  uint64_t real_memory = 0;
  uint32_t tmp_disk = 0;
  std::string gres;      // as in slurm.conf: "gpu:v100:8"
  std::string gres_info; // as a slurmd would pack it for its registration
};

struct ConfigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws ConfigError. Slurm itself ends the process when slurm.conf cannot be read at all.
std::vector<Node> read_nodes(const std::string &nodelist);

} // namespace played

#endif
