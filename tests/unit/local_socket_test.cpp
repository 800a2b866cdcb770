#include "src/query/local_socket.h"

#include <cppunit/extensions/HelperMacros.h>

#include <atomic>
#include <cstddef>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace harmony {

class LocalSocketTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(LocalSocketTest);
  CPPUNIT_TEST(a_question_is_answered_and_both_know_who_the_other_is);
  CPPUNIT_TEST(a_question_that_is_too_long_gets_no_answer);
  CPPUNIT_TEST(a_large_answer_arrives_whole);
  CPPUNIT_TEST(a_client_that_dawdles_is_dropped);
  CPPUNIT_TEST(nobody_there_is_said);
  CPPUNIT_TEST(a_name_is_taken_once);
  CPPUNIT_TEST(each_state_directory_has_a_name_of_its_own);
  CPPUNIT_TEST_SUITE_END();

  static std::string unique_address() { return query_address("/test/" + std::to_string(getpid())); }

  // Serves `answer` on a thread of its own while `body` runs.
  template <class Body> static void with_server(const LocalServer::Answer &answer, Body body) {
    LocalServer server;
    CPPUNIT_ASSERT_EQUAL(std::string(), server.open(unique_address()));
    std::atomic<bool> done{false};
    std::thread thread([&] {
      while (!done) server.serve(10, answer);
    });
    body();
    done = true;
    thread.join();
  }

  void a_question_is_answered_and_both_know_who_the_other_is() {
    with_server([](uid_t asker, const std::string &question) { return question + " " + std::to_string(asker); },
                [] {
                  const LocalAnswer answer = ask_local(unique_address(), "who am I", 5000);
                  CPPUNIT_ASSERT_EQUAL(std::string(), answer.problem);
                  CPPUNIT_ASSERT_EQUAL("who am I " + std::to_string(getuid()), answer.text);
                  CPPUNIT_ASSERT_EQUAL(getuid(), answer.server);
                });
  }

  void a_question_that_is_too_long_gets_no_answer() {
    with_server([](uid_t, const std::string &) { return std::string("heard"); },
                [] {
                  CPPUNIT_ASSERT_EQUAL(std::string(), ask_local(unique_address(), std::string(100000, 'x'), 5000).text);
                  CPPUNIT_ASSERT_EQUAL(std::string("heard"), ask_local(unique_address(), "short", 5000).text);
                });
  }

  void a_large_answer_arrives_whole() {
    const std::string large(3000000, 'y');
    with_server([&](uid_t, const std::string &) { return large; },
                [&] { CPPUNIT_ASSERT(ask_local(unique_address(), "all of it", 5000).text == large); });
  }

  // A byte now and then must not hold the server: its deadline is for the whole question.
  void a_client_that_dawdles_is_dropped() {
    with_server([](uid_t, const std::string &) { return std::string("heard"); },
                [] {
                  sockaddr_un name{};
                  name.sun_family = AF_UNIX;
                  const std::string address = unique_address();
                  address.copy(name.sun_path + 1, address.size());
                  const int slow = socket(AF_UNIX, SOCK_STREAM, 0);
                  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + address.size());
                  CPPUNIT_ASSERT(connect(slow, reinterpret_cast<sockaddr *>(&name), length) == 0);
                  bool dropped = false;
                  for (int i = 0; i < 100 && !dropped; ++i) {
                    dropped = send(slow, "x", 1, MSG_NOSIGNAL) < 0;
                    std::this_thread::sleep_for(std::chrono::milliseconds(100));
                  }
                  close(slow);
                  CPPUNIT_ASSERT(dropped);
                  CPPUNIT_ASSERT_EQUAL(std::string("heard"), ask_local(address, "quick", 5000).text);
                });
  }

  void nobody_there_is_said() {
    CPPUNIT_ASSERT(ask_local(unique_address(), "hello", 100).problem.find("nobody listens") == 0);
  }

  void a_name_is_taken_once() {
    LocalServer first, second;
    CPPUNIT_ASSERT_EQUAL(std::string(), first.open(unique_address()));
    CPPUNIT_ASSERT(second.open(unique_address()).find("in use") != std::string::npos);
  }

  void each_state_directory_has_a_name_of_its_own() {
    CPPUNIT_ASSERT(query_address("/var/spool/slurm") != query_address("/var/spool/slurm2"));
    CPPUNIT_ASSERT(query_address(std::string(5000, 'a')).size() < 100);
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(LocalSocketTest);

} // namespace harmony
