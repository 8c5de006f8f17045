// Runs a function when the program exits, unless the object that registered it was destroyed before.
#pragma once

#include <functional>

namespace mr::io {

/// While this object exists, the end of the program by exit() calls `work`. A script that calls os.exit, for example,
/// ends the program without destroying objects. If there are several objects, the newest is called first.
class AtExit {
 public:
  explicit AtExit(std::function<void()> work);
  ~AtExit();
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
};

}  // namespace mr::io
