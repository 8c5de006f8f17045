// Seeds: the inputs of each parser from which fuzzers start.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mr::fuzz {

/// Returns small inputs of each parser, by the parser's name. The parser accepts some of them and refuses the others
/// with an error.
std::map<std::string, std::vector<std::string>> seeds();
/// Returns saved inputs of a parser, which fuzzers found to reach lines that no seed reaches. They are read from the
/// file tests/fuzz/corpus/<parser>, in which each input follows its length (four bytes, the lowest first).
std::vector<std::string> corpus(const std::string& parser);

}  // namespace mr::fuzz
