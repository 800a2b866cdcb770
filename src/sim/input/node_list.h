// Names of nodes as Slurm writes them together: n[1-3,07],gpu-a[01-02]. Any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace harmony {

// In the order of the text; nothing if it is no such list, or one of more than `most` nodes.
std::optional<std::vector<std::string>> nodes_of_list(std::string_view text, std::size_t most);

} // namespace harmony
