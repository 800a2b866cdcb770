// Synchronous parameter-server training, small but whole: started by `harmony run`, it reads its role from HARMONY_*.
// Each parameter server owns a shard of the parameters; in every step each worker pulls all shards, computes the
// gradient on its own batch and pushes it; a parameter server that has every worker's gradient takes the step. Worker 0
// prints the loss.
//   ps-training [STEPS]

#include "contrib/examples/ps_training/model.h"
#include "contrib/examples/ps_training/wire.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

namespace ps_training {
namespace {

constexpr float learning_rate = 0.05f, momentum = 0.9f;

struct Gang {
  std::string role;
  int index = 0, workers = 0;
  std::vector<std::string> ps_hosts;
};

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  if (!value || !*value) throw std::runtime_error(std::string(name) + " is not set; start it with harmony run");
  return value;
}

int number(const std::string &what, const std::string &text, int lowest, int highest) {
  char *end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || value < lowest || value > highest)
    throw std::runtime_error(what + "=" + text + ": a number from " + std::to_string(lowest) + " to " +
                             std::to_string(highest) + " is wanted");
  return static_cast<int>(value);
}

Gang read_gang() {
  Gang gang;
  gang.role = variable("HARMONY_ROLE");
  gang.workers = number("HARMONY_WORKERS", variable("HARMONY_WORKERS"), 1, 8192);
  std::istringstream hosts(variable("HARMONY_PS_HOSTS"));
  for (std::string host; std::getline(hosts, host, ',');) gang.ps_hosts.push_back(host);
  if (gang.role != "worker" && gang.role != "ps")
    throw std::runtime_error("HARMONY_ROLE=" + gang.role + ": worker or ps is wanted");
  const int tasks = gang.role == "ps" ? static_cast<int>(gang.ps_hosts.size()) : gang.workers;
  gang.index = number("HARMONY_INDEX", variable("HARMONY_INDEX"), 0, tasks - 1);
  return gang;
}

using Floats = std::vector<float>;

// A parameter server's part of a row.
Floats shard(const Floats &row, std::size_t index, std::size_t count) {
  const auto begin = static_cast<std::ptrdiff_t>(row.size() * index / count);
  const auto end = static_cast<std::ptrdiff_t>(row.size() * (index + 1) / count);
  return {row.begin() + begin, row.begin() + end};
}

void serve(const Gang &gang, std::uint32_t steps) {
  Floats parameters = shard(Model().parameters(), static_cast<std::size_t>(gang.index), gang.ps_hosts.size());
  Floats velocity(parameters.size(), 0.0f);
  std::vector<Connection> workers = accept_on(gang.ps_hosts[static_cast<std::size_t>(gang.index)], gang.workers);
  std::vector<bool> known(workers.size(), false);
  for (Connection &worker : workers) {
    const std::uint32_t index = worker.receive_number(Message::hello);
    if (index >= known.size() || known[index])
      throw std::runtime_error("worker " + std::to_string(index) + " came twice");
    known[index] = true;
    worker.call("worker " + std::to_string(index));
  }
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (Connection &worker : workers) {
      worker.receive(Message::pull, step, 0);
      worker.send(Message::parameters, step, parameters);
    }
    Floats sum(parameters.size(), 0.0f);
    for (Connection &worker : workers) {
      const Floats gradient = worker.receive(Message::push, step, parameters.size());
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      velocity[i] = momentum * velocity[i] + sum[i] / static_cast<float>(gang.workers);
      parameters[i] -= learning_rate * velocity[i];
    }
  }
  for (Connection &worker : workers) worker.receive(Message::done, steps, 0);
}

void work(const Gang &gang, std::uint32_t steps) {
  Model model;
  Floats row = model.parameters();
  std::vector<Connection> servers;
  for (const std::string &host : gang.ps_hosts) servers.push_back(connect_to(host));
  for (Connection &server : servers) server.send(Message::hello, static_cast<std::uint32_t>(gang.index));
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (Connection &server : servers) server.send(Message::pull, step);
    Floats pulled;
    for (std::size_t i = 0; i < servers.size(); ++i) {
      const Floats part = servers[i].receive(Message::parameters, step, shard(row, i, servers.size()).size());
      pulled.insert(pulled.end(), part.begin(), part.end());
    }
    model.set_parameters(pulled);
    if (gang.index == 0 && (step % 50 == 0 || step + 1 == steps)) {
      std::printf("step %u loss %.5f\n", step, model.loss());
      std::fflush(stdout);
    }
    row = model.gradient(gang.index, static_cast<int>(step));
    for (std::size_t i = 0; i < servers.size(); ++i)
      servers[i].send(Message::push, step, shard(row, i, servers.size()));
  }
  for (Connection &server : servers) server.send(Message::done, steps);
}

} // namespace
} // namespace ps_training

int main(int argc, char **argv) {
  try {
    const int steps = argc > 1 ? ps_training::number("STEPS", argv[1], 1, 1000000) : 300;
    const ps_training::Gang gang = ps_training::read_gang();
    (gang.role == "ps" ? ps_training::serve : ps_training::work)(gang, static_cast<std::uint32_t>(steps));
    return 0;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "ps-training: %s\n", error.what());
    return 1;
  }
}
