// Where a user's data, state and caches are kept: the XDG base directory specification.
#pragma once

#include <filesystem>
#include <vector>

namespace mr::io {

/// Data sets that `moonrank data get` fetched: $XDG_DATA_HOME/moonrank, or ~/.local/share/moonrank.
/// Throws std::runtime_error when neither the variable nor HOME says where. The folder need not exist.
std::filesystem::path user_data_folder();

/// Where data sets are looked for by name, in this order: the working folder, $MOONRANK_DATA, ../shared/data, and
/// the user's data folder where there is one.
std::vector<std::filesystem::path> data_folders();

/// The history of the REPL: $XDG_STATE_HOME/moonrank, or ~/.local/state/moonrank. As above.
std::filesystem::path user_state_folder();

/// Caches: $XDG_CACHE_HOME/moonrank, or ~/.cache/moonrank. As above.
std::filesystem::path user_cache_folder();

}  // namespace mr::io
