// Untrusted JSON.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace mr::io {

/// How deep arrays and objects may be nested.
constexpr int deepest_json = 64;

/// The value of an untrusted JSON text: its depth is limited, since functions that visit it may recurse. Throws
/// std::runtime_error: too deep, or not JSON, and where; of the text itself it shows little.
nlohmann::json parse_json(std::string_view text);

}  // namespace mr::io
