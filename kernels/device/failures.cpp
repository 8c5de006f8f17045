#include "kernels/device/failures.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <memory>
#include <stdexcept>

namespace mr::cuda {
namespace {

std::string readable(const char* type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type;
}

}  // namespace

void Failures::note_launch(const char* type) {
  const std::lock_guard lock(mutex_);
  launches_[count_++ % launches_.size()] = type;
}

void Failures::clear_launches() {
  const std::lock_guard lock(mutex_);
  count_ = 0;
}

std::string Failures::suspects() const {
  const std::lock_guard lock(mutex_);
  if (count_ == 0) return "";
  if (count_ == 1) return "; running: " + readable(launches_[0]);
  std::string out = "; one of the last operations caused it (CUDA_LAUNCH_BLOCKING=1 tells which): ";
  const size_t shown = std::min(count_, launches_.size());
  for (size_t back = 1; back <= shown; ++back) {
    out += (back > 1 ? ", before it " : "") + readable(launches_[(count_ - back) % launches_.size()]);
  }
  return out;
}

void Failures::lose(const std::string& cause) {
  const std::lock_guard lock(mutex_);
  if (first_cause_.empty()) first_cause_ = cause;
}

void Failures::require_not_lost() const {
  const std::lock_guard lock(mutex_);
  if (!first_cause_.empty())
    throw std::runtime_error("the CUDA device was lost earlier; restart to use it again. " + first_cause_);
}

}  // namespace mr::cuda
