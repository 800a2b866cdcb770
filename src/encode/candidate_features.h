// The rows of candidates: one more task of a role on a node of some class, in one of its domains.
#pragma once

#include "src/encode/encoder.h"
#include "src/infer/model.h"
#include "src/plan/choose_nodes.h"
#include "src/values/gang.h"

#include <vector>

namespace harmony {

// For one component, one role and the rooms that it meets.
class CandidateRows {
public:
  CandidateRows(const Encoder &encoder, const Gang &gang, const Component &component, const Rooms &rooms, bool for_ps);

  int width() const { return width_; }

  // Appends a row for each place of a node that is different: a domain that holds the task's GPUs, or -1, the node as a
  // whole, where there is none. `domains` gets what each means. `here`: what the component has on the node already.
  void append(const NodeClass &node, const Share &here, Rows &rows, std::vector<int> &domains) const;

private:
  bool domains_matter(const NodeClass &node, const NodeEncoding &encoding) const;
  void tell_of_node(const NodeClass &node, const NodeEncoding &encoding, const Share &here, float *row) const;
  void tell_of_domain(const NodeEncoding &encoding, const Share &here, int place, float *row) const;
  int free_in(const DomainEncoding &domain, const Share &here) const;

  const Encoder &encoder_;
  const Component &component_;
  const Rooms &rooms_;
  const bool for_ps_;
  const int task_gpus_;
  const int types_;
  const int width_;
  int gang_workers_;
  int gang_ps_;
};

} // namespace harmony
