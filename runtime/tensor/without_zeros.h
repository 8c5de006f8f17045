// Removes zero bytes from messages of exceptions, which may contain text from scripts and files.
#pragma once

#include <string>
#include <string_view>

namespace mr {

/// Returns the text with zero bytes written as \x00: std::exception::what() is a C string, which a zero byte would
/// end.
inline std::string without_zeros(std::string_view text) {
  std::string whole(text);
  for (size_t at = whole.find('\0'); at != std::string::npos; at = whole.find('\0', at)) whole.replace(at, 1, "\\x00");
  return whole;
}

}  // namespace mr
