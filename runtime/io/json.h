// JSON of others.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mr::io {

/// How deep arrays and objects may stand in each other.
constexpr int deepest_json = 64;

/// The value of a JSON text that nobody vouches for: nothing deep is built, since what walks through it may recurse.
/// Throws std::runtime_error: too deep, or not JSON, and where; of the text itself it shows little.
nlohmann::json parse_json(std::string_view text);

}  // namespace mr::io
