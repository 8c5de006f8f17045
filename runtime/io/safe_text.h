// Text from files, other programs and other processes, made safe to show: a terminal executes control characters.
#pragma once

#include <string>
#include <string_view>

namespace mr::io {

enum class Breaks { kept, escaped };  // whether ends of lines and tabs are kept or escaped

/// The text with control characters, marks that change the direction of writing, and bytes that are no UTF-8 escaped:
/// \x1b, \u{202e}, \xff. All else is kept.
std::string safe_text(std::string_view text, Breaks breaks);

}  // namespace mr::io
