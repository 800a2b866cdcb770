#include "src/record/user_words.h"

#include <cppunit/extensions/HelperMacros.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace harmony {

class UserWordsTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(UserWordsTest);
  CPPUNIT_TEST(a_user_has_the_same_word_for_ever_and_another_one_has_another);
  CPPUNIT_TEST(the_word_depends_on_a_secret_that_nobody_else_reads);
  CPPUNIT_TEST(without_a_secret_users_are_left_out);
  CPPUNIT_TEST(names_are_told_only_if_asked_for);
  CPPUNIT_TEST_SUITE_END();

  std::string directory_;

public:
  void setUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "harmony-users-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  void tearDown() override { std::filesystem::remove_all(directory_); }

private:
  std::string word(uid_t user) { return UserWords().of(user, DatasetUsers::hash, directory_); }

  void a_user_has_the_same_word_for_ever_and_another_one_has_another() {
    const std::string first = word(1000);
    CPPUNIT_ASSERT_EQUAL(std::size_t{32}, first.size());
    CPPUNIT_ASSERT_EQUAL(first, word(1000));
    CPPUNIT_ASSERT(first != word(1001));
    CPPUNIT_ASSERT(std::string::npos == first.find_first_not_of("0123456789abcdef"));
  }

  void the_word_depends_on_a_secret_that_nobody_else_reads() {
    const std::string first = word(1000);
    struct stat status {};
    const std::string path = directory_ + "/" + users_secret_file;
    CPPUNIT_ASSERT_EQUAL(0, stat(path.c_str(), &status));
    CPPUNIT_ASSERT_EQUAL(0600u, status.st_mode & 07777);
    std::filesystem::remove(path);
    CPPUNIT_ASSERT(first != word(1000));
    CPPUNIT_ASSERT_EQUAL(std::ptrdiff_t{1}, std::distance(std::filesystem::directory_iterator(directory_),
                                                          std::filesystem::directory_iterator()));
  }

  void without_a_secret_users_are_left_out() {
    CPPUNIT_ASSERT_EQUAL(std::string(), UserWords().of(1000, DatasetUsers::hash, directory_ + "/nowhere"));
    std::ofstream(directory_ + "/" + users_secret_file) << "short";
    CPPUNIT_ASSERT_EQUAL(std::string(), word(1000));
  }

  void names_are_told_only_if_asked_for() {
    CPPUNIT_ASSERT_EQUAL(std::string(), UserWords().of(0, DatasetUsers::none, directory_));
    CPPUNIT_ASSERT_EQUAL(std::string("root"), UserWords().of(0, DatasetUsers::name, directory_));
    CPPUNIT_ASSERT_EQUAL(std::string("4123456789"), UserWords().of(4123456789u, DatasetUsers::name, directory_));
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(UserWordsTest);

} // namespace harmony
