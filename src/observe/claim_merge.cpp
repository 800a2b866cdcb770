#include "src/observe/claim_merge.h"

#include "src/observe/detach.h"
#include "src/observe/merge_state.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

namespace harmony {
namespace {

constexpr std::int64_t longest_wait_ms = 40000; // for another sender, beyond the interval
constexpr int most_young = 30;                  // reports of other nodes in a row, then ours is not needed

constexpr const char *lock_is_held = "another process holds the lock of this job's claims";

void sleep_ms(std::int64_t ms) {
  timespec left = {static_cast<std::time_t>(ms / 1000), static_cast<long>(ms % 1000 * 1000000)};
  while (ms > 0 && nanosleep(&left, &left) != 0) {
  }
}

// A last report in the future is of before the node was started anew.
std::int64_t due_in_ms(const MergeState &state, std::int64_t interval_ms) {
  const std::int64_t age = boot_ms() - state.last_ms;
  return state.last_ms <= 0 || age < 0 ? 0 : std::max<std::int64_t>(0, interval_ms - age);
}

// The one process of the job that sends; it has the sender's lock.
class Sender {
public:
  Sender(MergePlace &place, const SendClaim &send, const MergeOptions &options)
      : place_(place), send_(send), options_(options) {}

  struct Turn {
    bool over = false; // nothing waits, and this is no sender any more; or it cannot go on
    ClaimSent sent;
  };
  struct Keep { // what goes on waiting if it was not sent
    bool failed = false, young = true;
  };

  Turn take_turn(const Keep &keep) {
    if (!place_.lock()) return {true, {lock_is_held, false, 0}};
    MergeState state = place_.read();
    if (!state.has_waiting()) {
      place_.stop_sending();
      place_.unlock();
      return {true, {}};
    }
    const std::uint64_t up_to = state.put;
    const Claim claim = *state.latest;
    state.last_ms = boot_ms();
    const bool is_written = place_.write(state);
    place_.unlock();
    const ClaimSent sent = send_(claim);
    const bool is_noted = note(up_to, sent, keep);
    return {!is_written || !is_noted, sent}; // whoever cannot remember what was sent must not send it again
  }

  void sleep_until_due() const { sleep_ms(due_in_ms(place_.read(), options_.interval_ms)); }

  // Until nothing waits; in the detached child.
  void run() {
    int failed = 0, young = 0;
    for (;;) {
      sleep_until_due();
      const Turn turn = take_turn({failed + 1 < options_.tries, young < most_young});
      if (turn.over) return;
      young = turn.sent.young_ms > 0 ? young + 1 : 0;
      failed = turn.sent.problem.empty() ? 0 : (failed + 1) % options_.tries;
    }
  }

  // If more came while this process was sending, a child goes on; else nobody sends any more.
  void hand_over() {
    if (!place_.lock()) return;
    const bool more = place_.read().has_waiting();
    if (!more) place_.stop_sending();
    place_.unlock();
    if (more) leave_to_child();
  }

  void leave_to_child() {
    detach({place_.state_fd(), place_.sender_fd()}, [this] { run(); });
  }

private:
  bool note(std::uint64_t up_to, const ClaimSent &sent, const Keep &keep) {
    if (!place_.lock()) return false;
    MergeState state = place_.read();
    state.last_ms = boot_ms(); // again: from the end of one to the beginning of the next it is the whole interval
    if (sent.young_ms > 0 && keep.young)
      state.last_ms -= options_.interval_ms - std::min(sent.young_ms, options_.interval_ms);
    else if (sent.problem.empty())
      state.done = std::max(state.done, up_to);
    else if (!keep.failed || !sent.try_again)
      state.failed = std::max(state.failed, up_to);
    const bool is_written = place_.write(state);
    place_.unlock();
    return is_written;
  }

  MergePlace &place_;
  const SendClaim &send_;
  const MergeOptions &options_;
};

ReportResult told(const ClaimSent &sent) {
  return {sent.problem.empty() ? Reported::sent : Reported::failed, sent.problem, {}};
}

ReportResult send_as_sender(MergePlace &place, const SendClaim &send, const MergeOptions &options) {
  Sender sender(place, send, options);
  for (int young = 0; young < most_young; ++young) {
    if (options.wait) sender.sleep_until_due();
    const Sender::Turn turn = sender.take_turn({});
    if (turn.sent.young_ms > 0 && options.wait) continue;
    if (turn.sent.young_ms > 0) {
      sender.leave_to_child();
      return {Reported::merged, {}, {}};
    }
    if (!turn.over) sender.hand_over();
    return told(turn.sent);
  }
  sender.leave_to_child();
  return {Reported::failed, "other nodes of the job report all the time", {}};
}

// Another process sends. What it could not send, or left behind when it was killed, is for this one to try.
ReportResult wait_for_sender(MergePlace &place, std::uint64_t mine, const SendClaim &send,
                             const MergeOptions &options) {
  const std::int64_t end = boot_ms() + options.interval_ms + longest_wait_ms;
  while (boot_ms() < end) {
    sleep_ms(50);
    if (!place.lock()) break;
    const MergeState state = place.read();
    const bool over = state.done >= mine || state.failed >= mine || state.put < mine;
    const bool is_sender = !over && place.become_sender();
    place.unlock();
    if (over && state.failed < mine) return {Reported::sent, {}, {}};
    if (over) return {Reported::failed, "the process that sends this job's claims could not send it", {}};
    if (is_sender) return send_as_sender(place, send, options);
  }
  return {Reported::failed, "the process that sends this job's claims did not come to it", {}};
}

ReportResult send_alone(const Claim &claim, const SendClaim &send, const MergeOptions &options,
                        const std::string &why) {
  ClaimSent sent = send(claim);
  for (int young = 0; options.wait && sent.young_ms > 0 && young < most_young; ++young) {
    sleep_ms(std::min(sent.young_ms, options.interval_ms));
    sent = send(claim);
  }
  ReportResult result = told(sent);
  if (sent.young_ms > 0) result.what = Reported::left_out;
  result.not_merged = why;
  return result;
}

} // namespace

std::vector<std::string> merge_bases() {
  std::vector<std::string> bases;
  for (const char *base : {static_cast<const char *>(std::getenv("TMPDIR")), "/tmp",
                           static_cast<const char *>(std::getenv("XDG_RUNTIME_DIR"))})
    if (base && *base) bases.push_back(base);
  return bases;
}

Claim merged_claim(const Claim &earlier, const Claim &later) {
  Claim claim = later;
  if (!claim.of) claim.of = earlier.of;
  if (!claim.samples_per_s) claim.samples_per_s = earlier.samples_per_s;
  if (!claim.loss) claim.loss = earlier.loss;
  return claim;
}

ReportResult report_claim(const std::string &name, const Claim &claim, const SendClaim &send,
                          const MergeOptions &options) {
  MergePlace place = MergePlace::open(options.bases, name);
  if (!place.problem().empty()) return send_alone(claim, send, options, place.problem());
  if (!place.lock()) return send_alone(claim, send, options, lock_is_held);
  MergeState state = place.read();
  state.latest = state.has_waiting() ? merged_claim(*state.latest, claim) : claim;
  ++state.put;
  if (!place.write(state)) {
    place.unlock();
    return send_alone(claim, send, options, "the file of this job's claims cannot be written");
  }
  const bool is_sender = place.become_sender();
  place.unlock();
  if (!is_sender)
    return options.wait ? wait_for_sender(place, state.put, send, options) : ReportResult{Reported::merged, {}, {}};
  if (options.wait || due_in_ms(state, options.interval_ms) == 0) return send_as_sender(place, send, options);
  Sender(place, send, options).leave_to_child();
  return {Reported::merged, {}, {}};
}

} // namespace harmony
