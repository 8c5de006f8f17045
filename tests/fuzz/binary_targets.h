// Fuzz targets for binary input: pictures, messages between processes, tree models and arguments of the command line.
#pragma once

#include "tests/fuzz/targets.h"

namespace mr::fuzz {

std::map<std::string, Target> binary_targets();

}  // namespace mr::fuzz
