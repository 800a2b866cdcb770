#include "src/values/bits.h"

#include <cppunit/extensions/HelperMacros.h>

#include <random>
#include <set>

namespace harmony {

class BitsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(BitsTest);
  CPPUNIT_TEST(a_new_set_is_empty);
  CPPUNIT_TEST(numbers_beyond_the_size_are_not_in_the_set);
  CPPUNIT_TEST(a_full_set_has_no_bit_beyond_its_size);
  CPPUNIT_TEST(it_behaves_as_a_set_of_numbers_does);
  CPPUNIT_TEST(two_sets_combine_as_sets_of_numbers_do_whatever_their_sizes);
  CPPUNIT_TEST(sets_are_equal_only_with_equal_sizes);
  CPPUNIT_TEST_SUITE_END();

  static constexpr int sizes[] = {0, 1, 63, 64, 65, 128, 130};

  std::mt19937 random_{1};

  Bits random_bits(int size) {
    Bits bits(size);
    for (int bit = 0; bit < size; ++bit)
      if (random_() % 3 == 0) bits.set(bit);
    return bits;
  }

  static std::set<int> numbers(const Bits &bits) {
    std::set<int> result;
    for (int bit : each(bits)) CPPUNIT_ASSERT(result.insert(bit).second);
    return result;
  }

  void a_new_set_is_empty() {
    for (int size : sizes) {
      const Bits bits(size);
      CPPUNIT_ASSERT_EQUAL(size, bits.size());
      CPPUNIT_ASSERT_EQUAL(0, bits.count());
      CPPUNIT_ASSERT_EQUAL(-1, bits.first());
      CPPUNIT_ASSERT(!bits.any());
    }
    CPPUNIT_ASSERT_EQUAL(0, Bits().size());
  }

  void numbers_beyond_the_size_are_not_in_the_set() {
    Bits bits(70);
    bits.set_all();
    for (int bit : {-64, -1, 70, 71, 127, 128, 100000}) CPPUNIT_ASSERT(!bits.test(bit));
    CPPUNIT_ASSERT_EQUAL(-1, bits.next(70));
    CPPUNIT_ASSERT_EQUAL(-1, bits.next(100000));
    CPPUNIT_ASSERT_EQUAL(0, bits.next(-5));
  }

  void a_full_set_has_no_bit_beyond_its_size() {
    for (int size : sizes) {
      Bits bits(size);
      bits.set_all();
      CPPUNIT_ASSERT_EQUAL(size, bits.count());
      int in_words = 0;
      for (std::uint64_t word : bits.words()) in_words += __builtin_popcountll(word);
      CPPUNIT_ASSERT_EQUAL(size, in_words);
    }
  }

  void it_behaves_as_a_set_of_numbers_does() {
    for (int size : sizes) {
      Bits bits(size);
      std::set<int> model;
      for (int i = 0; i < 300 && size > 0; ++i) {
        const int bit = static_cast<int>(random_() % static_cast<unsigned>(size));
        if (random_() % 2) {
          bits.set(bit);
          model.insert(bit);
        } else {
          bits.clear(bit);
          model.erase(bit);
        }
        const auto after = model.lower_bound(bit);
        CPPUNIT_ASSERT_EQUAL(model.count(bit) == 1, bits.test(bit));
        CPPUNIT_ASSERT_EQUAL(static_cast<int>(model.size()), bits.count());
        CPPUNIT_ASSERT_EQUAL(!model.empty(), bits.any());
        CPPUNIT_ASSERT_EQUAL(after == model.end() ? -1 : *after, bits.next(bit));
        CPPUNIT_ASSERT(numbers(bits) == model);
      }
    }
  }

  void two_sets_combine_as_sets_of_numbers_do_whatever_their_sizes() {
    for (int one_size : sizes)
      for (int other_size : sizes) {
        const Bits one = random_bits(one_size), other = random_bits(other_size);
        std::set<int> both, without, either = numbers(one);
        for (int bit : numbers(one)) (other.test(bit) ? both : without).insert(bit);
        either.merge(numbers(other));
        Bits result = one;
        CPPUNIT_ASSERT(numbers(result &= other) == both);
        result = one;
        CPPUNIT_ASSERT(numbers(result -= other) == without);
        result = one;
        // What a smaller set makes of more than it can hold is not promised.
        if (other_size <= one_size) CPPUNIT_ASSERT(numbers(result |= other) == either);
        CPPUNIT_ASSERT_EQUAL(!both.empty(), one.overlaps(other));
        CPPUNIT_ASSERT_EQUAL(both.size() == numbers(other).size(), one.contains(other));
      }
  }

  void sets_are_equal_only_with_equal_sizes() {
    CPPUNIT_ASSERT(Bits(3) == Bits(3));
    CPPUNIT_ASSERT(!(Bits(3) == Bits(4)));
    Bits one(3), other(3);
    one.set(1);
    CPPUNIT_ASSERT(!(one == other));
    other.set(1);
    CPPUNIT_ASSERT(one == other);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(BitsTest);

} // namespace harmony
