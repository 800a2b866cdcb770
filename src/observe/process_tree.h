// The CPU time of all processes that descend from one, those that have ended among them. For one thread.
//
// A process that ends hands its time to the parent that waits for it, and parent and child are read at different
// moments. So for each process we keep what its children that are gone had been counted with, and only what it was
// handed beyond that is new: nothing is counted twice, whoever ends when, and a look that came in between is put right
// by the next.
//
// Not seen: a process that leaves the tree (by the end of its parent) before it is looked at for the first time, and
// what a process did between the last look at it and its end if nobody waits for it. Looks cost a few ms on a busy
// node: only processes of the tree are read each time, and of all others those that were not there before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <unordered_map>

namespace harmony {

struct ProcessStat {
  pid_t pid = 0, parent = 0;
  std::uint64_t start = 0;  // ticks since boot; with the pid the process's identity
  std::uint64_t own = 0;    // ticks of CPU time
  std::uint64_t waited = 0; // of children that ended and were waited for, and of theirs
};

// A line of /proc/PID/stat. Whoever owns the process chose its name, which stands in the line unescaped.
std::optional<ProcessStat> read_process_stat(std::string_view line);

class ProcessTree {
public:
  // `root` itself is not counted, nor is `self`, who is looking.
  ProcessTree(pid_t root, pid_t self, std::string proc = "/proc");

  // False: the root is gone, and nothing was changed.
  bool look();

  double cpu_seconds() const; // since the first look

private:
  using Stats = std::map<pid_t, ProcessStat>;

  struct Member {
    ProcessStat now;
    std::uint64_t own_at_first = 0, waited_at_first = 0; // of one that was there before us
    std::uint64_t gone = 0;                              // its children that are gone, as they were last read
    bool ended = false;

    std::uint64_t counted() const;      // ticks that are in the sum because of it
    std::uint64_t total_at_end() const; // ticks that its parent is handed for it, or will be
  };

  std::optional<ProcessStat> read(pid_t pid) const;
  Stats read_all();
  Stats members_of(const Stats &all) const;
  void take_leave(const Stats &now);
  void leave(pid_t pid, Member &member);

  pid_t root_, self_;
  std::string proc_;
  Member root_member_;
  std::map<pid_t, Member> members_;
  std::unordered_map<pid_t, pid_t> outsiders_; // with their parents; read again now and then, since pids are reused
  int looks_ = 0;
  std::uint64_t left_ = 0; // ticks counted of those that are gone
};

} // namespace harmony
