#include "src/sim/truth/job_type.h"

#include "src/values/job_description.h"
#include "src/values/gpu_speed.h"
#include "tests/unit/topology_tables.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class JobTypeTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(JobTypeTest);
  CPPUNIT_TEST(every_built_in_type_has_a_name_sizes_and_a_source);
  CPPUNIT_TEST(a_type_that_is_not_known_is_a_middling_one);
  CPPUNIT_TEST(gpu_models_are_known_by_parts_of_their_names);
  CPPUNIT_TEST(a_file_adds_types_and_changes_built_in_ones);
  CPPUNIT_TEST(a_bad_file_is_refused_with_type_and_key_and_changes_nothing);
  CPPUNIT_TEST_SUITE_END();

  void every_built_in_type_has_a_name_sizes_and_a_source() {
    const JobTypes types;
    CPPUNIT_ASSERT(types.names().size() >= 20);
    for (const std::string &name : types.names()) {
      const JobType &type = types.of(name);
      CPPUNIT_ASSERT_MESSAGE(name, is_type(name) && type.name == name);
      CPPUNIT_ASSERT_MESSAGE(name, type.parameters_mb > 0 && type.compute_s > 0 && type.steps_per_epoch > 0);
      CPPUNIT_ASSERT_MESSAGE(name, type.input_mb >= 0 && type.host_mb > 0 && type.cpu_s > 0 && type.memory_mb > 0);
      CPPUNIT_ASSERT_MESSAGE(name, type.overlap >= 0 && type.overlap <= 1 && type.spread >= 0);
      CPPUNIT_ASSERT_MESSAGE(name, type.network_efficiency > 0 && type.network_efficiency <= 1);
      CPPUNIT_ASSERT_MESSAGE(name, !type.source.empty());
    }
    for (const char *name : {"vgg16", "alexnet", "vgg19"}) CPPUNIT_ASSERT_MESSAGE(name, types.of(name).skewed);
    CPPUNIT_ASSERT(!types.of("resnet50").skewed);
  }

  void a_type_that_is_not_known_is_a_middling_one() {
    const JobTypes types;
    CPPUNIT_ASSERT(!types.knows("unknown") && !types.knows("mine"));
    CPPUNIT_ASSERT(&types.of("unknown") == &types.of("mine"));
    CPPUNIT_ASSERT(types.of("mine").parameters_mb > 0);
  }

  void gpu_models_are_known_by_parts_of_their_names() {
    CPPUNIT_ASSERT_EQUAL(1.0, gpu_speed("v100"));
    CPPUNIT_ASSERT_EQUAL(gpu_speed("a100"), gpu_speed("nvidia_a100-sxm4-80gb"));
    CPPUNIT_ASSERT_EQUAL(gpu_speed("gtx1080ti"), gpu_speed("nvidia_geforce_gtx_1080_ti"));
    CPPUNIT_ASSERT(gpu_speed("a100") > gpu_speed("v100") && gpu_speed("v100") > gpu_speed("k80"));
    CPPUNIT_ASSERT_EQUAL(1.0, gpu_speed(""));
    CPPUNIT_ASSERT_EQUAL(1.0, gpu_speed("what"));
  }

  void a_file_adds_types_and_changes_built_in_ones() {
    const TemporaryFile file(R"({"types": [
        {"name": "mine", "parameters_mb": 80, "skewed": true, "source": "measured"},
        {"name": "vgg16", "compute_s": 0.5}]})");
    JobTypes types;
    read_types(file.path, types);
    CPPUNIT_ASSERT(types.knows("mine"));
    CPPUNIT_ASSERT_EQUAL(80.0, types.of("mine").parameters_mb);
    CPPUNIT_ASSERT_EQUAL(JobType().compute_s, types.of("mine").compute_s);
    CPPUNIT_ASSERT(types.of("mine").skewed && types.of("mine").source == "measured");
    CPPUNIT_ASSERT_EQUAL(0.5, types.of("vgg16").compute_s);
    CPPUNIT_ASSERT_EQUAL(JobTypes().of("vgg16").parameters_mb, types.of("vgg16").parameters_mb);
  }

  static void assert_refused(const std::string &text, const std::string &problem) {
    const TemporaryFile file(text);
    JobTypes types;
    try {
      read_types(file.path, types);
    } catch (const std::runtime_error &bad) {
      CPPUNIT_ASSERT_MESSAGE(bad.what(), std::string(bad.what()).find(problem) != std::string::npos);
      CPPUNIT_ASSERT_MESSAGE(bad.what(), std::string(bad.what()).find(file.path) == 0);
      CPPUNIT_ASSERT(types.names() == JobTypes().names());
      return;
    }
    CPPUNIT_FAIL("was not refused: " + problem);
  }

  void a_bad_file_is_refused_with_type_and_key_and_changes_nothing() {
    assert_refused("", "is not JSON");
    assert_refused("[]", "is ");
    assert_refused(std::string(1000, '['), "is not JSON");
    assert_refused(R"({"types": 3})", "\"types\" is no list");
    assert_refused(R"({"types": [], "more": 1})", "\"more\" is no key of it");
    assert_refused(R"({"types": [3]})", "type 1: is no object");
    assert_refused(R"({"types": [{"parameters_mb": 3}]})", "type 1: \"name\" is not 1 to 32 of");
    assert_refused(R"({"types": [{"name": "Mine"}]})", "type 1: \"name\" is not 1 to 32 of");
    assert_refused(R"({"types": [{"name": "a"}, {"name": "b", "size": 3}]})",
                   "type 2 (b): \"size\" is no key of a type");
    assert_refused(R"({"types": [{"name": "a", "compute_s": 0}]})", "type 1 (a): \"compute_s\" is no number from");
    assert_refused(R"({"types": [{"name": "a", "compute_s": "1"}]})", "type 1 (a): \"compute_s\" is no number from");
    assert_refused(R"({"types": [{"name": "a", "overlap": 1.5}]})", "type 1 (a): \"overlap\" is no number from 0 to 1");
    assert_refused(R"({"types": [{"name": "a", "skewed": 1}]})", "type 1 (a): \"skewed\" is not true or false");
    assert_refused(R"({"types": [{"name": "a"}, {"name": "a"}]})", "type 2 (a): the name was there before");
    JobTypes types;
    CPPUNIT_ASSERT_THROW(read_types("/no/such/file", types), std::runtime_error);
  }
};
CPPUNIT_TEST_SUITE_REGISTRATION(JobTypeTest);

} // namespace harmony
