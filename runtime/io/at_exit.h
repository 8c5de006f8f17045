// An AtExit object runs a function when the program exits, if the object still exists then.
#pragma once

#include <functional>

namespace mr::io {

/// Calls `work` when the program ends by exit(), unless this object was destroyed before: a script that calls os.exit
/// ends the program without collecting its objects. The newest objects are called first.
class AtExit {
 public:
  explicit AtExit(std::function<void()> work);
  ~AtExit();
  AtExit(const AtExit&) = delete;
  AtExit& operator=(const AtExit&) = delete;
};

}  // namespace mr::io
