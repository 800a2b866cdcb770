// What a sequence of tasks asks a model: which spot on which node, for one component of a gang.
#pragma once

#include "src/encode/candidate_features.h"
#include "src/encode/job_features.h"
#include "src/infer/scorer.h"
#include "src/plan/sequence.h"

#include <memory>
#include <vector>

namespace harmony {

class LearnedScores : public SpotScores {
public:
  // `most_rows`: of a cluster with more different candidates than that, a diverse part is scored.
  LearnedScores(const Encoder &encoder, Scorer &scorer, const Gang &gang, const Component &component, const JobRow &job,
                int most_rows);

  std::vector<Fresh> fresh(const Rooms &rooms, bool for_ps) override;
  Spot again(const NodeClass &node, const Share &here, bool for_ps, int more) override;
  // Throws ModelRefused if that is beyond what the model was trained on.
  void chosen(const NodeClass &node, const Share &here, const Spot &spot) override;

private:
  void begin_role(const Rooms &rooms, bool for_ps);
  std::vector<int> shortlist(const Rooms &rooms, bool for_ps) const;
  Share one_more(const NodeClass &node, const Share &here, bool for_ps) const;

  const Encoder &encoder_;
  Scorer &scorer_;
  const Gang &gang_;
  const Component &component_;
  JobRow job_;
  const int most_rows_;
  std::unique_ptr<CandidateRows> rows_; // of the role that is being placed
  Rows batch_;
  std::vector<int> domains_;
};

} // namespace harmony
