// Inputs of each parser from which fuzzers start.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mr::fuzz {

/// Small ones that it accepts, or refuses for a reason.
std::map<std::string, std::vector<std::string>> seeds();
/// Inputs of a parser that fuzzers found to reach lines that no seed reaches. They are read from
/// tests/fuzz/corpus/<parser>: each input follows its length, four bytes, the lowest first.
std::vector<std::string> corpus(const std::string& parser);

}  // namespace mr::fuzz
