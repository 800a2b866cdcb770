// Models through the real harmony_torch.so. HARMONY_TORCH_LIBRARY is its path, HARMONY_TEST_MODELS a directory with
// what `make-test-models --kind all` writes for the widths below.

#include "src/infer/load_torch.h"

#include <cppunit/extensions/HelperMacros.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

namespace {

using namespace harmony;

const ModelShape shape{4, 4, 8, 6};

std::string from_environment(const char *name) {
  const char *value = std::getenv(name);
  CPPUNIT_ASSERT_MESSAGE(std::string(name) + " is not set", value);
  return value;
}

const TorchLibrary &library() {
  static const TorchLibrary opened = open_torch_library(from_environment("HARMONY_TORCH_LIBRARY"));
  CPPUNIT_ASSERT_EQUAL(std::string(), opened.problem);
  return opened;
}

std::string bytes_of(const std::string &kind) {
  const std::string path = from_environment("HARMONY_TEST_MODELS") + "/" + kind + ".pt";
  std::ifstream file(path, std::ios::binary);
  CPPUNIT_ASSERT_MESSAGE(path + " is not there", file.good());
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

std::shared_ptr<Model> good(const std::string &kind) {
  std::string problem;
  std::shared_ptr<Model> model = load_model(library(), bytes_of(kind), shape, problem);
  CPPUNIT_ASSERT_EQUAL_MESSAGE(kind, std::string(), problem);
  CPPUNIT_ASSERT_MESSAGE(kind, model != nullptr);
  return model;
}

std::string refused(const std::string &bytes) {
  std::string problem;
  CPPUNIT_ASSERT(!load_model(library(), bytes, shape, problem));
  CPPUNIT_ASSERT(!problem.empty() && problem.size() < 400 && problem.find('\n') == std::string::npos);
  return problem;
}

void assert_refused(const std::string &kind, const std::string &why) {
  const std::string problem = refused(bytes_of(kind));
  CPPUNIT_ASSERT_MESSAGE(kind + ": " + problem, problem.find(why) != std::string::npos);
}

JobRow job() { return {1, {0.1f, 0.2f, 0.3f, 0.4f}}; }

Rows rows(int count, int width, unsigned seed = 1) {
  Rows made{count, width, {}};
  for (int i = 0; i < count * width; ++i) {
    seed = seed * 1664525u + 1013904223u;
    made.values.push_back(static_cast<float>(seed >> 8) / static_cast<float>(1 << 24));
  }
  return made;
}

Rows only(const Rows &all, int row) {
  const auto first = all.values.begin() + static_cast<std::ptrdiff_t>(row) * all.width;
  return {1, all.width, {first, first + all.width}};
}

bool same_bits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / 1e6;
}

template <class Thrown> std::string thrown_by(Model &model) {
  try {
    model.score_candidates(job(), rows(3, shape.candidate));
  } catch (const Thrown &thrown) {
    return thrown.what();
  }
  CPPUNIT_FAIL("nothing of that kind was thrown");
  return {};
}

class TorchTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(TorchTest);
  CPPUNIT_TEST(the_library_says_which_torch_and_which_blas);
  CPPUNIT_TEST(a_missing_library_is_one_line);
  CPPUNIT_TEST(a_linear_model_scores_by_its_weights);
  CPPUNIT_TEST(no_rows_give_no_scores_and_other_widths_are_refused);
  CPPUNIT_TEST(a_model_that_is_not_allowed_is_refused_with_the_reason);
  CPPUNIT_TEST(a_model_that_hangs_while_it_is_loaded_is_refused_before);
  CPPUNIT_TEST(bytes_that_are_no_model_are_refused);
  CPPUNIT_TEST(a_model_cut_short_or_with_a_flipped_bit_never_does_harm);
  CPPUNIT_TEST(what_a_model_throws_comes_out_in_one_line);
  CPPUNIT_TEST(an_answer_of_another_form_is_told_from_a_failure);
  CPPUNIT_TEST(scores_that_are_not_finite_come_out_as_they_are);
  CPPUNIT_TEST(more_memory_than_the_limit_is_refused);
  CPPUNIT_TEST(a_slow_model_is_still_at_it_after_the_deadline);
  CPPUNIT_TEST(equal_rows_get_equal_bits_alone_and_in_any_company);
  CPPUNIT_TEST(a_model_that_looks_at_other_rows_is_found_at_warm_up);
  CPPUNIT_TEST(dropout_is_allowed_when_it_is_off);
  CPPUNIT_TEST(a_model_of_zeros_scores_zero);
  CPPUNIT_TEST(two_hundred_loads_take_no_more_memory_than_one);
  CPPUNIT_TEST_SUITE_END();

  void the_library_says_which_torch_and_which_blas() {
    CPPUNIT_ASSERT_EQUAL(std::string("1.13"), std::string(library().table->torch_version).substr(0, 4));
    CPPUNIT_ASSERT_MESSAGE(library().table->blas, library().table->blas_is_openblas);
    CPPUNIT_ASSERT_EQUAL(std::string("OpenBLAS"), std::string(library().table->blas).substr(0, 8));
  }

  void a_missing_library_is_one_line() {
    const TorchLibrary missing = open_torch_library("/nowhere/harmony_torch.so");
    CPPUNIT_ASSERT(!missing.table);
    CPPUNIT_ASSERT(missing.problem.find("/nowhere/harmony_torch.so cannot be opened") == 0);
  }

  // Written with --candidate-weights 3=1,7=-2.5 --gang-weights 0=100.
  void a_linear_model_scores_by_its_weights() {
    const auto model = good("linear");
    CPPUNIT_ASSERT_EQUAL(std::string(), warm_up(*model, shape));
    const Rows candidates = rows(5, shape.candidate), gangs = rows(5, shape.gang);
    const std::vector<float> by_candidate = model->score_candidates(job(), candidates);
    const std::vector<float> by_gang = model->score_gangs(job(), gangs);
    CPPUNIT_ASSERT_EQUAL(std::size_t{5}, by_candidate.size());
    for (int i = 0; i < 5; ++i) {
      const float *row = candidates.values.data() + i * shape.candidate;
      CPPUNIT_ASSERT_DOUBLES_EQUAL(row[3] - 2.5 * row[7], by_candidate[i], 1e-6);
      CPPUNIT_ASSERT_DOUBLES_EQUAL(100 * gangs.values[i * shape.gang], by_gang[i], 1e-4);
    }
  }

  void no_rows_give_no_scores_and_other_widths_are_refused() {
    const auto model = good("throws");
    CPPUNIT_ASSERT(model->score_candidates(job(), {0, shape.candidate, {}}).empty());
    const auto linear = good("linear");
    CPPUNIT_ASSERT_THROW(linear->score_candidates(job(), rows(2, 3)), ModelFailed);
    CPPUNIT_ASSERT_THROW(linear->score_candidates({1, {0.5f}}, rows(2, shape.candidate)), ModelFailed);
    CPPUNIT_ASSERT_THROW(linear->score_candidates({shape.types, job().features}, rows(2, shape.candidate)),
                         ModelFailed);
  }

  void a_model_that_is_not_allowed_is_refused_with_the_reason() {
    assert_refused("loop", "has a loop (code/");
    assert_refused("hidden_loop", "has a loop (code/");
    assert_refused("no_method", "it has no method score_candidates");
    assert_refused("other_arguments", "is not score_candidates(self, type: Tensor, job: Tensor, candidates: Tensor)");
    assert_refused("prints", "prim::Print, which is not allowed");
    assert_refused("reads_file", "aten::from_file, which is not allowed");
    assert_refused("random", "aten::rand_like, which is not allowed");
    assert_refused("dropout_on", "aten::dropout in training mode");
    assert_refused("writes_input", "aten::mul_");
    assert_refused("big", "more than 16000000 parameters");
    assert_refused("beyond_its_data", "larger than its data");
    assert_refused("computed_default", "a default value that is computed");
    assert_refused("deep_code", "too deep a nesting");
    assert_refused("foreign_class", "a class of another library");
  }

  void a_model_that_hangs_while_it_is_loaded_is_refused_before() { assert_refused("hang_at_load", "its code has a"); }

  void bytes_that_are_no_model_are_refused() {
    CPPUNIT_ASSERT_EQUAL(std::string("it is no zip archive"), refused(""));
    CPPUNIT_ASSERT_EQUAL(std::string("it is no zip archive"), refused("model"));
    CPPUNIT_ASSERT(refused(std::string("PK\3\4") + std::string(100, 'x')).find("no zip directory") !=
                   std::string::npos);
    refused(std::string("PK\5\6") + std::string(18, '\0'));
  }

  void a_model_cut_short_or_with_a_flipped_bit_never_does_harm() {
    const std::string whole = bytes_of("linear");
    for (std::size_t size = 0; size < whole.size(); size += 97) refused(whole.substr(0, size));
    unsigned seed = 1;
    int still_read = 0;
    for (int i = 0; i < 400; ++i) {
      seed = seed * 1664525u + 1013904223u;
      std::string flipped = whole;
      flipped[(seed >> 4) % whole.size()] ^= static_cast<char>(1 << (seed >> 29));
      std::string problem;
      const auto model = load_model(library(), flipped, shape, problem);
      still_read += model != nullptr;
      CPPUNIT_ASSERT(model || !problem.empty());
    }
    // What is left are bits that mean nothing: padding, dates, comments. The store's digest sees those as well.
    std::cout << " (" << still_read << " of 400 flips change nothing)";
  }

  void what_a_model_throws_comes_out_in_one_line() {
    const std::string thrown = thrown_by<ModelFailed>(*good("throws"));
    CPPUNIT_ASSERT_MESSAGE(thrown, thrown.find("score_candidates failed: ") == 0);
    CPPUNIT_ASSERT_MESSAGE(thrown, thrown.find("no scores today") != std::string::npos);
    CPPUNIT_ASSERT_MESSAGE(thrown, thrown.find('\n') == std::string::npos);
  }

  void an_answer_of_another_form_is_told_from_a_failure() {
    CPPUNIT_ASSERT_EQUAL(std::string("score_candidates answered Float [24, 1] instead of Float [24]"),
                         thrown_by<ModelShapeWrong>(*good("wrong_shape")));
    CPPUNIT_ASSERT_EQUAL(std::string("score_candidates answered Float [23] instead of Float [24]"),
                         thrown_by<ModelShapeWrong>(*good("too_few")));
    CPPUNIT_ASSERT_EQUAL(std::string("score_candidates answered Double [24] instead of Float [24]"),
                         thrown_by<ModelShapeWrong>(*good("wrong_dtype")));
  }

  void scores_that_are_not_finite_come_out_as_they_are() {
    for (const float score : good("nan")->score_candidates(job(), rows(3, shape.candidate)))
      CPPUNIT_ASSERT(std::isnan(score));
    for (const float score : good("inf")->score_gangs(job(), rows(3, shape.gang))) CPPUNIT_ASSERT(std::isinf(score));
  }

  void more_memory_than_the_limit_is_refused() {
    const double before = resident_mb();
    const std::string thrown = thrown_by<ModelFailed>(*good("much_memory"));
    CPPUNIT_ASSERT_MESSAGE(thrown, thrown.find("more memory than the 256 MB") != std::string::npos);
    CPPUNIT_ASSERT(resident_mb() < before + 50);
  }

  // In a child, because nothing can stop it.
  void a_slow_model_is_still_at_it_after_the_deadline() {
    const auto model = good("slow");
    const pid_t child = fork();
    CPPUNIT_ASSERT(child >= 0);
    if (child == 0) {
      try {
        model->score_candidates(job(), rows(1, shape.candidate));
      } catch (...) {
      }
      _exit(0);
    }
    std::this_thread::sleep_for(std::chrono::seconds(1));
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == 0) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
    }
    CPPUNIT_ASSERT_EQUAL(pid_t{0}, ended);
  }

  void equal_rows_get_equal_bits_alone_and_in_any_company() {
    const auto model = good("mlp");
    CPPUNIT_ASSERT_EQUAL(std::string(), warm_up(*model, shape));
    const Rows all = rows(3000, shape.candidate);
    const std::vector<float> scores = model->score_candidates(job(), all);
    for (const int row : {0, 1, 7, 100, 1499, 2999}) {
      const Rows one = only(all, row);
      CPPUNIT_ASSERT(same_bits(scores[row], model->score_candidates(job(), one)[0]));
      for (const int copies : {2, 5, 13, 24, 25, 100, 241, 1000}) {
        Rows many{copies, one.width, {}};
        for (int i = 0; i < copies; ++i) many.values.insert(many.values.end(), one.values.begin(), one.values.end());
        for (const float score : model->score_candidates(job(), many)) CPPUNIT_ASSERT(same_bits(scores[row], score));
      }
    }
    for (const int count : {3, 50, 333, 2000}) {
      const Rows part{count, all.width, {all.values.begin(), all.values.begin() + count * all.width}};
      const std::vector<float> of_part = model->score_candidates(job(), part);
      for (int i = 0; i < count; ++i) CPPUNIT_ASSERT(same_bits(scores[i], of_part[i]));
    }
  }

  void a_model_that_looks_at_other_rows_is_found_at_warm_up() {
    CPPUNIT_ASSERT_EQUAL(std::string("score_candidates gives a row another score when other rows are beside it"),
                         warm_up(*good("looks_around"), shape));
    CPPUNIT_ASSERT(thrown_by<ModelFailed>(*good("counts")).find("equal rows get different scores") !=
                   std::string::npos);
  }

  void dropout_is_allowed_when_it_is_off() {
    CPPUNIT_ASSERT_EQUAL(std::string(), warm_up(*good("dropout_off"), shape));
  }

  void a_model_of_zeros_scores_zero() {
    for (const float score : good("zeros")->score_candidates(job(), rows(30, shape.candidate)))
      CPPUNIT_ASSERT_EQUAL(0.f, score);
  }

  void two_hundred_loads_take_no_more_memory_than_one() {
    const auto once = [] { warm_up(*good("mlp"), shape); };
    for (int i = 0; i < 20; ++i) once();
    // What is lost is lost every time; what an allocator keeps for later, it keeps once.
    double least = resident_mb();
    for (int batch = 0; batch < 4; ++batch) {
      const double before = resident_mb();
      for (int i = 0; i < 50; ++i) once();
      least = std::min(least, resident_mb() - before);
    }
    CPPUNIT_ASSERT_MESSAGE(std::to_string(least) + " MB more", least < 2);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(TorchTest);

} // namespace
