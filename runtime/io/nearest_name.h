// Suggestions: "did you mean ...?"
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mr::io {

/// Returns the edit distance of two words: insertions, deletions, changes, and swaps of neighbours, with each letter
/// edited at most once (Damerau 1964).
size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the known name that `name`, which is unknown, probably means: one that differs in capitals, underscores or a
/// final "_loss" only, else the first one with the smallest edit distance. Returns nothing if that would be a guess: if
/// too many letters differ, or if digits differ, as in log2 and log.
std::optional<std::string> nearest_name(const std::string& name, const std::vector<std::string>& known);

}  // namespace mr::io
