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

/// The first of the names that need the fewest edits to become `name`; nothing where even that would be a guess.
std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& known);

}  // namespace mr::io
