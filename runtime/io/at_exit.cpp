#include "runtime/io/at_exit.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/io/tidily.h"

namespace mr::io {
namespace {

struct Registry {
  std::mutex guard;
  std::vector<std::pair<const AtExit*, std::function<void()>>> works;

  ~Registry() {
    while (!works.empty()) {
      const std::function<void()> work = std::move(works.back().second);
      works.pop_back();
      tidily(work);
    }
  }
};

Registry& registry() {
  static Registry made;
  return made;
}

}  // namespace

AtExit::AtExit(std::function<void()> work) {
  const std::lock_guard lock(registry().guard);
  registry().works.emplace_back(this, std::move(work));
}

AtExit::~AtExit() {
  const std::lock_guard lock(registry().guard);
  auto& works = registry().works;
  works.erase(std::remove_if(works.begin(), works.end(), [this](const auto& each) { return each.first == this; }),
              works.end());
}

}  // namespace mr::io
