// A child that goes on by itself when its parent has long ended: in a session of its own, reaped by init, with nothing
// of its parent's open. For programs of one thread.
#pragma once

#include <functional>
#include <vector>

namespace harmony {

// Runs `work` in the child, which then ends without running what the parent registered for its own end. The descriptors
// in `keep` stay open in the child; stdin, stdout and stderr become /dev/null. False: there is no child.
bool detach(const std::vector<int> &keep, const std::function<void()> &work);

} // namespace harmony
