// Parses untrusted JSON, and writes JSON.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace mr::io {

/// largest nesting depth of arrays and objects in a JSON text that is parsed
constexpr int deepest_json = 64;

/// A JSON value whose destructor allocates nothing, because memory may have run out. The library's own destructor
/// allocates a stack and ends the program if it cannot.
class Json : public nlohmann::json {
 public:
  Json() = default;
  Json(nlohmann::json&& value) noexcept : nlohmann::json(std::move(value)) {}  // NOLINT: implicit on purpose
  Json(Json&&) = default;
  Json& operator=(Json&&) = delete;
  ~Json();
};

/// Parses untrusted JSON. The depth is limited, because functions that visit the value may recurse. Throws
/// std::runtime_error with the position if the text is too deep or is not JSON; the message shows little of the text.
/// Also throws it if an object has a name twice.
Json parse_json(std::string_view text);

/// Returns a string as JSON text. JSON is written as text and not as nested values of the JSON library, because freeing
/// nested values allocates memory (see `Json`). Throws std::invalid_argument if the text is not UTF-8.
std::string json_text(const std::string& text);
std::string json_text(double value);
/// Returns a JSON object as text, from members whose values are JSON texts.
std::string json_object(const std::map<std::string, std::string>& members);

}  // namespace mr::io
