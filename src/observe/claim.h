// What a job's owner claims of its progress, and the mark by which the claim travels: at the end of the job's comment,
// behind whatever the owner put there (of Slurm 23.02 and later: in the job's Extra). Whoever wrote it, it is read with
// a strict grammar. Plain values; any thread.
//
//   training for the paper harmony[epoch=3.5;of=90;samples_per_s=812;loss=0.41;at=1763300000]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace harmony {

constexpr double most_claimed_epochs = 1e6;
constexpr double most_samples_per_s = 1e9;
constexpr double most_loss = 1e9; // in size

struct Claim {
  double epoch = 0;                    // done so far
  std::optional<double> of;            // of so many
  std::optional<double> samples_per_s; // now
  std::optional<double> loss;
  std::int64_t at = 0; // seconds since 1970, when it was made, by the clock of the job's node
};

// Empty if every figure is finite and within its range; else which is not, and what is allowed.
std::string problem_with(const Claim &claim);

constexpr std::size_t longest_mark = 256;

// The mark of a claim that has no problem.
std::string claim_mark(const Claim &claim);

// A field's text, parted into what is the owner's and the claim at its end. No claim is no problem; a mark that is not
// sound is one, and `owner` is then all before it.
struct ClaimField {
  std::string_view owner; // without the blank before the mark
  std::string_view mark;  // empty if there is none
  std::optional<Claim> claim;
  std::string problem;
};
// Of a long text, its last 300 bytes are enough: no more than longest_mark and the blank before it are looked at.
ClaimField read_claim_field(std::string_view text);

// The owner's text with this claim in place of any that was there. A mark that is not sound stays, as it may be words
// of the owner. What the owner wrote is never changed: owner of the result is owner of the text.
std::string with_claim(std::string_view text, const Claim &claim);

} // namespace harmony
