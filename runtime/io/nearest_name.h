// "Did you mean ...?"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

/// How many letters are put in, left out, changed or swapped with their neighbour to make one word of the other, no
/// letter twice (Damerau 1964).
size_t edit_distance(std::string_view a, std::string_view b);

/// The name that was meant by `name`, which is none of the known ones: one that differs in capitals, underscores or a
/// "_loss" at its end, else the first of those that are fewest edits away. Nothing where that would be a guess: a third
/// of the letters or more differ, or the digits do, as in log2 and log.
std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& known);

}  // namespace mr::io
