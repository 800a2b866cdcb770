// Fuzzes the field in which a job's owner claims progress, and which slurmctld reads: whatever stands there, it is
// parted into the owner's words and a sound claim or none, its tail says the same as the whole, and a report keeps the
// words.

// links: src/observe/claim.cpp src/observe/merge_state.cpp
#include "src/observe/claim.h"
#include "src/observe/merge_state.h"

#include <algorithm>
#include <cstdlib>

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace harmony;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  const ClaimField field = read_claim_field(text);
  check(!field.claim || (field.problem.empty() && problem_with(*field.claim).empty()));
  check(field.owner == text.substr(0, field.owner.size()));
  check(field.mark.empty() ? field.owner == text && field.problem.empty() : field.mark.size() <= longest_mark);
  for (const char c : field.problem) check(c >= ' ' && c <= '~');

  const ClaimField tail = read_claim_field(text.substr(size - std::min<std::size_t>(size, 300)));
  check(tail.mark == field.mark && tail.problem == field.problem && tail.claim.has_value() == field.claim.has_value());

  Claim own;
  own.epoch = 3;
  own.at = 1763300000;
  const Claim claim = field.claim.value_or(own);
  check(claim_mark(claim).size() <= longest_mark);
  const std::string written = with_claim(text, claim);
  const ClaimField again = read_claim_field(written);
  check(again.claim && claim_mark(*again.claim) == claim_mark(claim));
  check(again.owner == (field.claim ? field.owner : text));

  const MergeState state = read_merge_state(text);
  check(!state.latest || problem_with(*state.latest).empty());
  check(merge_state_line(read_merge_state(merge_state_line(state))) == merge_state_line(state));
  return 0;
}
