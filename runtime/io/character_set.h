// Characters of a locale for one thread and one call. The program itself stays in the locale "C": no number and no text
// that it writes or reads depends on the user's locale.
#pragma once

#include <locale.h>

namespace mr::io {

/// Makes multibyte characters those of a locale ("" is the user's) until the end of the scope. Nothing changes where
/// the system does not have that locale.
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
