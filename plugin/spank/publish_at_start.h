// When slurmd starts, its node's topology is published: by the harmony command in a process of its own, so that neither
// hwloc nor a hanging GPU driver can touch slurmd.
#pragma once

namespace harmony {

// The arguments are those of plugstack.conf.
void publish_at_start(int count, char **words);

} // namespace harmony
