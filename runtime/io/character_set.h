// Uses a locale's character encoding for one thread and one scope. The program itself stays in the locale "C", so that
// the numbers and texts that it reads and writes do not depend on the user's locale.
#pragma once

#include <locale.h>

namespace mr::io {

/// Sets the character encoding of this thread to that of a locale, until the end of the scope. "" is the user's locale.
/// Does nothing if the system does not have the locale.
class CharacterSet {
 public:
  explicit CharacterSet(const char* locale) : made_(newlocale(LC_CTYPE_MASK, locale, nullptr)) {
    if (made_ != nullptr) before_ = uselocale(made_);
  }
  ~CharacterSet() {
    if (made_ == nullptr) return;
    uselocale(before_);
    freelocale(made_);
  }
  CharacterSet(const CharacterSet&) = delete;
  CharacterSet& operator=(const CharacterSet&) = delete;

 private:
  locale_t made_, before_ = nullptr;
};

}  // namespace mr::io
