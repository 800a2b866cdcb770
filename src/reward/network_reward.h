// The reward network asked about gangs on a cluster. For one thread and one round: it keeps what it knows of the
// cluster's topologies.
#pragma once

#include "src/encode/node_encoding.h"
#include "src/reward/reward_model.h"
#include "src/reward/reward_network.h"

#include <memory>
#include <vector>

namespace harmony {

class NetworkReward : public RewardModel {
public:
  // The types must outlive it and be those that the network knows.
  NetworkReward(std::shared_ptr<const RewardNetwork> network, const TypeIndex &types)
      : network_(std::move(network)), types_(types), encoder_(types.count()) {}

  Predicted predict(const Cluster &cluster, const Gang &gang, const Plan &plan) const override;

private:
  struct Mine; // the gang on one node
  RewardPlace place_of_gang(const Cluster &cluster, const Mine &mine) const;
  RewardPlace place_of_neighbour(const Cluster &cluster, int node, const Tenant &tenant) const;
  void meet_neighbours(const Cluster &cluster, const Gang &gang, const std::vector<Mine> &mine,
                       Predicted &predicted) const;

  const std::shared_ptr<const RewardNetwork> network_;
  const TypeIndex &types_;
  mutable RewardEncoder encoder_;
  mutable SparseRows rows_;
};

} // namespace harmony
