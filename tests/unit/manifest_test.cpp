#include "src/store/manifest.h"

#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <limits>

namespace harmony {

class ManifestTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ManifestTest);
  CPPUNIT_TEST(what_is_written_reads_back_the_same);
  CPPUNIT_TEST(ranges_survive_to_the_last_bit);
  CPPUNIT_TEST(what_is_not_json_is_refused);
  CPPUNIT_TEST(deep_nesting_is_refused);
  CPPUNIT_TEST(every_key_has_to_be_there);
  CPPUNIT_TEST(unknown_and_repeated_keys_are_refused);
  CPPUNIT_TEST(every_key_has_to_be_of_its_kind);
  CPPUNIT_TEST(names_keep_to_their_grammar);
  CPPUNIT_TEST(numbers_keep_to_their_ranges);
  CPPUNIT_TEST(a_digest_is_64_small_hex_digits);
  CPPUNIT_TEST(ranges_are_finite_of_sane_size_and_begin_before_they_end);
  CPPUNIT_TEST(a_feature_or_type_is_listed_once);
  CPPUNIT_TEST(counts_and_sizes_are_capped);
  CPPUNIT_TEST(texts_are_one_printable_line);
  CPPUNIT_TEST(a_refused_manifest_is_empty_and_the_problem_printable);
  CPPUNIT_TEST_SUITE_END();

  static std::string good() { return manifest_json(some_manifest("x")); }

  static std::string problem(const std::string &json) {
    const ManifestReading reading = read_manifest(json);
    for (const char c : reading.problem) CPPUNIT_ASSERT_MESSAGE(reading.problem, c >= ' ' && c <= '~');
    return reading.problem;
  }

  static void refused(const std::string &json, const std::string &because) {
    CPPUNIT_ASSERT_MESSAGE(because + " / " + problem(json), problem(json).find(because) != std::string::npos);
  }

  static std::string with(const std::string &from, const std::string &to) {
    std::string json = good();
    const std::size_t at = json.find(from);
    CPPUNIT_ASSERT_MESSAGE(from, at != std::string::npos);
    return json.replace(at, from.size(), to);
  }

  void what_is_written_reads_back_the_same() {
    const ManifestReading reading = read_manifest(good());
    CPPUNIT_ASSERT_EQUAL(std::string(), reading.problem);
    CPPUNIT_ASSERT_EQUAL(good(), manifest_json(reading.manifest));
    CPPUNIT_ASSERT_EQUAL(std::string("a \"test\" with \\"), reading.manifest.evaluation);
    CPPUNIT_ASSERT_EQUAL(std::string("node_type:resnet50"), reading.manifest.candidates.at(1).name);
    Manifest bare = some_manifest("x");
    bare.types.clear();
    bare.job.clear();
    bare.trained_on = bare.evaluation = "";
    CPPUNIT_ASSERT_EQUAL(manifest_json(bare), manifest_json(read_manifest(manifest_json(bare)).manifest));
  }

  void ranges_survive_to_the_last_bit() {
    Manifest manifest = some_manifest("x");
    for (const double value : {0.1, 1.0 / 3, 1e-300, 5e-324, 123456789.12345678, 1e9, 0.0, 0.30000000000000004}) {
      manifest.job = {{"a", -value, value}};
      const ManifestReading reading = read_manifest(manifest_json(manifest));
      CPPUNIT_ASSERT_EQUAL(std::string(), reading.problem);
      CPPUNIT_ASSERT(reading.manifest.job.at(0).low == -value && reading.manifest.job.at(0).high == value);
    }
  }

  void what_is_not_json_is_refused() {
    for (const std::string &text :
         {std::string(), std::string(" "), std::string("{"), std::string("null"), std::string("[]"), std::string("7"),
          std::string("\"x\""), std::string("\0", 1), std::string(100, '\xff'), good() + "x", good() + good(),
          "// why\n" + good(), good().substr(0, good().size() / 2), "\xef\xbb\xbf\xef\xbb\xbf" + good()})
      CPPUNIT_ASSERT_MESSAGE(text, !problem(text).empty());
  }

  void deep_nesting_is_refused() {
    for (const int depth : {10, 1000, 400000}) {
      CPPUNIT_ASSERT(!problem(std::string(depth, '[')).empty());
      CPPUNIT_ASSERT(
          !problem(with("[\"resnet50\", \"vgg16\"]", std::string(depth, '[') + std::string(depth, ']'))).empty());
    }
  }

  void every_key_has_to_be_there() {
    for (const char *key : {"name", "version", "schema", "torch", "sha256", "types", "features", "trained_on",
                            "evaluation", "job", "candidates", "gangs", "low", "high"})
      refused(with(std::string("\"") + key + "\":", "\"other\":"), std::string("there is no \"") + key + "\"");
  }

  void unknown_and_repeated_keys_are_refused() {
    refused(with("\"schema\":", "\"Schema\": 1, \"schema\":"), "unknown key \"Schema\"");
    refused(with("\"low\":", "\"mid\\u001b\": 0, \"low\":"), "unknown key \"mid\\x1b\"");
    refused(with("\"schema\":", "\"schema\": 2, \"schema\":"), "not JSON");
  }

  void every_key_has_to_be_of_its_kind() {
    const std::pair<std::string, std::string> changes[] = {{"\"harmony-test\"", "7"},
                                                           {"\"harmony-test\"", "null"},
                                                           {"\"harmony-test\"", "[\"x\"]"},
                                                           {"\"version\": 0", "\"version\": \"0\""},
                                                           {"\"version\": 0", "\"version\": 0.0"},
                                                           {"\"version\": 0", "\"version\": true"},
                                                           {"\"schema\": 1", "\"schema\": 1e0"},
                                                           {"\"schema\": 1", "\"schema\": 99999999999"},
                                                           {"\"schema\": 1", "\"schema\": 99999999999999999999999"},
                                                           {"\"1.13.1\"", "1.13"},
                                                           {"[\"resnet50\", \"vgg16\"]", "{}"},
                                                           {"\"vgg16\"", "16"},
                                                           {"\"low\": 0", "\"low\": \"0\""},
                                                           {"\"low\": 0", "\"low\": null"},
                                                           {"\"low\": 0", "\"low\": false"},
                                                           {"\"low\": 0", "\"low\": [0]"},
                                                           {"\"nothing\"", "{}"}};
    for (const auto &[from, to] : changes) CPPUNIT_ASSERT_MESSAGE(to, !problem(with(from, to)).empty());
  }

  void names_keep_to_their_grammar() {
    for (const char *name : {"", "Harmony", "-x", "a b", "a/b", "..", "a\\n", "a\\u0000", "\xc3\xa4",
                             "abcdefghijklmnopqrstuvwxyz0123456789"}) {
      refused(with("harmony-test", name), "name:");
      refused(with("vgg16", name), "types:");
    }
    for (const char *name : {"", "Free", "a b", ":a", "a\\t"}) refused(with("free_gpus", name), "features.candidates:");
    refused(with("free_gpus", std::string(65, 'a')), "features.candidates:");
    refused(with("vgg16", "unknown"), "always there");
    for (const char *torch : {"", "one", "v1.13", "1.13 ", "1.13/2", "1.13\\n"})
      refused(with("1.13.1", torch), "torch:");
    CPPUNIT_ASSERT_EQUAL(std::string(), problem(with("1.13.1", "2.1.0a0+gitABC")));
  }

  void numbers_keep_to_their_ranges() {
    for (const char *version : {"-1", "1000000000"})
      refused(with("\"version\": 0", std::string("\"version\": ") + version), "version:");
    CPPUNIT_ASSERT_EQUAL(std::string(), problem(with("\"version\": 0", "\"version\": 999999999")));
    for (const char *schema : {"0", "-1"})
      refused(with("\"schema\": 1", std::string("\"schema\": ") + schema), "schema:");
  }

  void a_digest_is_64_small_hex_digits() {
    const std::string digest = some_manifest("x").sha256;
    std::string large = digest, odd = digest;
    large[0] = 'A';
    odd[63] = 'g';
    for (const std::string &wrong : {std::string(), digest.substr(1), digest + "0", large, odd})
      refused(with(digest, wrong), "sha256:");
  }

  void ranges_are_finite_of_sane_size_and_begin_before_they_end() {
    for (const char *value :
         {"NaN", "nan", "Infinity", "-Infinity", "1e999", "-1e999", "1e10", "1e308", "-1000000001"}) {
      CPPUNIT_ASSERT_MESSAGE(value, !problem(with("\"high\": 1", std::string("\"high\": ") + value)).empty());
      CPPUNIT_ASSERT_MESSAGE(value, !problem(with("\"low\": 0", std::string("\"low\": ") + value)).empty());
    }
    refused(with("\"high\": 1", "\"high\": -1"), "ends before it begins");
    CPPUNIT_ASSERT_EQUAL(std::string(), problem(with("\"high\": 1", "\"high\": 0")));
    Manifest manifest = some_manifest("x");
    manifest.gangs[0].high = std::numeric_limits<double>::quiet_NaN();
    CPPUNIT_ASSERT(manifest_problem(manifest).find("features.gangs") == 0);
  }

  void a_feature_or_type_is_listed_once() {
    refused(with("node_type:resnet50", "free_gpus"), "features.candidates: \"free_gpus\" is listed twice");
    refused(with("vgg16", "resnet50"), "types: \"resnet50\" is listed twice");
    CPPUNIT_ASSERT_EQUAL(std::string(), problem(with("free_gpus", "workers"))); // of another kind
  }

  void counts_and_sizes_are_capped() {
    Manifest manifest = some_manifest("x");
    for (std::size_t i = 2; i < max_model_types; ++i) manifest.types.push_back("t" + std::to_string(i));
    for (std::size_t i = 1; i < max_features; ++i) manifest.job.push_back({"f" + std::to_string(i), 0, 1});
    CPPUNIT_ASSERT_EQUAL(std::string(), problem(manifest_json(manifest)));
    Manifest types = manifest, features = manifest;
    types.types.push_back("more");
    features.job.push_back({"more", 0, 1});
    refused(manifest_json(types), "types: more than");
    refused(manifest_json(features), "features.job: more than");
    refused(good() + std::string(max_manifest_size, ' '), "more than 1048576 bytes");
  }

  void texts_are_one_printable_line() {
    for (const char *text : {"a\\nb", "a\\u0000", "\\u001b[31m", "\xc3\xa4"})
      refused(with("nothing", text), "trained_on:");
    refused(with("nothing", std::string(4097, 'x')), "trained_on:");
    CPPUNIT_ASSERT_EQUAL(std::string(), problem(with("nothing", std::string(4096, 'x'))));
  }

  void a_refused_manifest_is_empty_and_the_problem_printable() {
    const ManifestReading reading = read_manifest(with("vgg16", "\\u001b]0;x\\u0007"));
    CPPUNIT_ASSERT(!reading.problem.empty());
    CPPUNIT_ASSERT_EQUAL(std::string(), reading.manifest.name);
    CPPUNIT_ASSERT(reading.manifest.types.empty());
    refused("{\"\x1b\n\": }", "not JSON");
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ManifestTest);

} // namespace harmony
