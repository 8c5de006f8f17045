// Fuzz targets: each parser of file contents as a function of bytes. Fuzzers call them, and every run of the tests
// replays their saved inputs.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace mr::fuzz {

/// A fuzz target: parses the bytes as the content of a file. An error of the parser about the input is expected. A
/// crash, any other exception, or a result that contradicts itself (std::logic_error) is a bug that the fuzzer has
/// found.
using Target = std::function<void(std::string_view bytes)>;

const std::map<std::string, Target>& targets();

}  // namespace mr::fuzz
