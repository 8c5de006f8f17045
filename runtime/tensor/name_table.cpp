#include "runtime/tensor/name_table.h"

#include "kernels/core/scratch.h"

namespace mr {

std::optional<RepeatedName> first_repeated(NameSpan names) {
  static constinit thread_local cpu::OfThread<std::vector<uint64_t>> the_slots;
  std::vector<uint64_t>& slots = the_slots.get();
  const cpu::Kept kept(slots);
  return NameTable(names, slots).repeated();
}

}  // namespace mr
