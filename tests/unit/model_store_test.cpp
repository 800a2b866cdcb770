#include "src/store/model_store.h"

#include "src/store/current_file.h"
#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

namespace harmony {

class ModelStoreTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ModelStoreTest);
  CPPUNIT_TEST(an_empty_store_has_nothing_to_load_and_says_what_to_do);
  CPPUNIT_TEST(what_is_in_use_is_read_with_its_very_bytes);
  CPPUNIT_TEST(names_that_are_no_versions_are_not_seen);
  CPPUNIT_TEST(a_flipped_bit_anywhere_is_noticed);
  CPPUNIT_TEST(a_truncated_empty_or_missing_file_is_named);
  CPPUNIT_TEST(a_model_of_2_gb_is_refused_unread);
  CPPUNIT_TEST(a_fifo_in_place_of_any_file_does_not_hang);
  CPPUNIT_TEST(links_and_writable_places_are_refused_at_every_level);
  CPPUNIT_TEST(a_strangers_files_are_refused_at_every_level);
  CPPUNIT_TEST(a_renamed_version_is_refused);
  CPPUNIT_TEST(a_schema_that_is_not_ours_is_refused_everywhere);
  CPPUNIT_TEST(current_of_rubbish_is_refused_and_mended_by_use);
  CPPUNIT_TEST(a_version_that_is_not_there_is_said);
  CPPUNIT_TEST(verify_lists_every_check_up_to_the_one_that_failed);
  CPPUNIT_TEST(a_directory_elsewhere_is_read_by_the_rules_of_the_store);
  CPPUNIT_TEST(a_listing_says_whether_anything_was_ever_taken_in_use);
  CPPUNIT_TEST(a_missing_card_is_told_by_verify_and_no_reason_not_to_load);
  CPPUNIT_TEST_SUITE_END();

  void an_empty_store_has_nothing_to_load_and_says_what_to_do() {
    Shop shop;
    shop.refused("models does not exist; publish a model with `harmony model add`");
    CPPUNIT_ASSERT(shop.store.read_current().none);
    shop.publish("x");
    shop.refused("CURRENT does not exist; take a version in use with `harmony model use`");
    CPPUNIT_ASSERT(shop.store.read_current().none);
    CPPUNIT_ASSERT_EQUAL(0, shop.store.list().in_use);
    CPPUNIT_ASSERT(!shop.store.rollback().problem.empty());
  }

  void a_directory_elsewhere_is_read_by_the_rules_of_the_store() {
    Shop shop;
    const auto refused = [&shop](const std::string &part) {
      const ModelReading reading = shop.store.read_directory(shop.source);
      CPPUNIT_ASSERT_MESSAGE(part + " / " + reading.problem, has(reading.problem, part));
      CPPUNIT_ASSERT(reading.model.empty() && !reading.none);
    };
    refused(shop.source + " does not exist");
    CPPUNIT_ASSERT(has(shop.store.entry_of_directory(shop.source).problem, shop.source + " does not exist"));
    make_model(shop.source, "a model");
    const ModelReading reading = shop.store.read_directory(shop.source);
    CPPUNIT_ASSERT_EQUAL(std::string(), reading.problem);
    CPPUNIT_ASSERT_EQUAL(std::string("a model"), reading.model);
    CPPUNIT_ASSERT_EQUAL(0, reading.version);
    CPPUNIT_ASSERT_EQUAL(std::string("harmony-test"), shop.store.entry_of_directory(shop.source).manifest.name);
    for (const std::string &path : {shop.source, shop.source + "/model.pt", shop.source + "/manifest.json"}) {
      const std::filesystem::perms modes = std::filesystem::status(path).permissions();
      chmod(path.c_str(), 0777);
      refused(path + " is writable by its group and by others");
      std::filesystem::permissions(path, modes);
    }
    write_text(shop.source + "/model.pt", "another");
    refused("model.pt is not the file that the manifest describes");
    std::filesystem::remove(shop.source + "/model.pt");
    refused(shop.source + "/model.pt does not exist");
  }

  void a_listing_says_whether_anything_was_ever_taken_in_use() {
    Shop shop;
    CPPUNIT_ASSERT(shop.store.list().none); // no store
    shop.publish("x");
    CPPUNIT_ASSERT(shop.store.list().none); // no CURRENT
    shop.use(1);
    CPPUNIT_ASSERT(!shop.store.list().none);
    write_text(shop.path + "/CURRENT", "rubbish");
    CPPUNIT_ASSERT(!shop.store.list().none);
  }

  void what_is_in_use_is_read_with_its_very_bytes() {
    Shop shop;
    const std::string bytes("\0\x1f\xff model", 9);
    shop.publish("old");
    shop.use(shop.publish(bytes));
    const ModelReading reading = shop.store.read_current();
    CPPUNIT_ASSERT_EQUAL(std::string(), reading.problem);
    CPPUNIT_ASSERT_EQUAL(2, reading.version);
    CPPUNIT_ASSERT(reading.model == bytes);
    CPPUNIT_ASSERT_EQUAL(sha256_hex(bytes), reading.manifest.sha256);
    CPPUNIT_ASSERT_EQUAL(std::string("old"), shop.store.read_version(1).model);
  }

  void names_that_are_no_versions_are_not_seen() {
    Shop shop(1);
    for (const char *name :
         {"0", "01", "-1", "+1", " 1", "1 ", "1.0", "0x1", "99999999999", "1000000000", "one", ".1"}) {
      CPPUNIT_ASSERT_MESSAGE(name, !version_of_name(name));
      std::filesystem::copy(shop.path + "/1", shop.path + "/" + name);
      write_text(shop.path + "/CURRENT", std::string(name) + "\n");
      shop.refused("CURRENT does not begin with a version's number");
    }
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, shop.store.list().versions.size());
    CPPUNIT_ASSERT(!version_of_name(""));
    CPPUNIT_ASSERT_EQUAL(999999999, version_of_name("999999999").value());
    for (const int version : {0, -1}) CPPUNIT_ASSERT(!shop.store.use(version).problem.empty());
  }

  void a_flipped_bit_anywhere_is_noticed() {
    Shop shop;
    const std::string bytes = "a model of some bytes";
    shop.use(shop.publish(bytes));
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string flipped = bytes;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
      write_text(shop.file("model.pt"), flipped);
      shop.refused("model.pt is not the file that the manifest describes");
    }
    write_text(shop.file("model.pt"), bytes);
    shop.good();
  }

  void a_truncated_empty_or_missing_file_is_named() {
    for (const std::string name : {"model.pt", "manifest.json"}) {
      Shop shop(1);
      shop.use(1);
      const std::string bytes = read_text(shop.file(name));
      write_text(shop.file(name), bytes.substr(0, bytes.size() - 3));
      shop.refused(shop.file(name));
      write_text(shop.file(name), bytes + "x");
      shop.refused(shop.file(name));
      write_text(shop.file(name), "");
      shop.refused(shop.file(name) + " is empty");
      std::filesystem::remove(shop.file(name));
      shop.refused(shop.file(name) + " does not exist");
      CPPUNIT_ASSERT(!shop.store.read_current().none);
    }
    Shop shop(1);
    shop.use(1);
    std::filesystem::remove_all(shop.path + "/1");
    shop.refused("CURRENT names version 1, which is not there; choose one with `harmony model use`");
  }

  void a_model_of_2_gb_is_refused_unread() {
    Shop shop(1);
    shop.use(1);
    CPPUNIT_ASSERT(truncate(shop.file("model.pt").c_str(), off_t{2} << 30) == 0);
    shop.refused("model.pt has 2147483648 bytes; at most 67108864 are read");
    CPPUNIT_ASSERT(truncate(shop.file("manifest.json").c_str(), off_t{2} << 30) == 0);
    shop.refused("manifest.json has 2147483648 bytes; at most 1048576 are read");
    CPPUNIT_ASSERT(truncate((shop.path + "/CURRENT").c_str(), off_t{2} << 30) == 0);
    shop.refused("CURRENT has 2147483648 bytes; at most 1024 are read");
  }

  void a_fifo_in_place_of_any_file_does_not_hang() {
    Shop shop(1);
    shop.use(1);
    for (const char *name : {"/1/model.pt", "/1/manifest.json", "/CURRENT"}) {
      const std::string path = shop.path + name;
      std::filesystem::remove(path);
      CPPUNIT_ASSERT(mkfifo(path.c_str(), 0600) == 0);
      shop.refused(path + " is not a regular file");
    }
    std::filesystem::remove(shop.path + "/.lock");
    CPPUNIT_ASSERT(mkfifo((shop.path + "/.lock").c_str(), 0600) == 0);
    make_model(shop.source, "x");
    CPPUNIT_ASSERT_EQUAL(shop.path + "/.lock is not a file of its own; remove it",
                         shop.store.add(shop.source).problem);
  }

  void links_and_writable_places_are_refused_at_every_level() {
    Shop shop(1);
    shop.use(1);
    for (const char *name : {"", "/1", "/CURRENT", "/1/manifest.json", "/1/model.pt"}) {
      const std::string path = shop.path + name, elsewhere = shop.place / "elsewhere";
      const std::filesystem::perms modes = std::filesystem::status(path).permissions();
      chmod(path.c_str(), 0775);
      shop.refused(path + " is writable by its group; chmod g-w " + path);
      std::filesystem::permissions(path, modes);
      std::filesystem::rename(path, elsewhere);
      std::filesystem::create_symlink(elsewhere, path);
      shop.refused(path + " is a symbolic link");
      if (std::string(name) != "/CURRENT") CPPUNIT_ASSERT(has(shop.store.use(1).problem, path + " is a symbolic link"));
      std::filesystem::remove(path);
      std::filesystem::rename(elsewhere, path);
      shop.good();
    }
    chmod(shop.path.c_str(), 0777);
    CPPUNIT_ASSERT(has(shop.store.add(shop.source).problem, "is writable by its group and by others"));
    CPPUNIT_ASSERT(has(shop.store.list().problem, "is writable by"));
  }

  void a_strangers_files_are_refused_at_every_level() {
    if (geteuid() != 0) return; // only root can give a file away
    Shop shop(1);
    shop.use(1);
    for (const char *name : {"", "/1", "/CURRENT", "/1/manifest.json", "/1/model.pt"}) {
      const std::string path = shop.path + name;
      CPPUNIT_ASSERT(chown(path.c_str(), 65534, 0) == 0);
      shop.refused(path + " belongs to uid 65534, allowed are root alone; chown root " + path);
      CPPUNIT_ASSERT(chown(path.c_str(), 0, 0) == 0);
      shop.good();
    }
  }

  void a_renamed_version_is_refused() {
    Shop shop(1);
    std::filesystem::rename(shop.path + "/1", shop.path + "/2");
    CPPUNIT_ASSERT(has(shop.store.use(2).problem, "/2/manifest.json is of version 1"));
    CPPUNIT_ASSERT(has(shop.store.list().versions.at(0).problem, "is of version 1"));
  }

  void a_schema_that_is_not_ours_is_refused_everywhere() {
    Shop shop(1);
    shop.use(1);
    ModelStore strict(shop.path, shop.place.trust(),
                      [](const Manifest &manifest) { return manifest.schema == 2 ? "" : "of schema 1, not 2"; });
    for (const std::string &problem :
         {strict.read_current().problem, strict.read_version(1).problem, strict.use(1).problem,
          strict.add(shop.source).problem, strict.verify_directory(shop.source).problem})
      CPPUNIT_ASSERT_MESSAGE(problem, has(problem, "/manifest.json: of schema 1, not 2"));
  }

  void current_of_rubbish_is_refused_and_mended_by_use() {
    Shop shop(2);
    std::string long_history;
    for (int i = 0; i < 18; ++i) long_history += "1\n";
    for (const std::string &text :
         {std::string("1"), std::string("\n"), std::string("x\n"), std::string("1\n\n"), std::string("1\nx\n"),
          std::string("1\n2"), std::string("1\r\n"), std::string("1 2\n"), std::string("1\0\n", 3),
          std::string("../1\n"), std::string("1/../1\n"), long_history, std::string(1000, '\xff')}) {
      write_text(shop.path + "/CURRENT", text);
      shop.refused("CURRENT does not begin with a version's number");
      CPPUNIT_ASSERT(!shop.store.rollback().problem.empty());
      CPPUNIT_ASSERT_EQUAL(std::size_t{2}, shop.store.list().versions.size());
      CPPUNIT_ASSERT(!shop.store.list().problem.empty());
      shop.use(2);
      shop.good();
      CPPUNIT_ASSERT_EQUAL(std::string("2\n"), shop.current());
    }
  }

  void a_version_that_is_not_there_is_said() {
    Shop shop(2);
    shop.use(2);
    CPPUNIT_ASSERT(has(shop.store.use(3).problem, "there is no version 3"));
    CPPUNIT_ASSERT(has(shop.store.read_version(3).problem, "`harmony model list` says which there are"));
    CPPUNIT_ASSERT_EQUAL(std::string("2\n"), shop.current());
  }

  void verify_lists_every_check_up_to_the_one_that_failed() {
    Shop shop(1);
    std::string names;
    for (const ModelCheck &check : shop.store.verify(1).checks) names += check.name + " ";
    CPPUNIT_ASSERT_EQUAL(std::string("directories manifest schema model digest card "), names);
    write_text(shop.file("model.pt"), "other");
    const ModelReading reading = shop.store.verify(1);
    CPPUNIT_ASSERT_EQUAL(std::string("digest"), reading.checks.back().name);
    CPPUNIT_ASSERT_EQUAL(reading.problem, reading.checks.back().problem);
    CPPUNIT_ASSERT_EQUAL(std::string(), shop.store.verify_directory(shop.source).problem);
  }

  void a_missing_card_is_told_by_verify_and_no_reason_not_to_load() {
    Shop shop(1);
    shop.use(1);
    std::filesystem::remove(shop.file("MODEL_CARD.md"));
    shop.good();
    CPPUNIT_ASSERT_EQUAL(shop.file("MODEL_CARD.md") + " does not exist", shop.store.verify(1).problem);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ModelStoreTest);

} // namespace harmony
