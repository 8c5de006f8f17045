// Pictures, frames between processes, trees and words of the command line.
#pragma once

#include "tests/fuzz/targets.h"

namespace mr::fuzz {

std::map<std::string, Target> binary_targets();

}  // namespace mr::fuzz
