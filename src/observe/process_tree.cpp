#include "src/observe/process_tree.h"

#include "src/store/descriptor.h"

#include <algorithm>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <vector>

namespace harmony {
namespace {

constexpr int looks_before_all_are_read_again = 60;
constexpr int deepest_tree = 10000; // a loop of parents can only come from reading while they change

struct CloseDirectory {
  void operator()(DIR *directory) const { closedir(directory); }
};

template <class Number> bool read_number(std::string_view text, Number &number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view next_word(std::string_view &text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \n"));
  text.remove_prefix(word.size());
  return word;
}

} // namespace

std::optional<ProcessStat> read_process_stat(std::string_view line) {
  // The name may hold anything, brackets too, but behind it there are none.
  const std::size_t open = line.find(" ("), close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) return std::nullopt;
  ProcessStat stat;
  if (!read_number(line.substr(0, open), stat.pid)) return std::nullopt;
  std::string_view rest = line.substr(close + 2);
  std::string_view words[20]; // state, parent, … as proc(5) has them from the third on
  for (std::string_view &word : words) word = next_word(rest);
  std::uint64_t user = 0, kernel = 0;
  std::int64_t waited_user = 0, waited_kernel = 0;
  if (words[0].size() != 1 || !read_number(words[1], stat.parent) || !read_number(words[11], user) ||
      !read_number(words[12], kernel) || !read_number(words[13], waited_user) ||
      !read_number(words[14], waited_kernel) || !read_number(words[19], stat.start))
    return std::nullopt;
  stat.own = user + kernel;
  stat.waited = static_cast<std::uint64_t>(std::max<std::int64_t>(waited_user, 0)) +
                static_cast<std::uint64_t>(std::max<std::int64_t>(waited_kernel, 0));
  return stat;
}

ProcessTree::ProcessTree(pid_t root, pid_t self, std::string proc) : root_(root), self_(self), proc_(std::move(proc)) {}

std::optional<ProcessStat> ProcessTree::read(pid_t pid) const {
  const Descriptor file(open((proc_ + "/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char text[4096];
  const ssize_t size = file.is_open() ? ::read(file.get(), text, sizeof text) : -1;
  if (size <= 0) return std::nullopt;
  const std::optional<ProcessStat> stat = read_process_stat({text, static_cast<std::size_t>(size)});
  return stat && stat->pid == pid ? stat : std::nullopt;
}

// Outsiders are given by their parents alone, all else being zero.
ProcessTree::Stats ProcessTree::read_all() {
  Stats all;
  if (looks_++ % looks_before_all_are_read_again == 0) outsiders_.clear();
  const std::unique_ptr<DIR, CloseDirectory> directory(opendir(proc_.c_str()));
  std::unordered_map<pid_t, pid_t> still_there;
  while (const dirent *entry = directory ? readdir(directory.get()) : nullptr) {
    pid_t pid = 0;
    if (!read_number(std::string_view(entry->d_name), pid) || pid <= 0 || pid == self_) continue;
    if (const auto known = outsiders_.find(pid); known != outsiders_.end()) {
      still_there.insert(*known);
      ProcessStat &stat = all[pid];
      stat.pid = pid;
      stat.parent = known->second;
    } else if (const std::optional<ProcessStat> stat = read(pid)) {
      all[pid] = *stat;
    }
  }
  outsiders_.swap(still_there);
  return all;
}

// Who descends from the root, or did at an earlier look.
ProcessTree::Stats ProcessTree::members_of(const Stats &all) const {
  Stats found;
  const auto was_member = [this](const ProcessStat &stat) {
    const auto before = members_.find(stat.pid);
    return before != members_.end() && before->second.now.start == stat.start;
  };
  for (const auto &[pid, stat] : all) {
    if (pid == root_ || outsiders_.count(pid) > 0) continue;
    const ProcessStat *each = &stat;
    for (int steps = 0; each && steps < deepest_tree; ++steps) {
      if (each->parent == root_ || was_member(*each)) {
        found.emplace(pid, stat);
        break;
      }
      const auto parent = all.find(each->parent);
      each = parent == all.end() || parent->first == each->pid ? nullptr : &parent->second;
    }
  }
  return found;
}

std::uint64_t ProcessTree::Member::counted() const {
  const std::uint64_t known = waited_at_first + gone;
  return (now.own - std::min(own_at_first, now.own)) + (now.waited - std::min(known, now.waited));
}

std::uint64_t ProcessTree::Member::total_at_end() const {
  return now.own + std::max(now.waited, waited_at_first + gone);
}

// The parent may have ended as well; it is told before it takes leave itself, because children come first.
void ProcessTree::leave(pid_t pid, Member &member) {
  left_ += member.counted();
  const pid_t parent = member.now.parent;
  if (parent == root_)
    root_member_.gone += member.total_at_end();
  else if (const auto found = members_.find(parent); found != members_.end() && parent != pid)
    found->second.gone += member.total_at_end();
}

void ProcessTree::take_leave(const Stats &now) {
  std::map<pid_t, int> children; // that have ended, of parents that have
  std::vector<pid_t> next;
  for (auto &[pid, member] : members_) {
    const auto still = now.find(pid);
    member.ended = still == now.end() || still->second.start != member.now.start;
  }
  for (const auto &[pid, member] : members_)
    if (member.ended) ++children[member.now.parent];
  for (const auto &[pid, member] : members_)
    if (member.ended && children.count(pid) == 0) next.push_back(pid);
  while (!next.empty()) {
    const pid_t pid = next.back();
    next.pop_back();
    Member &member = members_.at(pid);
    leave(pid, member);
    const auto parent = members_.find(member.now.parent);
    if (parent != members_.end() && parent->second.ended && --children[parent->first] == 0)
      next.push_back(parent->first);
    members_.erase(pid);
  }
}

bool ProcessTree::look() {
  const Stats all = read_all();
  const std::optional<ProcessStat> root = read(root_);
  const bool first = root_member_.now.pid == 0;
  if (!root || (!first && root->start != root_member_.now.start)) return false;
  const Stats now = members_of(all);
  for (const auto &[pid, stat] : all)
    if (now.count(pid) == 0 && pid != root_) outsiders_[pid] = stat.parent;
  take_leave(now);
  root_member_.now = *root;
  if (first) root_member_.waited_at_first = root->waited;
  for (const auto &[pid, stat] : now) {
    const auto [member, is_new] = members_.try_emplace(pid);
    member->second.now = stat;
    if (first && is_new) {
      member->second.own_at_first = stat.own;
      member->second.waited_at_first = stat.waited;
    }
  }
  return true;
}

double ProcessTree::cpu_seconds() const {
  Member root = root_member_;
  root.own_at_first = root.now.own; // the root's own time is not of the tree
  std::uint64_t ticks = left_ + root.counted();
  for (const auto &[pid, member] : members_) ticks += member.counted();
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

} // namespace harmony
