// Uses a locale for one thread and one scope. The program itself stays in the locale "C", so that the numbers and texts
// that it reads and writes do not depend on the user's locale.
#pragma once

#include <locale.h>

namespace mr::io {

/// Sets categories (such as LC_CTYPE_MASK) of this thread's locale to those of another locale, until the end of the
/// scope. "" is the user's locale. Does nothing if the system does not have the locale.
class ThreadLocale {
 public:
  ThreadLocale(int categories, const char* locale) : made_(newlocale(categories, locale, nullptr)) {
    if (made_ != nullptr) before_ = uselocale(made_);
  }
  ~ThreadLocale() {
    if (made_ == nullptr) return;
    uselocale(before_);
    freelocale(made_);
  }
  ThreadLocale(const ThreadLocale&) = delete;
  ThreadLocale& operator=(const ThreadLocale&) = delete;

 private:
  locale_t made_, before_ = nullptr;
};

}  // namespace mr::io
