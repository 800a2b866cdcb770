// The digest that a manifest names its model.pt by.
#pragma once

#include <string>
#include <string_view>

namespace harmony {

std::string sha256_hex(std::string_view bytes); // 64 lower-case hex digits

} // namespace harmony
