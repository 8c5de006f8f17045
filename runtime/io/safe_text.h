// Text from files, other programs and other processes, as it may be shown: a terminal obeys what it is sent.
#pragma once

#include <string>
#include <string_view>

namespace mr::io {

enum class Breaks { kept, escaped };  // what becomes of ends of lines and tabs

/// The text with control characters, marks that turn the direction of writing, and bytes that are no UTF-8 written out:
/// \x1b, \u{202e}, \xff. What is harmless stays as it is.
std::string safe_text(std::string_view text, Breaks breaks);

}  // namespace mr::io
