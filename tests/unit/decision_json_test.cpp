#include "src/show/decision_json.h"
#include "src/show/decision_text.h"

#include <cppunit/extensions/HelperMacros.h>
#include <json/json.h>

#include <cmath>
#include <limits>
#include <random>
#include <sstream>

namespace harmony {
namespace {

using Random = std::mt19937_64;

int up_to(Random &random, int most) { return std::uniform_int_distribution<int>(0, most)(random); }

std::string any_text(Random &random) {
  std::string text;
  for (int left = up_to(random, 20); left > 0; --left) text += static_cast<char>(' ' + up_to(random, '~' - ' '));
  return text;
}

Bits any_bits(Random &random, int limit) {
  Bits bits(1 + up_to(random, limit - 1));
  for (int left = up_to(random, 12); left > 0; --left) bits.set(up_to(random, bits.size() - 1));
  return bits;
}

template <class Make> auto several(Random &random, Make make) {
  std::vector<decltype(make())> items;
  for (int left = up_to(random, 5); left > 0; --left) items.push_back(make());
  return items;
}

DecisionRecord any_record(Random &random) {
  DecisionRecord record;
  Decision &decision = record.decision;
  decision.job = static_cast<std::uint32_t>(random());
  decision.user = static_cast<std::uint32_t>(random());
  decision.type = any_text(random);
  decision.policy = any_text(random);
  decision.round = random();
  decision.decided = up_to(random, 2000000000);
  decision.verdict = static_cast<Verdict>(up_to(random, 3));
  decision.reason = any_text(random);
  decision.plan.placements = several(random, [&] {
    return Placement{
        up_to(random, 3),      -1, any_text(random), up_to(random, 99), up_to(random, 9), any_bits(random, 8192),
        any_bits(random, 1024)};
  });
  const auto real = [&] { return std::uniform_real_distribution<double>(-5, 5)(random); };
  decision.candidates = several(random, [&] { return Candidate{any_text(random), real(), any_text(random)}; });
  decision.masked = several(random, [&] { return Masked{any_text(random), up_to(random, 16000)}; });
  decision.neighbours = several(random, [&] { return any_text(random); });
  decision.predicted_speed = real();
  decision.wait_until = up_to(random, 2000000000);
  record.decisions = up_to(random, 100);
  record.first_decided = up_to(random, 2000000000);
  record.outcome = static_cast<Outcome>(up_to(random, 3));
  record.outcome_at = up_to(random, 2000000000);
  record.outcome_text = any_text(random);
  record.actual = several(random, [&] {
    return ActualNode{any_text(random), {1, 2, 3, 5 + up_to(random, 5)}, up_to(random, 64), up_to(random, 8)};
  });
  record.same_as_plan = up_to(random, 1) == 1;
  return record;
}

DecisionRecord example() {
  DecisionRecord record;
  record.decision.job = 17;
  record.decision.verdict = Verdict::place;
  Placement placement;
  placement.node_name = "n1";
  placement.workers = 2;
  placement.cores = Bits(32);
  for (int core : {0, 1, 2, 3, 8}) placement.cores.set(core);
  placement.gpus = Bits(8);
  for (int gpu : {0, 2, 3}) placement.gpus.set(gpu);
  record.decision.plan.placements = {placement};
  record.decision.candidates = {{"n1 2+0", 0.5, "fewest nodes"}};
  record.decision.masked = {{"busy GPUs", 12}};
  record.decision.neighbours = {"n1: job 3 (vgg16) 1+0"};
  record.actual = {{"n1", {2, 3, 0}, 5, 2}};
  return record;
}

Json::Value parsed(const std::string &text) {
  Json::Value root;
  std::istringstream(text) >> root;
  return root;
}

// Whether the example is still read after `change` was made to its JSON.
template <class Change> bool read_after(Change change) {
  Json::Value root = parsed(decision_json(example()));
  change(root);
  return decision_of_json(Json::writeString(Json::StreamWriterBuilder(), root)).has_value();
}

} // namespace

class DecisionJsonTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(DecisionJsonTest);
  CPPUNIT_TEST(keys_are_the_words_of_the_design);
  CPPUNIT_TEST(whatever_is_written_is_read_back_the_same);
  CPPUNIT_TEST(every_field_comes_back);
  CPPUNIT_TEST(it_is_one_line_of_printable_ascii_whatever_the_texts);
  CPPUNIT_TEST(numbers_that_are_not_finite_come_back_as_unknown);
  CPPUNIT_TEST(long_texts_are_cut_and_still_read);
  CPPUNIT_TEST(every_cut_of_the_document_is_refused);
  CPPUNIT_TEST(every_missing_key_is_refused);
  CPPUNIT_TEST(every_other_type_is_refused);
  CPPUNIT_TEST(keys_of_later_versions_are_passed_over);
  CPPUNIT_TEST(bad_values_are_refused);
  CPPUNIT_TEST(lists_are_ascending_and_within_limits);
  CPPUNIT_TEST(documents_made_to_harm_are_refused);
  CPPUNIT_TEST(a_flipped_byte_never_throws);
  CPPUNIT_TEST(an_answer_is_a_decision_or_a_problem);
  CPPUNIT_TEST_SUITE_END();

  void keys_are_the_words_of_the_design() {
    const Json::Value root = parsed(decision_json(example()));
    const std::vector<std::string> expected = {
        "actual",     "candidates", "decided",      "decisions",    "first_decided", "job",     "masked",
        "neighbours", "outcome",    "outcome_at",   "outcome_text", "plan",          "policy",  "predicted_speed",
        "reason",     "round",      "same_as_plan", "type",         "user",          "verdict", "wait_until"};
    CPPUNIT_ASSERT(root.getMemberNames() == expected);
    CPPUNIT_ASSERT_EQUAL(std::string("place"), root["verdict"].asString());
    CPPUNIT_ASSERT_EQUAL(std::string("0-3,8"), root["plan"][0]["cores"].asString());
    CPPUNIT_ASSERT_EQUAL(std::string("0,2-3"), root["plan"][0]["gpus"].asString());
    CPPUNIT_ASSERT_EQUAL(std::string("0,2-3"), root["actual"][0]["gpus"].asString());
    CPPUNIT_ASSERT_EQUAL(12, root["masked"][0]["nodes"].asInt());
  }

  void whatever_is_written_is_read_back_the_same() {
    Random random(20250101);
    for (int i = 0; i < 500; ++i) {
      const std::string text = decision_json(any_record(random));
      const std::optional<DecisionRecord> read = decision_of_json(text);
      CPPUNIT_ASSERT_MESSAGE(text, read.has_value());
      CPPUNIT_ASSERT_EQUAL(text, decision_json(*read));
    }
  }

  // What is written wrongly twice would be read back the same too.
  void every_field_comes_back() {
    Random random(7);
    for (int i = 0; i < 100; ++i) {
      const DecisionRecord before = any_record(random), after = decision_of_json(decision_json(before)).value();
      const Decision &one = before.decision, &other = after.decision;
      CPPUNIT_ASSERT(one.job == other.job && one.user == other.user && one.type == other.type);
      CPPUNIT_ASSERT(one.policy == other.policy && one.round == other.round && one.decided == other.decided);
      CPPUNIT_ASSERT(one.verdict == other.verdict && one.reason == other.reason && one.neighbours == other.neighbours);
      CPPUNIT_ASSERT(one.predicted_speed == other.predicted_speed && one.wait_until == other.wait_until);
      CPPUNIT_ASSERT(before.decisions == after.decisions && before.first_decided == after.first_decided);
      CPPUNIT_ASSERT(before.outcome == after.outcome && before.outcome_at == after.outcome_at);
      CPPUNIT_ASSERT(before.outcome_text == after.outcome_text && before.same_as_plan == after.same_as_plan);
      CPPUNIT_ASSERT_EQUAL(one.plan.placements.size(), other.plan.placements.size());
      for (std::size_t p = 0; p < one.plan.placements.size(); ++p) {
        const Placement &a = one.plan.placements[p], &b = other.plan.placements[p];
        CPPUNIT_ASSERT(a.component == b.component && a.node_name == b.node_name && a.workers == b.workers);
        CPPUNIT_ASSERT(a.ps == b.ps && a.cores.contains(b.cores) && b.cores.contains(a.cores));
        CPPUNIT_ASSERT(a.gpus.contains(b.gpus) && b.gpus.contains(a.gpus) && b.node == -1);
      }
      CPPUNIT_ASSERT_EQUAL(one.candidates.size(), other.candidates.size());
      for (std::size_t c = 0; c < one.candidates.size(); ++c)
        CPPUNIT_ASSERT(one.candidates[c].score == other.candidates[c].score &&
                       one.candidates[c].nodes == other.candidates[c].nodes &&
                       one.candidates[c].why == other.candidates[c].why);
      CPPUNIT_ASSERT_EQUAL(before.actual.size(), after.actual.size());
      for (std::size_t a = 0; a < before.actual.size(); ++a)
        CPPUNIT_ASSERT(before.actual[a].node == after.actual[a].node && before.actual[a].gpus == after.actual[a].gpus &&
                       before.actual[a].cpus == after.actual[a].cpus &&
                       before.actual[a].tasks == after.actual[a].tasks);
    }
  }

  void it_is_one_line_of_printable_ascii_whatever_the_texts() {
    DecisionRecord record = example();
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    record.decision.type = record.decision.policy = record.decision.reason = record.outcome_text = all;
    record.decision.plan.placements[0].node_name = record.actual[0].node = all;
    record.decision.neighbours = {all};
    const std::string text = decision_json(record);
    for (char c : text) CPPUNIT_ASSERT(c >= ' ' && c <= '~');
    CPPUNIT_ASSERT(decision_of_json(text).has_value());
  }

  void numbers_that_are_not_finite_come_back_as_unknown() {
    for (double odd :
         {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
      DecisionRecord record = example();
      record.decision.predicted_speed = record.decision.candidates[0].score = odd;
      const DecisionRecord read = decision_of_json(decision_json(record)).value();
      CPPUNIT_ASSERT(std::isnan(read.decision.predicted_speed) && std::isnan(read.decision.candidates[0].score));
    }
  }

  void long_texts_are_cut_and_still_read() {
    DecisionRecord record = example();
    record.decision.candidates[0].nodes = std::string(1 << 20, 'n');
    const std::optional<DecisionRecord> read = decision_of_json(decision_json(record));
    CPPUNIT_ASSERT(read && read->decision.candidates[0].nodes.size() < 100000);
  }

  void every_cut_of_the_document_is_refused() {
    const std::string text = decision_json(example());
    for (std::size_t size = 0; size < text.size(); ++size) CPPUNIT_ASSERT(!decision_of_json(text.substr(0, size)));
    CPPUNIT_ASSERT(decision_of_json(text));
    CPPUNIT_ASSERT(!decision_of_json(text + "{}"));
  }

  void every_missing_key_is_refused() {
    const Json::Value root = parsed(decision_json(example()));
    for (const std::string &key : root.getMemberNames())
      CPPUNIT_ASSERT_MESSAGE(key, !read_after([&](Json::Value &value) { value.removeMember(key); }));
    for (const char *part : {"plan", "candidates", "masked", "actual"})
      for (const std::string &key : root[part][0].getMemberNames())
        CPPUNIT_ASSERT_MESSAGE(key, !read_after([&](Json::Value &value) { value[part][0].removeMember(key); }));
  }

  void every_other_type_is_refused() {
    Json::Value object(Json::objectValue), array(Json::arrayValue);
    array.append(1);
    const Json::Value root = parsed(decision_json(example()));
    for (const std::string &key : root.getMemberNames())
      for (const Json::Value &wrong :
           {Json::Value("1 "), Json::Value(-1), Json::Value(1.5), Json::Value(true), object, array}) {
        const bool number = key == "predicted_speed" && wrong.isDouble();
        const bool same = wrong.type() == root[key].type() && wrong.isBool();
        const bool text = wrong.isString() && root[key].isString() && key != "verdict" && key != "outcome";
        if (!number && !same && !text)
          CPPUNIT_ASSERT_MESSAGE(key, !read_after([&](Json::Value &value) { value[key] = wrong; }));
      }
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["job"] = 17.0; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["plan"][0] = "n1"; }));
  }

  void keys_of_later_versions_are_passed_over() {
    CPPUNIT_ASSERT(read_after([](Json::Value &value) { value["later"]["more"] = 1; }));
  }

  void bad_values_are_refused() {
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["verdict"] = "perhaps"; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["outcome"] = ""; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["job"] = Json::UInt64{1} << 32; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["decided"] = Json::Int64{1} << 60; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["wait_until"] = Json::UInt64{1} << 63; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["reason"] = "\x1b[2J"; }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["reason"] = std::string("a\0b", 3); }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["reason"] = std::string(1 << 20, 'a'); }));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) {
      value["plan"][0]["workers"] = value["plan"][0]["ps"] = std::numeric_limits<int>::max();
    }));
  }

  void lists_are_ascending_and_within_limits() {
    const auto cores = [](const char *list) {
      return read_after([list](Json::Value &value) { value["plan"][0]["cores"] = list; });
    };
    for (const char *good : {"", "0", "0-0", "0,1", "5-8191"}) CPPUNIT_ASSERT_MESSAGE(good, cores(good));
    for (const char *bad : {",",   "0,",    ",0",   "0-",    "-0",   "-1",     "1-0",          "1,1",
                            "1,0", "0-3,2", "0--3", "0-1-2", "8192", "0-8192", "0-4294967296", "99999999999999999999",
                            "0 ",  " 0",    "0x1",  "a",     "1.5"})
      CPPUNIT_ASSERT_MESSAGE(bad, !cores(bad));
    CPPUNIT_ASSERT(!read_after([](Json::Value &value) { value["actual"][0]["gpus"] = "0-1024"; }));
    CPPUNIT_ASSERT_EQUAL(std::string("0-2,4"), number_list(std::vector<int>{4, 0, 2, 1, 1}));
  }

  void documents_made_to_harm_are_refused() {
    const std::string text = decision_json(example());
    std::string rows = "[]";
    for (int i = 0; i < 70000; ++i) rows += ",[]";
    for (const std::string &bad :
         {std::string(100000, '['), std::string(100000, '{'), std::string("null"), std::string("[]"), std::string("{}"),
          std::string("\"\\u0000\""), std::string("\xff\xfe"), std::string(100, '\0'), std::string("1e999999999"),
          "/**/" + text, "{\"job\":17," + text.substr(1), "[" + rows + "]", text + std::string(17 << 20, ' ')})
      CPPUNIT_ASSERT_MESSAGE(bad.substr(0, 40), !decision_of_json(bad));
    std::string many = text;
    many.replace(
        many.find("[\"n1: job 3"), std::string("[").size(), "[" + [] {
          std::string items;
          for (int i = 0; i < 70000; ++i) items += "\"\",";
          return items;
        }());
    CPPUNIT_ASSERT(!decision_of_json(many));
  }

  void a_flipped_byte_never_throws() {
    Random random(3);
    const std::string text = decision_json(example());
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
      std::string other = text;
      for (int flips = 1 + up_to(random, 3); flips > 0; --flips)
        other[static_cast<std::size_t>(up_to(random, static_cast<int>(other.size()) - 1))] =
            static_cast<char>(random());
      const std::optional<DecisionRecord> read = decision_of_json(other);
      refused += !read;
      if (read) CPPUNIT_ASSERT(decision_of_json(decision_json(*read)) && !decision_text(*read).empty());
    }
    CPPUNIT_ASSERT(refused > 1500);
  }

  void an_answer_is_a_decision_or_a_problem() {
    ExplainAnswer answer;
    answer.decision = example();
    const std::string text = explain_answer(answer);
    CPPUNIT_ASSERT_EQUAL("{\"decision\":" + decision_json(example()) + "}", text);
    CPPUNIT_ASSERT(read_explain_answer(text).decision && read_explain_answer(text).problem.empty());

    const ExplainAnswer refused = read_explain_answer("{\"problem\": \"not your job\"}");
    CPPUNIT_ASSERT(!refused.decision && refused.problem == "not your job" && !refused.unknown);
    answer = {std::nullopt, "nothing was decided", true};
    CPPUNIT_ASSERT(read_explain_answer(explain_answer(answer)).unknown);
    for (const char *bad : {"", "{}", "[]", "17", "{\"problem\": 17}", "{\"problem\": \"\"}", "{\"decision\": {}}",
                            "{\"decision\": null}", "{\"problem\": \"\\u001b[2J\"}"})
      CPPUNIT_ASSERT_EQUAL_MESSAGE(bad, std::string("the engine's answer cannot be read"),
                                   read_explain_answer(bad).problem);
    CPPUNIT_ASSERT(!read_explain_answer(std::string(100000, '[')).problem.empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(DecisionJsonTest);

} // namespace harmony
