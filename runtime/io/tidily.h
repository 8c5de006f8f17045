// Error handling for destructors and for the end of the program.
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
