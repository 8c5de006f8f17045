#include "runtime/io/formats/json.h"

#include <set>
#include <stdexcept>
#include <vector>

#include "runtime/io/files/text_file.h"

namespace mr::io {
namespace {

/// Returns true if brackets outside of strings are nested too deeply. The scan stops at the first syntax error.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > deepest_json) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

/// Frees a JSON value, its children before itself. The recursion is as deep as the value is nested, and `parse_json`
/// limits that depth.
void take_apart(nlohmann::json& value) noexcept {
  if (value.is_structured()) {
    for (nlohmann::json& each : value) take_apart(each);
    value.clear();
  }
}

/// Builds a JSON value from its parts. A name that an object has twice is an error, because programs differ in the
/// value that they take then.
class Parts : public nlohmann::detail::json_sax_dom_parser<nlohmann::json> {
 public:
  using json_sax_dom_parser::json_sax_dom_parser;

  bool start_object(size_t members) {
    names_.emplace_back();
    return json_sax_dom_parser::start_object(members);
  }
  bool key(std::string& name) {
    if (!names_.back().insert(name).second)
      throw std::runtime_error("has the name " + mr::quoted(name) + " twice in an object");
    return json_sax_dom_parser::key(name);
  }
  bool end_object() {
    names_.pop_back();
    return json_sax_dom_parser::end_object();
  }

 private:
  std::vector<std::set<std::string>> names_;  // member names of each open object, outermost first
};

}  // namespace

Json::~Json() { take_apart(*this); }

Json parse_json(std::string_view text) {
  if (is_too_deep(text))
    throw std::runtime_error("is JSON nested deeper than " + std::to_string(deepest_json) + " levels");
  try {
    Json value;
    Parts parts(value);
    nlohmann::json::sax_parse(text, &parts);
    return value;
  } catch (const nlohmann::json::parse_error& error) {
    throw std::runtime_error("is not valid JSON from byte " + std::to_string(error.byte) + " on");
  } catch (const nlohmann::json::out_of_range&) {
    throw std::runtime_error("has a number that is too large for float64 (above about 1.8e308)");
  }
}

std::string json_text(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error&) {
    throw std::invalid_argument(mr::quoted(text) + " is not valid UTF-8, which names and metadata of a file must be");
  }
}
std::string json_text(double value) { return nlohmann::json(value).dump(); }

std::string json_object(const std::map<std::string, std::string>& members) {
  std::string text = "{";
  for (const auto& [name, value] : members) text += (text.size() > 1 ? "," : "") + json_text(name) + ":" + value;
  return text + "}";
}

}  // namespace mr::io
