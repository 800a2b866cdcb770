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
  LearnedScores(const Encoder &encoder, Scorer &scorer, const Gang &gang, const Component &component,
                const JobRow &job);

  std::vector<Fresh> fresh(const Rooms &rooms, bool for_ps) override;
  Spot again(const NodeClass &node, const Share &here, bool for_ps, int more) override;
  void expect(const std::vector<Again> &questions, bool for_ps, int more) override;
  // Throws ModelRefused if that is beyond what the model was trained on.
  void chosen(const NodeClass &node, const Share &here, const Spot &spot) override;

private:
  void begin_role(const Rooms &rooms, bool for_ps);
  void expect_more_of(const Rooms &rooms, const std::vector<Fresh> &fresh, bool for_ps);
  void append_steps(const NodeClass &node, Share here, bool for_ps, int steps);
  Share one_more(const NodeClass &node, const Share &here, bool for_ps) const;

  const Encoder &encoder_;
  Scorer &scorer_;
  const Gang &gang_;
  const Component &component_;
  JobRow job_;
  std::unique_ptr<CandidateRows> rows_; // of the role that is being placed
  Rows batch_;
  std::vector<int> domains_;
};

} // namespace harmony
