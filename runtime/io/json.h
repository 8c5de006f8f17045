// Untrusted JSON.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace mr::io {

/// How deep arrays and objects may be nested.
constexpr int deepest_json = 64;

/// A value that is freed without taking memory, as it must be where memory has run out: the library's own destructor
/// puts what is nested on a stack, and ends the program where there is none.
class Json : public nlohmann::json {
 public:
  Json() = default;
  Json(nlohmann::json&& value) noexcept : nlohmann::json(std::move(value)) {}  // NOLINT: it is one
  Json(Json&&) = default;
  Json& operator=(Json&&) = delete;
  ~Json();
};

/// The value of an untrusted JSON text: its depth is limited, since functions that visit it may recurse. Throws
/// std::runtime_error: too deep, or not JSON, and where; of the text itself it shows little.
Json parse_json(std::string_view text);

/// JSON is written as text, not as nested values of the library, since freeing those takes memory
/// (see `Json`). Throws std::invalid_argument if the text is not UTF-8.
std::string json_text(const std::string& text);
std::string json_text(double value);
/// An object of members whose values are JSON texts.
std::string json_object(const std::map<std::string, std::string>& members);

}  // namespace mr::io
