#include "src/values/mode.h"

#include <cppunit/extensions/HelperMacros.h>

#include <string>

namespace harmony {

class ModeTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ModeTest);
  CPPUNIT_TEST(absent_means_off);
  CPPUNIT_TEST(each_mode_is_read_among_other_entries);
  CPPUNIT_TEST(case_does_not_matter_as_in_slurm_conf);
  CPPUNIT_TEST(the_last_of_several_counts);
  CPPUNIT_TEST(a_bad_value_is_off_and_named);
  CPPUNIT_TEST(a_missing_value_is_bad);
  CPPUNIT_TEST(a_misspelt_entry_is_named);
  CPPUNIT_TEST(a_name_that_only_begins_alike_is_not_ours);
  CPPUNIT_TEST_SUITE_END();

  static Mode mode(const char *parameters) { return mode_from_scheduler_parameters(parameters).mode; }

  void absent_means_off() {
    CPPUNIT_ASSERT(mode("") == Mode::off);
    CPPUNIT_ASSERT(mode("bf_interval=2,,defer,") == Mode::off);
    CPPUNIT_ASSERT(!mode_from_scheduler_parameters("defer").bad);
  }

  void each_mode_is_read_among_other_entries() {
    for (Mode wanted : {Mode::off, Mode::shadow, Mode::enforce}) {
      const std::string parameters = std::string("defer,harmony_mode=") + mode_name(wanted) + ",bf_max_job_test=10";
      CPPUNIT_ASSERT(mode(parameters.c_str()) == wanted);
    }
  }

  void case_does_not_matter_as_in_slurm_conf() { CPPUNIT_ASSERT(mode("Harmony_Mode=SHADOW") == Mode::shadow); }

  void the_last_of_several_counts() {
    CPPUNIT_ASSERT(mode("harmony_mode=enforce,harmony_mode=shadow") == Mode::shadow);
    CPPUNIT_ASSERT(mode("harmony_mode=enforce,harmony_mode=nonsense") == Mode::off);
    CPPUNIT_ASSERT(!mode_from_scheduler_parameters("harmony_mode=nonsense,harmony_mode=shadow").bad);
  }

  void a_bad_value_is_off_and_named() {
    const ModeSetting setting = mode_from_scheduler_parameters("harmony_mode=enforced,defer");
    CPPUNIT_ASSERT(setting.mode == Mode::off);
    CPPUNIT_ASSERT(setting.bad);
    CPPUNIT_ASSERT_EQUAL(std::string("enforced"), std::string(setting.bad_value));
  }

  void a_missing_value_is_bad() {
    CPPUNIT_ASSERT(mode_from_scheduler_parameters("harmony_mode").bad);
    CPPUNIT_ASSERT(mode_from_scheduler_parameters("harmony_mode=").bad);
  }

  void a_misspelt_entry_is_named() {
    const ModeSetting setting = mode_from_scheduler_parameters("harmony_mod=enforce,harmony_mode=shadow");
    CPPUNIT_ASSERT(setting.mode == Mode::shadow);
    CPPUNIT_ASSERT_EQUAL(std::string("harmony_mod=enforce"), std::string(setting.unknown_entry));
  }

  void a_name_that_only_begins_alike_is_not_ours() {
    const ModeSetting setting = mode_from_scheduler_parameters("harmonymode=enforce,my_harmony_mode=enforce");
    CPPUNIT_ASSERT(setting.mode == Mode::off);
    CPPUNIT_ASSERT(setting.unknown_entry.empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ModeTest);

} // namespace harmony
