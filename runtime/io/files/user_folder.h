// The folders for a user's data, state and caches, by the XDG base directory specification.
#pragma once

#include <filesystem>
#include <vector>

namespace mr::io {

/// Returns the folder of data sets from `moonrank data get`: $XDG_DATA_HOME/moonrank, or ~/.local/share/moonrank.
/// Throws std::runtime_error if neither the variable nor HOME is set. The folder need not exist.
std::filesystem::path user_data_folder();

/// Returns the folders that are searched for data sets, in order: the working folder, $MOONRANK_DATA, ../shared/data,
/// and the user's data folder if there is one.
std::vector<std::filesystem::path> data_folders();

/// Returns the folder of the REPL's history: $XDG_STATE_HOME/moonrank, or ~/.local/state/moonrank. Throws like
/// user_data_folder.
std::filesystem::path user_state_folder();

/// Returns the folder of caches: $XDG_CACHE_HOME/moonrank, or ~/.cache/moonrank. Throws like user_data_folder.
std::filesystem::path user_cache_folder();

}  // namespace mr::io
