// Processes and NICs as a step's watcher sees them: in a made-up /proc, and with real children that burn CPU.
#include "src/observe/leave_cgroup.h"
#include "src/observe/nic_bytes.h"
#include "src/observe/process_tree.h"
#include "src/observe/step_watch.h"

#include <cppunit/extensions/HelperMacros.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace harmony {

namespace fs = std::filesystem;

class StepWatchTest : public CppUnit::TestFixture {
  CPPUNIT_TEST_SUITE(StepWatchTest);
  CPPUNIT_TEST(a_line_of_stat_is_read);
  CPPUNIT_TEST(a_name_cannot_pretend_to_be_the_rest_of_the_line);
  CPPUNIT_TEST(broken_lines_of_stat_are_refused);
  CPPUNIT_TEST(only_what_descends_from_the_root_is_counted);
  CPPUNIT_TEST(what_was_used_before_the_first_look_is_not_counted);
  CPPUNIT_TEST(a_child_that_ends_is_counted_once);
  CPPUNIT_TEST(a_child_that_came_and_went_between_two_looks_is_counted);
  CPPUNIT_TEST(a_whole_branch_that_ends_at_once_is_counted_once);
  CPPUNIT_TEST(a_child_that_ends_in_the_middle_of_a_look_is_counted_once);
  CPPUNIT_TEST(children_that_nobody_waits_for_are_not_forgotten);
  CPPUNIT_TEST(a_process_that_lost_its_parent_stays_in_the_tree);
  CPPUNIT_TEST(another_process_with_the_same_pid_is_not_the_same_process);
  CPPUNIT_TEST(a_root_that_is_gone_or_another_is_noticed);
  CPPUNIT_TEST(real_children_that_burn_cpu_are_measured);
  CPPUNIT_TEST(bytes_are_counted_once_beside_a_bond_and_its_members);
  CPPUNIT_TEST(in_a_container_plain_interfaces_are_counted);
  CPPUNIT_TEST(a_counter_that_was_reset_does_not_count_backwards);
  CPPUNIT_TEST(broken_lines_of_net_dev_are_passed_over);
  CPPUNIT_TEST(a_watch_of_nobody_is_over_at_once);
  CPPUNIT_TEST(the_way_out_of_a_jobs_cgroups_is_found);
  CPPUNIT_TEST_SUITE_END();

  fs::path dir_;

public:
  void setUp() override {
    char name[] = "/tmp/harmony-watch.XXXXXX";
    dir_ = mkdtemp(name);
  }
  void tearDown() override { fs::remove_all(dir_); }

private:
  static std::string stat_line(int pid, const std::string &name, int parent, long own, long waited, int start) {
    return std::to_string(pid) + " (" + name + ") S " + std::to_string(parent) + " 1 1 0 -1 4194560 1 2 3 4 " +
           std::to_string(own) + " 0 " + std::to_string(waited) + " 0 20 0 1 0 " + std::to_string(start) +
           " 12345 67 18446744073709551615\n";
  }

  // Times are in seconds.
  void process(int pid, int parent, long own, long waited = 0, int start = 1, const std::string &name = "python") {
    fs::create_directories(dir_ / std::to_string(pid));
    const long ticks = sysconf(_SC_CLK_TCK);
    std::ofstream(dir_ / std::to_string(pid) / "stat")
        << stat_line(pid, name, parent, own * ticks, waited * ticks, start);
  }
  void end(int pid) { fs::remove_all(dir_ / std::to_string(pid)); }

  ProcessTree tree() const { return ProcessTree(10, 99, dir_); }

  static void assert_seconds(double wanted, const ProcessTree &tree) {
    CPPUNIT_ASSERT_DOUBLES_EQUAL(wanted, tree.cpu_seconds(), 1e-9);
  }

  void a_line_of_stat_is_read() {
    const auto stat = read_process_stat(stat_line(17, "python", 3, 40, 50, 60));
    CPPUNIT_ASSERT(stat);
    CPPUNIT_ASSERT_EQUAL(17, stat->pid);
    CPPUNIT_ASSERT_EQUAL(3, stat->parent);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(40), stat->own);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(50), stat->waited);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(60), stat->start);
  }

  void a_name_cannot_pretend_to_be_the_rest_of_the_line() {
    for (const char *name :
         {"a) R 1 (", ") S 1 1 1 1 1 1 1 1 1 1 999 999 999 999 (", "(", ")", "", " ) ", "a\nb) R 5"}) {
      const auto stat = read_process_stat(stat_line(17, name, 3, 40, 50, 60));
      CPPUNIT_ASSERT_MESSAGE(name, stat);
      CPPUNIT_ASSERT_EQUAL(3, stat->parent);
      CPPUNIT_ASSERT_EQUAL(std::uint64_t(40), stat->own);
      CPPUNIT_ASSERT_EQUAL(std::uint64_t(60), stat->start);
    }
  }

  void broken_lines_of_stat_are_refused() {
    const std::string line = stat_line(17, "python", 3, 40, 50, 60);
    for (std::size_t size = 0; size + 40 < line.size(); ++size)
      CPPUNIT_ASSERT(!read_process_stat(line.substr(0, size)));
    CPPUNIT_ASSERT(!read_process_stat("x (python) S 1"));
    CPPUNIT_ASSERT(!read_process_stat(stat_line(17, "python", 3, -40, 50, 60)));
  }

  void only_what_descends_from_the_root_is_counted() {
    process(1, 0, 0);
    process(10, 1, 0);
    process(50, 1, 0);
    ProcessTree watched = tree();
    CPPUNIT_ASSERT(watched.look());
    process(10, 1, 100); // slurmstepd's own time is not the step's
    process(11, 10, 3);
    process(12, 11, 4);
    process(50, 1, 100);
    process(51, 50, 100);
    process(99, 10, 100); // who is looking
    CPPUNIT_ASSERT(watched.look());
    assert_seconds(7, watched);
  }

  void what_was_used_before_the_first_look_is_not_counted() {
    process(10, 1, 5, 70);
    process(11, 10, 30, 20);
    ProcessTree watched = tree();
    watched.look();
    assert_seconds(0, watched);
    process(11, 10, 31, 20);
    watched.look();
    assert_seconds(1, watched);
    end(11);
    process(10, 1, 5, 70 + 32 + 20);
    watched.look();
    assert_seconds(2, watched);
  }

  void a_child_that_ends_is_counted_once() {
    process(10, 1, 0);
    process(11, 10, 0);
    ProcessTree watched = tree();
    watched.look();
    process(11, 10, 60);
    watched.look();
    assert_seconds(60, watched);
    end(11);
    process(10, 1, 0, 63);
    watched.look();
    assert_seconds(63, watched);
    watched.look();
    assert_seconds(63, watched);
  }

  void a_child_that_came_and_went_between_two_looks_is_counted() {
    process(10, 1, 0);
    process(11, 10, 0);
    ProcessTree watched = tree();
    watched.look();
    process(11, 10, 2, 40);
    watched.look();
    assert_seconds(42, watched);
  }

  void a_whole_branch_that_ends_at_once_is_counted_once() {
    process(10, 1, 0);
    ProcessTree watched = tree();
    watched.look();
    process(13, 10, 1, 5);
    process(12, 13, 10);
    process(11, 12, 100, 7);
    watched.look();
    assert_seconds(123, watched);
    for (int pid : {11, 12, 13}) end(pid);
    process(10, 1, 0, 125);
    watched.look();
    assert_seconds(125, watched);
  }

  void a_child_that_ends_in_the_middle_of_a_look_is_counted_once() {
    process(10, 1, 0);
    process(11, 10, 0);
    process(12, 11, 0);
    ProcessTree watched = tree();
    watched.look();
    process(11, 10, 1);
    process(12, 11, 1000);
    watched.look();
    // Its parent was read before it ended, so the time is nowhere to be seen.
    end(12);
    watched.look();
    process(11, 10, 1, 1001);
    watched.look();
    assert_seconds(1002, watched);
    // And the other way round: read before it ended, and its parent afterwards.
    process(13, 11, 500);
    watched.look();
    process(11, 10, 1, 1501);
    watched.look();
    end(13);
    watched.look();
    assert_seconds(1502, watched);
  }

  void children_that_nobody_waits_for_are_not_forgotten() {
    process(10, 1, 0);
    process(11, 10, 0);
    ProcessTree watched = tree();
    watched.look();
    process(12, 11, 30);
    watched.look();
    end(12);
    watched.look();
    assert_seconds(30, watched);
    process(11, 10, 5);
    watched.look();
    assert_seconds(35, watched);
  }

  void a_process_that_lost_its_parent_stays_in_the_tree() {
    process(10, 1, 0);
    process(11, 10, 0);
    process(12, 11, 0);
    ProcessTree watched = tree();
    watched.look();
    end(11);
    process(12, 1, 8);
    process(13, 12, 2);
    watched.look();
    assert_seconds(10, watched);
    end(12);
    end(13);
    watched.look();
    assert_seconds(10, watched);
  }

  void another_process_with_the_same_pid_is_not_the_same_process() {
    process(10, 1, 0);
    process(11, 10, 0);
    ProcessTree watched = tree();
    watched.look();
    process(11, 10, 20);
    watched.look();
    process(11, 10, 1, 0, 777);
    process(10, 1, 0, 20);
    watched.look();
    assert_seconds(21, watched);
    process(11, 50, 500, 0, 888); // and not of the tree any more
    process(10, 1, 0, 21);
    watched.look();
    assert_seconds(21, watched);
  }

  void a_root_that_is_gone_or_another_is_noticed() {
    CPPUNIT_ASSERT(!tree().look());
    process(10, 1, 0);
    process(11, 10, 0);
    ProcessTree watched = tree();
    CPPUNIT_ASSERT(watched.look());
    process(11, 10, 9);
    CPPUNIT_ASSERT(watched.look());
    process(10, 1, 0, 0, 444);
    CPPUNIT_ASSERT(!watched.look());
    end(10);
    CPPUNIT_ASSERT(!watched.look());
    assert_seconds(9, watched);
  }

  static double cpu_now() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return cpu_of(usage);
  }
  static double cpu_of(const rusage &usage) {
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  }

  static void burn(double seconds) {
    const double until = cpu_now() + seconds;
    while (cpu_now() < until) {
    }
  }

  // A child as slurmstepd, a grandchild as task that burns 0.4 s itself and has two of its own burn 0.3 s each.
  void real_children_that_burn_cpu_are_measured() {
    int begin[2], done[2];
    CPPUNIT_ASSERT(pipe(begin) == 0 && pipe(done) == 0);
    const pid_t root = fork();
    if (root == 0) {
      char byte = 0;
      if (read(begin[0], &byte, 1) != 1) _exit(1);
      if (fork() == 0) {
        for (int i = 0; i < 2; ++i)
          if (fork() == 0) {
            burn(0.3);
            _exit(0);
          }
        burn(0.4);
        while (wait(nullptr) > 0) {
        }
        _exit(0);
      }
      wait(nullptr);
      if (write(done[1], &byte, 1) != 1) _exit(1);
      pause();
    }
    StepWatch watched(root);
    CPPUNIT_ASSERT(watched.is_there());
    CPPUNIT_ASSERT(write(begin[1], "", 1) == 1);
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      watched.last_look();
    }
    char byte = 0;
    CPPUNIT_ASSERT(read(done[0], &byte, 1) == 1);
    watched.last_look();
    const StepUsage usage = watched.sum_up();
    kill(root, SIGKILL);
    rusage kernel{}; // with all its descendants, and with what forking them cost, which is much under a sanitizer
    wait4(root, nullptr, 0, &kernel);
    for (int fd : {begin[0], begin[1], done[0], done[1]}) close(fd);
    const double seen = usage.cpu * usage.seconds;
    CPPUNIT_ASSERT_MESSAGE(std::to_string(seen), seen > 0.9);
    CPPUNIT_ASSERT_DOUBLES_EQUAL(cpu_of(kernel), seen, 0.12 * cpu_of(kernel));
    watched.look();
    CPPUNIT_ASSERT(!watched.is_there());
  }

  void net_dev(const std::string &lines) {
    std::ofstream(dir_ / "dev") << "Inter-|   Receive  |  Transmit\n face |bytes packets|bytes packets\n" << lines;
  }
  static std::string line(const std::string &name, std::uint64_t rx, std::uint64_t tx) {
    return "  " + name + ": " + std::to_string(rx) + " 1 0 0 0 0 0 0 " + std::to_string(tx) + " 1 0 0 0 0 0 0\n";
  }
  NicBytes nics() const { return NicBytes(dir_ / "dev", dir_ / "net"); }

  void bytes_are_counted_once_beside_a_bond_and_its_members() {
    for (const char *path : {"net/eth0/device", "net/eth1/device", "net/bond0/bonding", "net/br0/bridge", "net/veth7"})
      fs::create_directories(dir_ / path);
    NicBytes nic = nics();
    const auto all = [&](std::uint64_t n) {
      net_dev(line("lo", 100 * n, 100 * n) + line("eth0", n, 2 * n) + line("eth1", 3 * n, 4 * n) +
              line("bond0", 4 * n, 6 * n) + line("br0", 4 * n, 6 * n) + line("veth7", 50 * n, 50 * n));
    };
    all(1000);
    nic.look();
    all(3000);
    nic.look();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(8000), nic.rx());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(12000), nic.tx());
  }

  void in_a_container_plain_interfaces_are_counted() {
    fs::create_directories(dir_ / "net/br0/bridge");
    NicBytes nic = nics();
    net_dev(line("lo", 0, 0) + line("eth0", 10, 10) + line("br0", 0, 0));
    nic.look();
    net_dev(line("lo", 900, 900) + line("eth0", 15, 17) + line("br0", 900, 900));
    nic.look();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(5), nic.rx());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(7), nic.tx());
  }

  void a_counter_that_was_reset_does_not_count_backwards() {
    NicBytes nic = nics();
    net_dev(line("eth0", 1000, 1000));
    nic.look();
    net_dev(line("eth0", 30, 40) + line("eth1", 5000, 5000)); // eth1 has just come, with counters of its past
    nic.look();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(30), nic.rx());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(40), nic.tx());
    fs::remove(dir_ / "dev");
    nic.look();
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(30), nic.rx());
  }

  void broken_lines_of_net_dev_are_passed_over() {
    const auto read = read_net_dev("eth0: 1 2 3\neth1:\n: 1 2 3 4 5 6 7 8 9\neth2: x 2 3 4 5 6 7 8 9\n" +
                                   line("eth3", 7, 8) + "eth4:1 2 3 4 5 6 7 8 9");
    CPPUNIT_ASSERT_EQUAL(std::size_t(2), read.size());
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(8), read.at("eth3").tx);
    CPPUNIT_ASSERT_EQUAL(std::uint64_t(9), read.at("eth4").tx);
  }

  void a_watch_of_nobody_is_over_at_once() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    StepWatch watched(child);
    CPPUNIT_ASSERT(!watched.is_there());
    watched.look();
    CPPUNIT_ASSERT_DOUBLES_EQUAL(0, watched.sum_up().seconds, 0);
  }

  void the_way_out_of_a_jobs_cgroups_is_found() {
    using Ways = std::vector<std::string>;
    CPPUNIT_ASSERT(ways_out_of_job("0::/system.slice/slurmstepd.scope/job_17/step_0/slurm\n") ==
                   (Ways{"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"}));
    CPPUNIT_ASSERT(ways_out_of_job("9:name=systemd:/slurm/job_1\n7:cpu,cpuacct:/slurm/uid_5/job_17/step_0\n"
                                   "6:freezer:/slurm/uid_5/job_17\n4:memory:/system.slice/slurmd.service\n0::/\n") ==
                   (Ways{"/sys/fs/cgroup/systemd/cgroup.procs", "/sys/fs/cgroup/cpu,cpuacct/cgroup.procs",
                         "/sys/fs/cgroup/freezer/cgroup.procs"}));
    CPPUNIT_ASSERT(ways_out_of_job("0::/system.slice/slurmd.service\n1:x/../y:/job_1\nnonsense\n4:/job_1").empty());
    CPPUNIT_ASSERT(ways_out_of_job("0::/batch/job_store").empty());
  }
};

CPPUNIT_TEST_SUITE_REGISTRATION(StepWatchTest);

} // namespace harmony
