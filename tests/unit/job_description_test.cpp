#include "src/values/job_description.h"

#include <cppunit/extensions/HelperMacros.h>

#include <string>

namespace harmony {

class JobDescriptionTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(JobDescriptionTest);
  CPPUNIT_TEST(types_are_short_plain_words);
  CPPUNIT_TEST(numbers_are_digits_within_their_limits);
  CPPUNIT_TEST(megabytes_have_up_to_three_decimals);
  CPPUNIT_TEST_SUITE_END();

  void types_are_short_plain_words() {
    for (const char *good : {"resnet50", "vgg-16", "0", "bert_large.v2"}) CPPUNIT_ASSERT_MESSAGE(good, is_type(good));
    for (const char *bad : {"", "ResNet", "-x", ".x", "a b", "a/b", "a\nb", "$(id)", "\xc3\xa9"})
      CPPUNIT_ASSERT_MESSAGE(bad, !is_type(bad));
    CPPUNIT_ASSERT(is_type(std::string(32, 'a')));
    CPPUNIT_ASSERT(!is_type(std::string(33, 'a')));
  }

  void numbers_are_digits_within_their_limits() {
    std::uint32_t value = 7;
    CPPUNIT_ASSERT(read_ps("0", value) && value == 0);
    CPPUNIT_ASSERT(read_ps("1024", value) && value == 1024);
    CPPUNIT_ASSERT(read_epochs("1000000", value) && value == 1000000);
    value = 7;
    for (const char *bad : {"", "-1", "+1", " 1", "1 ", "1e3", "0x10", "1025", "99999999999999999999"})
      CPPUNIT_ASSERT_MESSAGE(bad, !read_ps(bad, value));
    CPPUNIT_ASSERT(!read_epochs("0", value));
    CPPUNIT_ASSERT_EQUAL(std::uint32_t{7}, value);
  }

  void megabytes_have_up_to_three_decimals() {
    std::uint32_t kilobytes = 0;
    CPPUNIT_ASSERT(read_model_mb("98", kilobytes) && kilobytes == 98000);
    CPPUNIT_ASSERT(read_model_mb("0.5", kilobytes) && kilobytes == 500);
    CPPUNIT_ASSERT(read_model_mb("1.025", kilobytes) && kilobytes == 1025);
    CPPUNIT_ASSERT(read_model_mb("1000000", kilobytes) && kilobytes == 1000000000);
    for (const char *bad :
         {"", ".", ".5", "5.", "0", "0.000", "1.0000", "1000000.001", "1,5", "1G", "nan", "-3", "1.2.3"})
      CPPUNIT_ASSERT_MESSAGE(bad, !read_model_mb(bad, kilobytes));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(JobDescriptionTest);

} // namespace harmony
