#include "src/policy/fit_interference.h"
#include "src/policy/fitted_lif.h"
#include "src/sim/random.h"
#include "tests/unit/plan_fixtures.h"

#include <cppunit/extensions/HelperMacros.h>

#include <stdexcept>

namespace harmony {

using namespace fixtures;

namespace {

InterferenceTerms random_terms(Random &random) {
  InterferenceTerms terms;
  terms.same_domain = random.below(3);
  terms.same_socket = random.below(5);
  terms.same_nic = random.below(3);
  terms.cores = random.unit();
  terms.across_nodes = 1 - 1.0 / (1 + random.below(4));
  return terms;
}

IntervalRecord record(const std::string &type, const InterferenceTerms &terms, double loss) {
  IntervalRecord made;
  made.type = type;
  made.terms = terms;
  made.relative_speed = 1 - loss;
  return made;
}

double linear_loss(const InterferenceTerms &terms, double scale) {
  return scale * (0.05 * terms.same_domain + 0.01 * terms.same_socket + 0.08 * terms.same_nic + 0.1 * terms.cores +
                  0.15 * terms.across_nodes);
}

// Of two types, one of which suffers three times as much.
std::vector<IntervalRecord> records(int count, double noise = 0) {
  Random random(3, "records");
  std::vector<IntervalRecord> made;
  for (int i = 0; i < count; ++i) {
    const InterferenceTerms terms = random_terms(random);
    const bool heavy = i % 2 == 0;
    made.push_back(
        record(heavy ? "vgg16" : "resnet50", terms, linear_loss(terms, heavy ? 1 : 1.0 / 3) + noise * random.normal()));
  }
  return made;
}

} // namespace

class FitInterferenceTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(FitInterferenceTest);
  CPPUNIT_TEST(a_linear_fit_finds_the_rates_that_made_the_records);
  CPPUNIT_TEST(a_quadratic_fit_finds_what_a_linear_one_cannot);
  CPPUNIT_TEST(a_type_with_few_records_gets_the_rates_of_all);
  CPPUNIT_TEST(terms_that_never_occur_cost_nothing);
  CPPUNIT_TEST(predictions_stay_within_their_bounds);
  CPPUNIT_TEST(records_without_a_known_speed_are_left_out);
  CPPUNIT_TEST(no_records_are_refused);
  CPPUNIT_TEST(fitted_lif_goes_by_the_fitted_rates);
  CPPUNIT_TEST_SUITE_END();

  void a_linear_fit_finds_the_rates_that_made_the_records() {
    const FittedInterference fitted = fit_interference(records(4000, 0.02), Degree::linear);
    const FittedRates &heavy = fitted.by_type.at("vgg16");
    const double expected[] = {0.05, 0.01, 0.08, 0.1, 0.15};
    CPPUNIT_ASSERT_EQUAL(std::size_t{5}, heavy.size());
    for (std::size_t i = 0; i < heavy.size(); ++i) {
      CPPUNIT_ASSERT_DOUBLES_EQUAL(expected[i], heavy[i], 0.005);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(expected[i] / 3, fitted.by_type.at("resnet50")[i], 0.005);
    }
  }

  void a_quadratic_fit_finds_what_a_linear_one_cannot() {
    Random random(5, "records");
    std::vector<IntervalRecord> made;
    for (int i = 0; i < 2000; ++i) {
      const InterferenceTerms terms = random_terms(random);
      made.push_back(
          record("vgg16", terms, 0.05 * terms.same_nic * terms.same_nic + 0.1 * terms.same_domain * terms.cores));
    }
    FitOptions exact;
    exact.ridge = 1e-9;
    const FittedInterference linear = fit_interference(made, Degree::linear, exact);
    const FittedInterference quadratic = fit_interference(made, Degree::quadratic, exact);
    double linear_error = 0, quadratic_error = 0;
    for (const IntervalRecord &each : made) {
      linear_error = std::max(linear_error, std::abs(linear.speed("vgg16", each.terms) - *each.relative_speed));
      quadratic_error =
          std::max(quadratic_error, std::abs(quadratic.speed("vgg16", each.terms) - *each.relative_speed));
    }
    CPPUNIT_ASSERT(quadratic_error < 1e-3);
    CPPUNIT_ASSERT(linear_error > 0.02);
  }

  void a_type_with_few_records_gets_the_rates_of_all() {
    std::vector<IntervalRecord> made = records(400);
    made.push_back(record("bert", {}, 0));
    const FittedInterference fitted = fit_interference(made, Degree::linear);
    CPPUNIT_ASSERT(!fitted.by_type.count("bert"));
    InterferenceTerms terms;
    terms.same_domain = 2;
    const double heavy = fitted.speed("vgg16", terms), light = fitted.speed("resnet50", terms);
    CPPUNIT_ASSERT(heavy < fitted.speed("bert", terms) && fitted.speed("bert", terms) < light);
    CPPUNIT_ASSERT_EQUAL(fitted.speed("bert", terms), fitted.speed("never seen", terms));
  }

  void terms_that_never_occur_cost_nothing() {
    std::vector<IntervalRecord> made = records(400);
    for (IntervalRecord &each : made) {
      *each.relative_speed += 0.08 * each.terms.same_nic;
      each.terms.same_nic = 0;
    }
    for (const Degree degree : {Degree::linear, Degree::quadratic}) {
      const FittedInterference fitted = fit_interference(made, degree);
      InterferenceTerms terms;
      terms.same_nic = 5;
      CPPUNIT_ASSERT_EQUAL(1.0, fitted.speed("vgg16", terms));
    }
  }

  void predictions_stay_within_their_bounds() {
    const FittedInterference fitted = fit_interference(records(400), Degree::quadratic);
    InterferenceTerms crowd;
    crowd.same_domain = 100;
    crowd.same_nic = 100;
    CPPUNIT_ASSERT(fitted.speed("vgg16", crowd) > 0.05 && fitted.speed("vgg16", crowd) <= 1);
    CPPUNIT_ASSERT_EQUAL(1.0, fitted.speed("vgg16", {}));
  }

  void records_without_a_known_speed_are_left_out() {
    std::vector<IntervalRecord> made = records(400);
    const FittedInterference fitted = fit_interference(made, Degree::linear);
    for (int i = 0; i < 100; ++i) {
      made.push_back(record("vgg16", made.front().terms, 0));
      made.back().relative_speed.reset();
    }
    const FittedInterference again = fit_interference(made, Degree::linear);
    CPPUNIT_ASSERT_EQUAL(fitted.records, again.records);
    CPPUNIT_ASSERT(fitted.all == again.all);
  }

  void no_records_are_refused() {
    CPPUNIT_ASSERT_THROW(fit_interference({}, Degree::linear), std::runtime_error);
    CPPUNIT_ASSERT_THROW(fit_interference(std::vector<IntervalRecord>(3), Degree::linear), std::runtime_error);
  }

  void fitted_lif_goes_by_the_fitted_rates() {
    // Only neighbours below the same switch cost anything here, so nodes are no reason to stay together.
    std::vector<IntervalRecord> made;
    Random random(9, "records");
    for (int i = 0; i < 500; ++i) {
      const InterferenceTerms terms = random_terms(random);
      made.push_back(record("resnet50", terms, 0.2 * terms.same_domain));
    }
    Snapshot snapshot = cluster(2, "pcie8");
    run(snapshot, 90, {{0, {0, 2, 4, 6}}}); // a neighbour below every switch
    run(snapshot, 91, {{1, {0, 1, 2, 3, 4, 5}}});
    for (const auto &policy : {make_fitted_lif(fit_interference(made, Degree::linear)),
                               make_greedy(fit_interference(made, Degree::linear))}) {
      const Proposal proposal = policy->propose(Cluster(snapshot), gang(snapshot, 1, 2), true);
      CPPUNIT_ASSERT_EQUAL(std::string("n1 2+0"), nodes_text(proposal.plan));
    }
    CPPUNIT_ASSERT_EQUAL(std::string("lif-linear"),
                         std::string(make_fitted_lif(fit_interference(made, Degree::linear))->name()));
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(FitInterferenceTest);

} // namespace harmony
