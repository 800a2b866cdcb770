// A node's Extra field holds whatever the site put there, and our compact topology as one word among it.
#pragma once

#include <string>
#include <string_view>

namespace harmony {

// Our word in the field, from HM and a version to the next space; empty if there is none.
std::string_view topology_word(std::string_view extra);

// The field with our word replaced (or added at the end) and everything else kept as it is.
std::string with_topology_word(std::string_view extra, std::string_view word);

} // namespace harmony
