#include "src/values/job_id.h"

#include <cppunit/extensions/HelperMacros.h>

#include <string>

namespace harmony {

class JobIdTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(JobIdTest);
  CPPUNIT_TEST(jobs_array_tasks_and_components_are_told_apart);
  CPPUNIT_TEST(anything_else_is_refused);
  CPPUNIT_TEST_SUITE_END();

  void jobs_array_tasks_and_components_are_told_apart() {
    const std::optional<JobId> job = read_job_id("17"), task = read_job_id("17_0"), component = read_job_id("17+1");
    CPPUNIT_ASSERT(job && job->job == 17 && !job->array_task && !job->het_component);
    CPPUNIT_ASSERT(task && task->job == 17 && task->array_task == 0u && !task->het_component);
    CPPUNIT_ASSERT(component && component->job == 17 && !component->array_task && component->het_component == 1u);
    CPPUNIT_ASSERT(read_job_id("4294967279"));
  }

  void anything_else_is_refused() {
    for (const char *bad : {"",
                            "0",
                            "-1",
                            "+1",
                            "_1",
                            "17_",
                            "17+",
                            "17.0",
                            "17 ",
                            " 17",
                            "17_3_4",
                            "17+1+2",
                            "17_3+1",
                            "17_-3",
                            "0x11",
                            "1e3",
                            "17\n",
                            "17_[0-3]",
                            "4294967280",
                            "99999999999999999999",
                            "17_99999999999999999999",
                            "seventeen",
                            "17;id"})
      CPPUNIT_ASSERT_MESSAGE(bad, !read_job_id(bad));
    CPPUNIT_ASSERT(!read_job_id(std::string("17\0", 3)));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(JobIdTest);

} // namespace harmony
