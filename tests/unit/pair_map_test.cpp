#include "src/show/pair_map_svg.h"

#include <cppunit/extensions/HelperMacros.h>
#include <fmt/format.h>
#include <libxml/parser.h>

#include <limits>

namespace harmony {

class PairMapTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(PairMapTest);
  CPPUNIT_TEST(every_pair_has_a_cell);
  CPPUNIT_TEST(slower_is_darker_and_never_seen_is_hatched);
  CPPUNIT_TEST(any_number_of_types_is_a_picture);
  CPPUNIT_TEST(names_cannot_break_out_of_the_picture);
  CPPUNIT_TEST(times_are_short);
  CPPUNIT_TEST_SUITE_END();

  static std::size_t count(const std::string &text, const std::string &what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  }

  static void assert_sound(const std::string &svg) {
    xmlDoc *document = xmlReadMemory(svg.data(), static_cast<int>(svg.size()), "map.svg", nullptr,
                                     XML_PARSE_NONET | XML_PARSE_NOERROR);
    CPPUNIT_ASSERT_MESSAGE(svg, document);
    xmlFreeDoc(document);
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, count(svg, "http")); // the name space, which nobody fetches
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, count(svg, "<script"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{0}, count(svg, "nan"));
  }

  static PairCoverage coverage_of(std::size_t types) {
    PairCoverage coverage;
    for (std::size_t i = 0; i < types; ++i) coverage.types.push_back(fmt::format("type{}", i));
    return coverage;
  }

  void every_pair_has_a_cell() {
    PairCoverage coverage = coverage_of(3);
    coverage.pairs[{"type0", "type1"}] = {7200, 0.75};
    coverage.alone["type2"] = {90, std::nullopt};
    const std::string svg = pair_map_svg(coverage, "/data");
    assert_sound(svg);
    CPPUNIT_ASSERT_EQUAL(std::size_t{12 - 2}, count(svg, ": never seen</title>")); // three columns and alone
    CPPUNIT_ASSERT_EQUAL(std::size_t{1},
                         count(svg, "type0 beside type1: 2.0 h, median speed 0.75 of the fast ones of its kind"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, count(svg, "type2 alone: 2 min, speed not known"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, count(svg, "/data: 1 of 9 pairs seen, 3 types<"));
  }

  static std::string colour_of(double speed) {
    PairCoverage coverage = coverage_of(1);
    coverage.pairs[{"type0", "type0"}] = {7200, speed};
    const std::string svg = pair_map_svg(coverage, "d");
    assert_sound(svg);
    const std::size_t at = svg.rfind("fill='", svg.find("type0 beside type0"));
    return svg.substr(at + 6, 7);
  }

  void slower_is_darker_and_never_seen_is_hatched() {
    const auto lightness = [](double speed) {
      const std::string colour = colour_of(speed);
      return std::stoi(colour.substr(1, 2), nullptr, 16) + 2 * std::stoi(colour.substr(3, 2), nullptr, 16) +
             std::stoi(colour.substr(5, 2), nullptr, 16);
    };
    for (double speed = 0.55; speed < 1.01; speed += 0.05) CPPUNIT_ASSERT(lightness(speed) > lightness(speed - 0.05));
    CPPUNIT_ASSERT_EQUAL(colour_of(0.5), colour_of(0));
    CPPUNIT_ASSERT_EQUAL(colour_of(1), colour_of(2));
  }

  void any_number_of_types_is_a_picture() {
    for (const std::size_t types : {0, 1, 2, 12, 13, 25, 40}) {
      const std::string svg = pair_map_svg(coverage_of(types), "d");
      assert_sound(svg);
      CPPUNIT_ASSERT_EQUAL(types * (types + 1), count(svg, ": never seen</title>"));
    }
    const std::string svg = pair_map_svg(coverage_of(500), "d");
    CPPUNIT_ASSERT_EQUAL(most_drawn_types * (most_drawn_types + 1), count(svg, ": never seen</title>"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, count(svg, "500 types (drawn: the 40 seen for longest)"));
  }

  void names_cannot_break_out_of_the_picture() {
    PairCoverage coverage;
    coverage.types = {"</text><script>alert(1)</script>", "a'b\"c&d", std::string(10000, 'x'), "\x1b[31m\n\xff", ""};
    for (const std::string &type : coverage.types) {
      coverage.pairs[{type, type}] = {1e9, 1e-9};
      coverage.alone[type] = {0.1, 1e9};
    }
    assert_sound(pair_map_svg(coverage, "</desc><script>"));
    CPPUNIT_ASSERT(pair_map_svg(coverage, "d").size() < 50000);
  }

  void times_are_short() {
    CPPUNIT_ASSERT_EQUAL(std::string("40 s"), hours_text(40));
    CPPUNIT_ASSERT_EQUAL(std::string("12 min"), hours_text(720));
    CPPUNIT_ASSERT_EQUAL(std::string("3.4 h"), hours_text(3.4 * 3600));
    CPPUNIT_ASSERT_EQUAL(std::string("340 h"), hours_text(340 * 3600));
    CPPUNIT_ASSERT_EQUAL(std::string("12k h"), hours_text(12000 * 3600.0));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(PairMapTest);

} // namespace harmony
