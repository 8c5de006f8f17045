// Inputs of each parser from which fuzzers start.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mr::fuzz {

/// Small ones that it accepts, or refuses for a reason.
std::map<std::string, std::vector<std::string>> seeds();
/// Those of a parser that fuzzers found to reach more: tests/fuzz/corpus/<parser>, each after its length in four bytes,
/// the lowest first.
std::vector<std::string> corpus(const std::string& parser);

}  // namespace mr::fuzz
