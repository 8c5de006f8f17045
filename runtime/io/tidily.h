// Work of destructors, and of the end of the program.
#pragma once

namespace mr::io {

/// Does what may throw, as all that allocates may, where nothing may be thrown. What fails is left undone: nobody is
/// there who could be told.
template <class Work>
void tidily(Work&& work) noexcept {
  try {
    work();
  } catch (...) {
    return;
  }
}

}  // namespace mr::io
