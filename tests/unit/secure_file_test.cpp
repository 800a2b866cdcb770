#include "src/store/secure_file.h"

#include "tests/unit/store_fixture.h"

#include <cppunit/extensions/HelperMacros.h>

#include <atomic>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>

namespace harmony {

class SecureFileTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(SecureFileTest);
  CPPUNIT_TEST(a_sound_file_is_read_whole);
  CPPUNIT_TEST(only_absolute_paths_without_dots_are_walked);
  CPPUNIT_TEST(every_bit_of_a_files_mode_is_minded);
  CPPUNIT_TEST(every_bit_of_every_directory_on_the_way_is_minded);
  CPPUNIT_TEST(a_stranger_may_own_neither_file_nor_directory);
  CPPUNIT_TEST(slurm_user_may_own_both_and_others_not);
  CPPUNIT_TEST(a_link_is_followed_nowhere);
  CPPUNIT_TEST(a_link_above_the_file_is_followed_nowhere);
  CPPUNIT_TEST(tmp_is_no_place_for_models);
  CPPUNIT_TEST(what_is_missing_is_told_apart);
  CPPUNIT_TEST(a_fifo_does_not_hang_and_is_refused);
  CPPUNIT_TEST(only_regular_files_are_read);
  CPPUNIT_TEST(empty_and_large_files_are_refused_before_they_are_read);
  CPPUNIT_TEST(a_file_that_changes_while_it_is_read_is_refused);
  CPPUNIT_TEST(what_is_copied_may_belong_to_anybody);
  CPPUNIT_TEST_SUITE_END();

  static constexpr uid_t stranger = 65534;

  // place/a/b/c/file
  struct Tree {
    Place place;
    std::string top = place / "a", middle = place / "a/b", directory = place / "a/b/c", file = place / "a/b/c/file";

    Tree() {
      for (const std::string &each : {top, middle, directory}) make_directory(each);
      write_text(file, "some bytes");
    }

    FileReading read(const Trust &trust, std::size_t most = 100) const {
      const OpenDirectory open = open_directory(directory, trust);
      if (!open.problem.empty()) return {"", open.problem, open.missing};
      return read_file_in(open, "file", most, trust);
    }
    FileReading read() const { return read(place.trust()); }
    void good() const { CPPUNIT_ASSERT_EQUAL(std::string(), read().problem); }
    void refused(const std::string &problem) const {
      CPPUNIT_ASSERT_EQUAL(problem, read().problem);
      CPPUNIT_ASSERT_EQUAL(std::string(), read().bytes);
    }
  };

  void a_sound_file_is_read_whole() {
    const Tree tree;
    CPPUNIT_ASSERT_EQUAL(std::string("some bytes"), tree.read().bytes);
    tree.good();
    CPPUNIT_ASSERT_EQUAL(std::string(),
                         open_directory("//" + tree.place.path() + "/./a//b/c/", tree.place.trust()).problem);
    std::string large(3000000, 'x');
    large[1234567] = '\0';
    write_text(tree.file, large);
    CPPUNIT_ASSERT(tree.read(tree.place.trust(), large.size()).bytes == large);
  }

  void only_absolute_paths_without_dots_are_walked() {
    const Tree tree;
    CPPUNIT_ASSERT(has(open_directory("", {}).problem, "not an absolute path"));
    CPPUNIT_ASSERT(has(open_directory("models", {}).problem, "not an absolute path"));
    CPPUNIT_ASSERT(has(open_directory(tree.top + "/../a", tree.place.trust()).problem, "\"..\""));
    CPPUNIT_ASSERT(has(open_directory(tree.top + std::string("\0/b", 3), tree.place.trust()).problem, "NUL"));
    CPPUNIT_ASSERT(has(open_directory("/etc", tree.place.trust()).problem, "is not below"));
    CPPUNIT_ASSERT(has(open_directory(tree.place.path() + "x", tree.place.trust()).problem, "is not below"));
  }

  void every_bit_of_a_files_mode_is_minded() {
    const Tree tree;
    for (const mode_t bit : {04000, 02000, 01000, 0400, 0200, 0100, 040, 020, 010, 04, 02, 01}) {
      chmod(tree.file.c_str(), 0600 | bit);
      if (bit == 020)
        tree.refused(tree.file + " is writable by its group; chmod g-w " + tree.file);
      else if (bit == 02)
        tree.refused(tree.file + " is writable by others; chmod o-w " + tree.file);
      else
        tree.good();
    }
    chmod(tree.file.c_str(), 0666);
    tree.refused(tree.file + " is writable by its group and by others; chmod go-w " + tree.file);
  }

  void every_bit_of_every_directory_on_the_way_is_minded() {
    const Tree tree;
    for (const std::string &each : {tree.place.path(), tree.top, tree.middle, tree.directory}) {
      for (const mode_t bit : {04000, 02000, 01000, 040, 020, 010, 04, 02, 01}) {
        chmod(each.c_str(), 0700 | bit);
        if (bit == 020)
          tree.refused(each + " is writable by its group; chmod g-w " + each);
        else if (bit == 02)
          tree.refused(each + " is writable by others; chmod o-w " + each);
        else
          tree.good();
      }
      chmod(each.c_str(), 0755);
    }
    tree.good();
  }

  void a_stranger_may_own_neither_file_nor_directory() {
    if (geteuid() != 0) return; // only root can give a file away
    const Tree tree;
    for (const std::string &each : {tree.place.path(), tree.top, tree.middle, tree.directory, tree.file}) {
      CPPUNIT_ASSERT(chown(each.c_str(), stranger, 0) == 0);
      tree.refused(each + " belongs to uid 65534, allowed are root alone; chown root " + each);
      CPPUNIT_ASSERT(chown(each.c_str(), 0, stranger) == 0); // a group that may not write does not matter
      tree.good();
    }
  }

  void slurm_user_may_own_both_and_others_not() {
    if (geteuid() != 0) return;
    const Tree tree;
    for (const std::string &each : {tree.top, tree.file}) CPPUNIT_ASSERT(chown(each.c_str(), stranger, 0) == 0);
    Trust trust = tree.place.trust();
    trust.owner = stranger;
    CPPUNIT_ASSERT_EQUAL(std::string(), tree.read(trust).problem);
    trust.owner = stranger - 1;
    CPPUNIT_ASSERT_EQUAL(tree.top + " belongs to uid 65534, allowed are root and uid 65533; chown root " + tree.top,
                         tree.read(trust).problem);
  }

  void a_link_is_followed_nowhere() {
    const Tree tree;
    const std::string real = tree.place / "real";
    for (const std::string &each : {tree.file, tree.directory, tree.middle, tree.top}) {
      std::filesystem::rename(each, real);
      std::filesystem::create_symlink(real, each);
      CPPUNIT_ASSERT_MESSAGE(tree.read().problem, has(tree.read().problem, each + " is a symbolic link"));
      std::filesystem::remove(each);
      std::filesystem::create_symlink(tree.place / "nowhere", each);
      CPPUNIT_ASSERT_MESSAGE(tree.read().problem, has(tree.read().problem, each + " is a symbolic link"));
      std::filesystem::remove(each);
      std::filesystem::rename(real, each);
      tree.good();
    }
  }

  void a_link_above_the_file_is_followed_nowhere() {
    const Tree tree;
    std::filesystem::create_symlink(tree.middle, tree.place / "short");
    CPPUNIT_ASSERT(
        has(open_directory(tree.place / "short/c", tree.place.trust()).problem, "/short is a symbolic link"));
  }

  void tmp_is_no_place_for_models() {
    const Tree tree;
    Trust from_the_root = tree.place.trust();
    from_the_root.root = "/";
    CPPUNIT_ASSERT(has(tree.read(from_the_root).problem, "/tmp is for everybody's files"));
    chmod(tree.middle.c_str(), 01777);
    CPPUNIT_ASSERT(has(tree.read().problem, tree.middle + " is for everybody's files"));
  }

  void what_is_missing_is_told_apart() {
    const Tree tree;
    std::filesystem::remove(tree.file);
    tree.refused(tree.file + " does not exist");
    CPPUNIT_ASSERT(tree.read().missing);
    std::filesystem::remove_all(tree.middle);
    tree.refused(tree.middle + " does not exist");
    CPPUNIT_ASSERT(tree.read().missing);
    write_text(tree.middle, "x");
    tree.refused(tree.middle + " is not a directory");
    CPPUNIT_ASSERT(!tree.read().missing);
  }

  void a_fifo_does_not_hang_and_is_refused() {
    const Tree tree;
    std::filesystem::remove(tree.file);
    CPPUNIT_ASSERT(mkfifo(tree.file.c_str(), 0600) == 0);
    tree.refused(tree.file + " is not a regular file");
  }

  void only_regular_files_are_read() {
    const Tree tree;
    std::filesystem::remove(tree.file);
    make_directory(tree.file);
    tree.refused(tree.file + " is not a regular file");
    std::filesystem::remove(tree.file);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    CPPUNIT_ASSERT(tree.file.size() < sizeof name.sun_path);
    tree.file.copy(name.sun_path, tree.file.size());
    const Descriptor socket_file(socket(AF_UNIX, SOCK_STREAM, 0));
    CPPUNIT_ASSERT(bind(socket_file.get(), reinterpret_cast<sockaddr *>(&name), sizeof name) == 0);
    CPPUNIT_ASSERT(has(tree.read().problem, tree.file + " cannot be opened"));
  }

  void empty_and_large_files_are_refused_before_they_are_read() {
    const Tree tree;
    CPPUNIT_ASSERT_EQUAL(std::string(), tree.read(tree.place.trust(), 10).problem);
    CPPUNIT_ASSERT_EQUAL(tree.file + " has 10 bytes; at most 9 are read", tree.read(tree.place.trust(), 9).problem);
    CPPUNIT_ASSERT(truncate(tree.file.c_str(), off_t{2} << 30) == 0);
    tree.refused(tree.file + " has 2147483648 bytes; at most 100 are read");
    write_text(tree.file, "");
    tree.refused(tree.file + " is empty");
  }

  // It is read many times while its size goes up and down: each time it is one of the two, or refused.
  void a_file_that_changes_while_it_is_read_is_refused() {
    const Tree tree;
    const std::size_t small = 3 << 20, large = 4 << 20;
    CPPUNIT_ASSERT(truncate(tree.file.c_str(), small) == 0);
    std::atomic<bool> done{false};
    std::thread writer([&] {
      for (bool grow = true; !done; grow = !grow)
        if (truncate(tree.file.c_str(), static_cast<off_t>(grow ? large : small)) != 0) return;
    });
    int refused = 0;
    for (int i = 0; i < 200; ++i) {
      const FileReading reading = tree.read(tree.place.trust(), large);
      if (reading.problem.empty())
        CPPUNIT_ASSERT(reading.bytes.size() == small || reading.bytes.size() == large);
      else
        CPPUNIT_ASSERT_EQUAL(tree.file + " changed while it was read; try again when nobody writes it",
                             reading.problem);
      refused += !reading.problem.empty();
    }
    done = true;
    writer.join();
    CPPUNIT_ASSERT(refused > 0);
  }

  void what_is_copied_may_belong_to_anybody() {
    const Tree tree;
    Trust anybody;
    anybody.anybody = true;
    chmod(tree.file.c_str(), 0666);
    chmod(tree.top.c_str(), 0777);
    CPPUNIT_ASSERT_EQUAL(std::string("some bytes"), tree.read(anybody).bytes);
    std::filesystem::create_symlink(tree.middle, tree.place / "short");
    CPPUNIT_ASSERT_EQUAL(std::string(), open_directory(tree.place / "short/c", anybody).problem);
    std::filesystem::rename(tree.file, tree.file + "2");
    std::filesystem::create_symlink(tree.file + "2", tree.file); // but the file itself is a file
    CPPUNIT_ASSERT(has(tree.read(anybody).problem, "symbolic link"));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(SecureFileTest);

} // namespace harmony
