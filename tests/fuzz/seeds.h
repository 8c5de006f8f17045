// Small inputs of each parser that it accepts, from which fuzzers start.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace mr::fuzz {

std::map<std::string, std::vector<std::string>> seeds();

}  // namespace mr::fuzz
