// Runs code in destructors and at the end of the program, where exceptions must be ignored.
#pragma once

namespace mr::io {

/// Runs `work` and ignores exceptions, for places where nothing may be thrown and no caller can be told.
template <class Work>
void tidily(Work&& work) noexcept {
  try {
    work();
  } catch (...) {
    return;
  }
}

}  // namespace mr::io
