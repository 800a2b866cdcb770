// No opinion: Slurm places as it would without us. What the others are compared with.

#include "src/policy/policies.h"

namespace harmony {
namespace {

class Stock : public Policy {
public:
  const char *name() const override { return "stock"; }

  Proposal propose(const Cluster &, const Gang &, bool) const override {
    return {Verdict::left_to_stock, {}, "policy stock: no opinion", {}};
  }
};

} // namespace

std::unique_ptr<Policy> make_stock() { return std::make_unique<Stock>(); }

} // namespace harmony
