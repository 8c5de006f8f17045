// The parsers of what comes from files, each as a function of bytes: fuzzers call them, and every test run replays
// their corpora.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mr::fuzz {

/// Reads the bytes as its file would be read. An error of the parser is an answer; anything else that it raises, a
/// crash, or a result that contradicts itself (which throws std::logic_error) is a finding.
using Target = std::function<void(std::string_view bytes)>;

const std::map<std::string, Target>& targets();

}  // namespace mr::fuzz
