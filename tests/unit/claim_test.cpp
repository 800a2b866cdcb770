#include "src/observe/claim.h"

#include <cppunit/extensions/HelperMacros.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <vector>

namespace harmony {

class ClaimTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ClaimTest);
  CPPUNIT_TEST(a_claim_reads_back_as_it_was);
  CPPUNIT_TEST(the_mark_is_that_of_the_manual);
  CPPUNIT_TEST(the_longest_mark_has_room);
  CPPUNIT_TEST(a_locale_with_a_decimal_comma_changes_nothing);
  CPPUNIT_TEST(a_text_without_a_mark_is_all_the_owners);
  CPPUNIT_TEST(the_owners_words_stay_whatever_is_reported);
  CPPUNIT_TEST(words_that_only_look_like_a_mark_stay);
  CPPUNIT_TEST(every_figure_has_its_range);
  CPPUNIT_TEST(hostile_marks_are_refused);
  CPPUNIT_TEST(a_problem_never_quotes_the_text);
  CPPUNIT_TEST(ten_megabytes_are_read_at_once);
  CPPUNIT_TEST(the_tail_of_a_text_is_as_good_as_the_whole);
  CPPUNIT_TEST_SUITE_END();

  static Claim full() {
    Claim claim;
    claim.epoch = 3.5;
    claim.of = 90;
    claim.samples_per_s = 812;
    claim.loss = 0.41;
    claim.at = 1763300000;
    return claim;
  }

  static void same(const Claim &a, const Claim &b) { CPPUNIT_ASSERT_EQUAL(claim_mark(a), claim_mark(b)); }

  static std::string problem_of(const std::string &text) {
    const ClaimField field = read_claim_field(text);
    CPPUNIT_ASSERT_MESSAGE(text.substr(0, 100), !field.claim);
    return field.problem;
  }

  // A mark it is, but not a sound one.
  static void refused(const std::string &body) {
    CPPUNIT_ASSERT_MESSAGE(body, !problem_of("words harmony[" + body + "]").empty());
    CPPUNIT_ASSERT_EQUAL(std::string("words"), std::string(read_claim_field("words harmony[" + body + "]").owner));
  }

  void a_claim_reads_back_as_it_was() {
    for (const double epoch : {0.0, 1.0, 0.1, 1.0 / 3, 89.999999999, 1e-7, 1e6}) {
      Claim claim = full();
      claim.epoch = epoch;
      claim.loss = -epoch;
      const std::string mark = claim_mark(claim);
      const ClaimField field = read_claim_field(mark);
      CPPUNIT_ASSERT_EQUAL(std::string(), field.problem);
      CPPUNIT_ASSERT(field.claim && field.owner.empty() && field.mark == mark);
      CPPUNIT_ASSERT_EQUAL(epoch, field.claim->epoch);
      CPPUNIT_ASSERT_EQUAL(-epoch, *field.claim->loss);
      same(claim, *field.claim);
    }
    Claim bare;
    bare.epoch = 2;
    bare.at = 5;
    const ClaimField field = read_claim_field(claim_mark(bare));
    CPPUNIT_ASSERT(field.claim && !field.claim->of && !field.claim->samples_per_s && !field.claim->loss);
    CPPUNIT_ASSERT_EQUAL(std::int64_t{5}, field.claim->at);
  }

  void the_mark_is_that_of_the_manual() {
    CPPUNIT_ASSERT_EQUAL(std::string("harmony[epoch=3.5;of=90;samples_per_s=812;loss=0.41;at=1763300000]"),
                         claim_mark(full()));
  }

  void the_longest_mark_has_room() {
    Claim claim;
    claim.epoch = 123456.78901234567;
    claim.of = 0.00012345678901234567;
    claim.samples_per_s = 1.2345678901234567e-100;
    claim.loss = -1.2345678901234567e-300;
    claim.at = 253402300799;
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(claim));
    CPPUNIT_ASSERT(claim_mark(claim).size() <= longest_mark);
    same(claim, *read_claim_field("x " + claim_mark(claim)).claim);
  }

  void a_locale_with_a_decimal_comma_changes_nothing() {
    const std::string before = claim_mark(full());
    for (const char *name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8"}) {
      std::setlocale(LC_ALL, name);
      const std::string mark = claim_mark(full());
      const bool read = read_claim_field(before).claim.has_value();
      std::setlocale(LC_ALL, "C");
      CPPUNIT_ASSERT_EQUAL(before, mark);
      CPPUNIT_ASSERT(read);
    }
  }

  void a_text_without_a_mark_is_all_the_owners() {
    for (const std::string text :
         {"", " ", "my words", "harmony", "harmony[", "]", "[]", "harmony]", "harmony[epoch=1;at=1",
          "harmony[epoch=1;at=1] ", "harmony[epoch=1;at=1]\n", "harmony[epoch=1;at=1] and more",
          "xharmony[epoch=1;at=1]", "\nharmony[epoch=1;at=1]", "Harmony[epoch=1;at=1]", "HARMONY[epoch=1;at=1]"}) {
      const ClaimField field = read_claim_field(text);
      CPPUNIT_ASSERT_EQUAL(text, std::string(field.owner));
      CPPUNIT_ASSERT_MESSAGE(text, !field.claim && field.mark.empty() && field.problem.empty());
    }
  }

  void the_owners_words_stay_whatever_is_reported() {
    for (const std::string owner :
         {"", "training for the paper", " ", "  two blanks  ", "tail ", "a\nb", "quote\" and ' and ; and \\",
          "<b>bold</b>", "\xc3\xa4\xe2\x82\xac", "harmony[epoch=1;at=1] of old", "harmony[", "]"}) {
      std::string text = owner;
      for (int epoch = 1; epoch <= 5; ++epoch) {
        Claim claim = full();
        claim.epoch = epoch;
        text = with_claim(text, claim);
        const ClaimField field = read_claim_field(text);
        CPPUNIT_ASSERT_EQUAL(owner, std::string(field.owner));
        CPPUNIT_ASSERT(field.claim);
        same(claim, *field.claim);
        CPPUNIT_ASSERT_EQUAL(owner.size() + (owner.empty() ? 0 : 1) + claim_mark(claim).size(), text.size());
      }
    }
  }

  void words_that_only_look_like_a_mark_stay() {
    for (const std::string owner : {"see harmony[foo]", "harmony[]", "harmony[epoch=-1;at=1]"}) {
      const std::string text = with_claim(with_claim(owner, full()), full());
      CPPUNIT_ASSERT_EQUAL(owner + " " + claim_mark(full()), text);
    }
  }

  void every_figure_has_its_range() {
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_with(full()));
    const double infinite = std::numeric_limits<double>::infinity();
    for (const double bad : {-1.0, 1e10, infinite, -infinite, std::nan("")}) {
      Claim claim = full();
      claim.epoch = bad;
      CPPUNIT_ASSERT_MESSAGE(problem_with(claim), problem_with(claim).find("epoch is ") == 0);
      CPPUNIT_ASSERT(problem_with(claim).find("allowed is 0 to 1") != std::string::npos);
      claim = full();
      claim.of = bad;
      CPPUNIT_ASSERT(problem_with(claim).find("of is ") == 0);
      claim = full();
      claim.samples_per_s = bad;
      CPPUNIT_ASSERT(problem_with(claim).find("samples_per_s is ") == 0);
      claim = full();
      claim.loss = bad;
      CPPUNIT_ASSERT_EQUAL(bad == -1.0, problem_with(claim).empty());
    }
    for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{253402300800}, std::int64_t{INT64_MAX}}) {
      Claim claim = full();
      claim.at = bad;
      CPPUNIT_ASSERT(problem_with(claim).find("at is ") == 0);
    }
  }

  void hostile_marks_are_refused() {
    const std::string at = ";at=1763300000";
    for (const std::string number : {"",
                                     " ",
                                     "-",
                                     "-1",
                                     "+3",
                                     " 3",
                                     "3 ",
                                     ".5",
                                     "nan",
                                     "NaN",
                                     "nan(1)",
                                     "-nan",
                                     "inf",
                                     "-inf",
                                     "infinity",
                                     "0x10",
                                     "1e999",
                                     "-1e999",
                                     "1e-999",
                                     "1e",
                                     "1e7",
                                     "1000000.1",
                                     "3,5",
                                     "3;",
                                     "three",
                                     "1_000",
                                     "1'000",
                                     "3\n",
                                     "\n3",
                                     "\xd9\xa3",
                                     "\xef\xbc\x93",
                                     "<b>3</b>",
                                     "${HOME}",
                                     "0b11",
                                     "3f",
                                     "3L",
                                     "%n",
                                     "99999999999999999999999999999999999"})
      refused("epoch=" + number + at);
    for (const std::string body : {"",
                                   "epoch=3",
                                   "at=1763300000",
                                   "epoch=3;epoch=4;at=1763300000",
                                   "epoch=3;at=1;at=2",
                                   "epoch=3;at=1;",
                                   ";epoch=3;at=1",
                                   "epoch=3;;at=1",
                                   "at=1;epoch=3",
                                   "epoch=3;loss=1;of=2;at=1",
                                   "epoch=3;of=;at=1",
                                   "epoch=3;of=nan;at=1",
                                   "epoch=3;of=-2;at=1",
                                   "epoch=3;samples_per_s=1e10;at=1",
                                   "epoch=3;loss=inf;at=1",
                                   "epoch=3;loss=-2e9;at=1",
                                   "epoch=3;at=",
                                   "epoch=3;at=-1",
                                   "epoch=3;at=1.5",
                                   "epoch=3;at=0x1",
                                   "epoch=3;at=1e3",
                                   "epoch=3;at= 1",
                                   "epoch=3;at=99999999999999999999",
                                   "epoch=3;at=253402300800",
                                   "epoch=3;user=root;at=1",
                                   "EPOCH=3;at=1",
                                   "epoch =3;at=1",
                                   "epoch:3;at=1",
                                   "epoch=3,at=1",
                                   "epoch=3\nat=1",
                                   "epoch=3;at=1\n",
                                   "epoch=3;at=1]",
                                   "epoch=3;at=1][",
                                   "[epoch=3;at=1]"})
      refused(body);
    refused(std::string("epoch=3\0;at=1", 13));
  }

  void a_problem_never_quotes_the_text() {
    for (const std::string body : {"<script>alert(1)</script>", "epoch=<script>;at=1", "epoch=3;<script>=1;at=1",
                                   "epoch=3\nslurmctld: fatal: <script>;at=1"})
      CPPUNIT_ASSERT(problem_of("harmony[" + body + "]").find("script") == std::string::npos);
    // Nested: the inner one has no blank before it, so there is none.
    CPPUNIT_ASSERT_EQUAL(std::string(), problem_of("harmony[harmony[epoch=3;at=1]]"));
    CPPUNIT_ASSERT(!problem_of("harmony[ harmony[epoch=3;at=1]]").empty());
    // Two in a row: the last one counts, and the first is the owner's.
    CPPUNIT_ASSERT_EQUAL(std::string("harmony[epoch=3;at=1]"),
                         std::string(read_claim_field("harmony[epoch=3;at=1] harmony[epoch=4;at=2]").owner));
  }

  void ten_megabytes_are_read_at_once() {
    const std::size_t size = 10 << 20;
    const std::string mark = claim_mark(full());
    for (const std::string filler : {"x", " ", "harmony[", "[", "]", "\n", "epoch=1;", "\xff"}) {
      std::string text;
      while (text.size() < size) text += filler;
      CPPUNIT_ASSERT(!read_claim_field(text).claim);
      CPPUNIT_ASSERT(!read_claim_field("harmony[" + text + "]").claim);
      CPPUNIT_ASSERT(!read_claim_field("harmony[epoch=" + text + ";at=1]").claim);
      CPPUNIT_ASSERT(read_claim_field(text + " " + mark).claim);
      CPPUNIT_ASSERT_EQUAL(text.size(), read_claim_field(text + " " + mark).owner.size());
    }
  }

  void the_tail_of_a_text_is_as_good_as_the_whole() {
    const auto in_tail = [](const std::string &text) {
      return read_claim_field(std::string_view(text).substr(text.size() - std::min<std::size_t>(text.size(), 300)));
    };
    const std::string mark = claim_mark(full());
    for (std::size_t before = 0; before < 700; ++before) {
      const std::string text = std::string(before, 'x') + " " + mark;
      CPPUNIT_ASSERT(in_tail(text).claim);
      CPPUNIT_ASSERT(in_tail(text).mark == mark);
      CPPUNIT_ASSERT(!in_tail(std::string(before + 1, 'x') + mark).claim);
      // A mark of every length, so that the tail begins anywhere in it.
      const std::string odd = "x harmony[epoch=1;at=" + std::string(before, '0') + "1]";
      CPPUNIT_ASSERT_EQUAL(read_claim_field(odd).problem, in_tail(odd).problem);
      CPPUNIT_ASSERT_EQUAL(read_claim_field(odd).claim.has_value(), in_tail(odd).claim.has_value());
    }
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ClaimTest);

} // namespace harmony
