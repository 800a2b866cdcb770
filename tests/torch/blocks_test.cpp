// Blocks of rows on processors whose kernels go by the size of a matrix, played: no machine has them all.

#include "src/infer/torch/blocks.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cmath>
#include <string>

namespace harmony {
namespace {

constexpr int width = 3;
const ModelShape shape{2, 1, width, width};

// A model whose answers differ by `off(count, place)` parts of themselves.
AskBlock differing(const std::function<float(int count, int place)> &off) {
  return [off](const JobRow &, const float *rows, int count, float *scores) {
    for (int i = 0; i < count; ++i) {
      const float sum = rows[i * width] + 2 * rows[i * width + 1] - rows[i * width + 2];
      scores[i] = sum * (1 + off(count, i));
    }
  };
}

constexpr float last_bit = 1e-6f;

std::string problem_of(const AskBlock &ask) {
  try {
    find_places(ask, shape, width);
  } catch (const ModelFailed &failed) {
    return failed.what();
  }
  return {};
}

} // namespace

class BlocksTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(BlocksTest);
  CPPUNIT_TEST(where_all_places_agree_both_blocks_are_used_whole);
  CPPUNIT_TEST(places_of_another_kernel_are_left_out);
  CPPUNIT_TEST(where_large_matrices_have_another_kernel_the_large_block_is_smaller);
  CPPUNIT_TEST(where_every_size_has_its_own_kernel_only_small_blocks_are_used);
  CPPUNIT_TEST(rows_get_the_same_bits_alone_and_among_many);
  CPPUNIT_TEST(what_is_more_than_the_last_digits_is_the_models_own_doing);
  CPPUNIT_TEST_SUITE_END();

  void where_all_places_agree_both_blocks_are_used_whole() {
    const Blocks blocks = find_places(differing([](int, int) { return 0.f; }), shape, width);
    CPPUNIT_ASSERT_EQUAL(std::size_t{24}, blocks.small.places.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{240}, blocks.large.places.size());
  }

  void places_of_another_kernel_are_left_out() {
    const auto every_second_six = [](int, int place) { return place / 6 % 2 ? last_bit : 0; };
    const Blocks blocks = find_places(differing(every_second_six), shape, width);
    CPPUNIT_ASSERT_EQUAL(std::size_t{12}, blocks.small.places.size());
    CPPUNIT_ASSERT_EQUAL(std::size_t{120}, blocks.large.places.size());
  }

  void where_large_matrices_have_another_kernel_the_large_block_is_smaller() {
    const Blocks blocks =
        find_places(differing([](int count, int) { return count > 100 ? last_bit : 0; }), shape, width);
    CPPUNIT_ASSERT_EQUAL(72, blocks.large.rows);
    CPPUNIT_ASSERT_EQUAL(std::size_t{72}, blocks.large.places.size());
  }

  void where_every_size_has_its_own_kernel_only_small_blocks_are_used() {
    const Blocks blocks =
        find_places(differing([](int count, int) { return last_bit * static_cast<float>(count); }), shape, width);
    CPPUNIT_ASSERT_EQUAL(std::size_t{24}, blocks.small.places.size());
    CPPUNIT_ASSERT(blocks.large.places.empty());
  }

  void rows_get_the_same_bits_alone_and_among_many() {
    const AskBlock ask = differing([](int count, int) { return last_bit * static_cast<float>(count); });
    const Blocks blocks = find_places(ask, shape, width);
    Rows many{500, width, {}};
    for (int i = 0; i < many.count * width; ++i) many.values.push_back(std::sin(static_cast<float>(i)));
    const std::vector<float> scores = score_in_blocks(ask, blocks, JobRow(), many);
    for (int i = 0; i < many.count; ++i) {
      const Rows one{1, width, {many.values.begin() + i * width, many.values.begin() + (i + 1) * width}};
      CPPUNIT_ASSERT_EQUAL(score_in_blocks(ask, blocks, JobRow(), one)[0], scores[static_cast<std::size_t>(i)]);
    }
  }

  void what_is_more_than_the_last_digits_is_the_models_own_doing() {
    CPPUNIT_ASSERT_EQUAL(std::string("equal rows get different scores, by the number of rows"),
                         problem_of(differing([](int count, int) { return static_cast<float>(count); })));
    CPPUNIT_ASSERT_EQUAL(std::string("equal rows get different scores, by their place"),
                         problem_of(differing([](int, int place) { return last_bit * static_cast<float>(place); })));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(BlocksTest);

} // namespace harmony
