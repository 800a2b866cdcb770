#include "src/store/model_store.h"

#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <algorithm>
#include <sys/wait.h>
#include <thread>

namespace harmony {

class ModelPublishTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(ModelPublishTest);
  CPPUNIT_TEST(a_published_model_is_numbered_and_not_in_use);
  CPPUNIT_TEST(what_is_published_has_plain_modes_whatever_the_umask);
  CPPUNIT_TEST(a_model_that_is_not_sound_is_not_published);
  CPPUNIT_TEST(numbers_go_on_above_whatever_is_called_like_a_version);
  CPPUNIT_TEST(use_and_rollback_go_through_history);
  CPPUNIT_TEST(history_is_cut_at_its_length);
  CPPUNIT_TEST(an_unsound_version_is_never_taken_in_use);
  CPPUNIT_TEST(the_stamp_changes_with_current_alone);
  CPPUNIT_TEST(publishers_at_the_same_time_get_numbers_of_their_own);
  CPPUNIT_TEST(what_a_killed_publisher_left_is_not_seen_and_goes_away);
  CPPUNIT_TEST_SUITE_END();

  void a_published_model_is_numbered_and_not_in_use() {
    Shop shop;
    CPPUNIT_ASSERT_EQUAL(1, shop.publish("one"));
    CPPUNIT_ASSERT_EQUAL(2, shop.publish("two"));
    CPPUNIT_ASSERT(!std::filesystem::exists(shop.path + "/CURRENT"));
    const ModelListing listing = shop.store.list();
    CPPUNIT_ASSERT_EQUAL(std::size_t{2}, listing.versions.size());
    CPPUNIT_ASSERT_EQUAL(2, listing.versions[1].manifest.version);
    CPPUNIT_ASSERT_EQUAL(std::string("# A card\n"), read_text(shop.file("MODEL_CARD.md")));
    CPPUNIT_ASSERT_EQUAL(0, read_manifest(read_text(shop.source + "/manifest.json")).manifest.version);
  }

  void what_is_published_has_plain_modes_whatever_the_umask() {
    for (const mode_t mask : {0, 022, 077, 0777}) {
      Shop shop;
      make_model(shop.source, "x");
      const mode_t before = umask(mask);
      const StoreChange added = shop.store.add(shop.source), used = shop.store.use(1);
      umask(before);
      if (mask == 0777 && geteuid() != 0) continue; // shuts even the publisher out
      CPPUNIT_ASSERT_EQUAL(std::string(), added.problem + used.problem);
      for (const auto &[name, mode] : {std::pair("", 0755),
                                       {"/1", 0755},
                                       {"/1/model.pt", 0644},
                                       {"/1/manifest.json", 0644},
                                       {"/1/MODEL_CARD.md", 0644},
                                       {"/CURRENT", 0644}}) {
        struct stat status {};
        CPPUNIT_ASSERT(stat((shop.path + name).c_str(), &status) == 0);
        CPPUNIT_ASSERT_EQUAL_MESSAGE(name, static_cast<mode_t>(mode), status.st_mode & 07777);
      }
    }
  }

  void a_model_that_is_not_sound_is_not_published() {
    Shop shop(1);
    for (const char *name : {"model.pt", "manifest.json", "MODEL_CARD.md"}) {
      make_model(shop.source, "x");
      std::filesystem::remove(shop.source + "/" + name);
      CPPUNIT_ASSERT_EQUAL(shop.source + "/" + name + " does not exist", shop.store.add(shop.source).problem);
    }
    make_model(shop.source, "x");
    write_text(shop.source + "/model.pt", "y");
    CPPUNIT_ASSERT(has(shop.store.add(shop.source).problem, "is not the file that the manifest describes"));
    CPPUNIT_ASSERT(has(shop.store.add(shop.place / "nowhere").problem, "nowhere does not exist"));
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, shop.store.list().versions.size());
  }

  void numbers_go_on_above_whatever_is_called_like_a_version() {
    Shop shop(1);
    make_directory(shop.path + "/7");
    CPPUNIT_ASSERT_EQUAL(8, shop.publish("x"));
    write_text(shop.path + "/41", "a file");
    CPPUNIT_ASSERT_EQUAL(42, shop.publish("x"));
    make_directory(shop.path + "/999999999");
    make_model(shop.source, "x");
    CPPUNIT_ASSERT(has(shop.store.add(shop.source).problem, "no number left"));
  }

  void use_and_rollback_go_through_history() {
    Shop shop(3);
    for (const int version : {1, 3, 3, 2}) shop.use(version);
    CPPUNIT_ASSERT_EQUAL(std::string("2\n3\n1\n"), shop.current());
    const ModelListing listing = shop.store.list();
    CPPUNIT_ASSERT_EQUAL(2, listing.in_use);
    CPPUNIT_ASSERT(listing.before == (std::vector<int>{3, 1}));
    CPPUNIT_ASSERT_EQUAL(3, shop.store.rollback().version);
    CPPUNIT_ASSERT_EQUAL(1, shop.store.rollback().version);
    CPPUNIT_ASSERT_EQUAL(std::string("1\n"), shop.current());
    CPPUNIT_ASSERT(has(shop.store.rollback().problem, "knows of no version that was in use before 1"));
    CPPUNIT_ASSERT_EQUAL(1, shop.store.read_current().version);
  }

  void history_is_cut_at_its_length() {
    Shop shop(2);
    for (int i = 0; i < 40; ++i) shop.use(1 + i % 2);
    CPPUNIT_ASSERT_EQUAL(std::size_t{16}, shop.store.list().before.size());
    shop.good();
    for (int i = 0; i < 16; ++i) CPPUNIT_ASSERT_EQUAL(std::string(), shop.store.rollback().problem);
    CPPUNIT_ASSERT(!shop.store.rollback().problem.empty());
  }

  void an_unsound_version_is_never_taken_in_use() {
    Shop shop(3);
    shop.use(1);
    shop.use(2);
    write_text(shop.file("model.pt"), "other bytes");
    CPPUNIT_ASSERT(has(shop.store.rollback().problem, "nothing was changed"));
    CPPUNIT_ASSERT(!shop.store.use(1).problem.empty());
    CPPUNIT_ASSERT_EQUAL(std::string("2\n1\n"), shop.current());
    shop.good();
  }

  void the_stamp_changes_with_current_alone() {
    Shop shop;
    CPPUNIT_ASSERT(shop.store.stamp() == StoreStamp());
    shop.publish("x");
    shop.publish("y");
    CPPUNIT_ASSERT(shop.store.stamp() == StoreStamp());
    shop.use(1);
    const StoreStamp first = shop.store.stamp();
    CPPUNIT_ASSERT(first != StoreStamp());
    shop.publish("z");
    shop.use(1);
    CPPUNIT_ASSERT(shop.store.stamp() == first);
    shop.use(2);
    CPPUNIT_ASSERT(shop.store.stamp() != first);
  }

  void publishers_at_the_same_time_get_numbers_of_their_own() {
    Shop shop;
    constexpr int processes = 4, each = 5;
    make_model(shop.source, "x");
    for (int i = 0; i < processes; ++i)
      if (fork() == 0) {
        bool done = true;
        for (int n = 0; n < each; ++n) done = shop.store.add(shop.source).problem.empty() && done;
        _exit(done ? 0 : 1);
      }
    for (int i = 0; i < processes; ++i) {
      int status = -1;
      CPPUNIT_ASSERT(wait(&status) > 0);
      CPPUNIT_ASSERT_EQUAL(0, status);
    }
    std::vector<int> numbers(processes);
    std::vector<std::thread> threads;
    for (int i = 0; i < processes; ++i)
      threads.emplace_back([&shop, &numbers, i] {
        ModelStore store(shop.path, shop.place.trust(), {});
        numbers[i] = store.add(shop.source).version;
      });
    for (std::thread &thread : threads) thread.join();
    std::sort(numbers.begin(), numbers.end());
    CPPUNIT_ASSERT(numbers == (std::vector<int>{21, 22, 23, 24}));
    const ModelListing listing = shop.store.list();
    CPPUNIT_ASSERT_EQUAL(std::size_t{24}, listing.versions.size());
    for (const ModelEntry &entry : listing.versions)
      CPPUNIT_ASSERT_EQUAL(std::string(), shop.store.verify(entry.version).problem);
  }

  void what_a_killed_publisher_left_is_not_seen_and_goes_away() {
    Shop shop(1);
    make_directory(shop.path + "/.new-2");
    write_text(shop.path + "/.new-2/model.pt", "half");
    write_text(shop.path + "/.new-CURRENT", "2\n");
    std::filesystem::create_symlink(shop.source, shop.path + "/.new-link");
    CPPUNIT_ASSERT_EQUAL(std::size_t{1}, shop.store.list().versions.size());
    shop.use(1);
    for (const char *name : {"/.new-2", "/.new-CURRENT", "/.new-link"})
      CPPUNIT_ASSERT(!std::filesystem::exists(std::filesystem::symlink_status(shop.path + name)));
    CPPUNIT_ASSERT(std::filesystem::exists(shop.source + "/model.pt")); // what the link pointed to
    CPPUNIT_ASSERT_EQUAL(2, shop.publish("x"));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(ModelPublishTest);

} // namespace harmony
