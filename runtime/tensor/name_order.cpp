#include "runtime/tensor/name_order.h"

#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/patient.h"

namespace mr {
namespace {

/// A name's first eight bytes, as a number that is ordered as these bytes, and its position.
struct Head {
  uint64_t bytes;
  int64_t position;
};

uint64_t first_bytes(std::string_view name) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < 8; ++i) bytes = bytes << 8 | (i < name.size() ? static_cast<unsigned char>(name[i]) : 0);
  return bytes;
}

}  // namespace

NameSpan documents_of(const Lists& lists, int64_t list) {
  return {lists.documents(), static_cast<size_t>(lists.offsets()[list]), static_cast<size_t>(lists.sizes()[list])};
}

int64_t lists_per_task(int64_t count, int64_t names) {
  constexpr double nanoseconds_of_name = 50;  // estimated
  return cpu::tasks_of_piece(count, nanoseconds_of_name * static_cast<double>(names));
}

std::vector<int64_t> name_order(NameSpan names) {
  std::vector<Head> heads(names.size());
  for (size_t i = 0; i < names.size(); ++i) heads[i] = {first_bytes(names[i]), static_cast<int64_t>(i)};
  const auto less = [&](const Head& a, const Head& b) {
    if (a.bytes != b.bytes) return a.bytes < b.bytes;
    const int order = names[a.position].compare(names[b.position]);
    return order != 0 ? order < 0 : a.position < b.position;
  };
  std::sort(heads.begin(), heads.end(), cpu::patient(less));
  std::vector<int64_t> order(names.size());
  std::transform(heads.begin(), heads.end(), order.begin(), [](const Head& head) { return head.position; });
  return order;
}

}  // namespace mr
