// Work that has to be done for an object that still lives when the program ends.
#pragma once

#include <functional>

namespace mr::io {

/// Calls `work` when the program ends by exit(), if this object was not destroyed before. A script that calls os.exit
/// ends the program without collecting its objects. Objects that were made last are called first.
class AtExit {
 public:
  explicit AtExit(std::function<void()> work);
  ~AtExit();
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
};

}  // namespace mr::io
