// A claim in the field of the job that its owner may write (claim_field_name), over Slurm's own authenticated RPC. Free
// of Slurm's headers, so that src/tool may include it.
#pragma once

#include "src/observe/claim_merge.h"

#include <cstdint>

namespace harmony {

// Reads the field, and writes it back with the claim in place of the last one; nothing else in it is changed. Between
// the two somebody else may write: that is lost, which is why they follow each other at once. A claim in the field that
// is younger than `interval_s` is another node's: then nothing is written.
//
// Ends the process with code 1 after that many seconds without an answer, with one line on stderr if `complain`.
ClaimSent send_claim(std::uint32_t job, const Claim &claim, int interval_s, int timeout_s, bool complain);

} // namespace harmony
