// The policies that a simulation can compare, by name: those of slurmctld, and those that need what only a simulation
// has (the truth, a dataset, a random seed).
#pragma once

#include "src/policy/policy.h"
#include "src/sim/truth/truth.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace harmony {

struct PolicyNeeds {
  const Truth *rules = nullptr; // of the oracles; nothing runs in it
  std::uint64_t seed = 1;
  std::string dataset;                         // directory that fitted policies are fitted from; empty: none
  std::function<int()> queue_length = nullptr; // how many gangs wait; for oracle-linear; empty: not known
};

struct PolicyName {
  std::string name;
  std::string about; // one line
};
std::vector<PolicyName> sim_policy_names(); // in the order of the manual; without "learned" and "no-interference"

// Throws std::runtime_error for a name that is not known or a need that is not met.
std::unique_ptr<Policy> make_sim_policy(const std::string &name, const PolicyNeeds &needs);

} // namespace harmony
