// Makes text from files, other programs and other processes safe to print: terminals execute control characters.
#pragma once

#include <string>
#include <string_view>

namespace mr::io {

enum class Breaks { kept, escaped };  // whether line ends and tabs are kept or escaped

/// Escapes control characters, marks that change the writing direction, and invalid UTF-8: \x1b, \u{202e}, \xff.
std::string safe_text(std::string_view text, Breaks breaks);

}  // namespace mr::io
