#include <bit>

#include "kernels/device/group_numbers.h"
#include "kernels/device/launch.cuh"
#include "kernels/device/scratch.h"
#include "kernels/device/sort.h"

namespace mr::cuda {
namespace {

struct SetKeys {
  const int64_t* numbers;
  uint64_t* keys;
  int64_t* order;
  MR_HD void operator()(int64_t i) const {
    keys[i] = static_cast<uint64_t>(numbers[i] - 1);
    order[i] = i;
  }
};

/// Sorted keys, of which equal ones are a group. begins(i) is true if position i is the first one of its group.
struct SortedKeys {
  const uint64_t* keys;
  MR_HD bool begins(int64_t i) const { return i == 0 || keys[i] != keys[i - 1]; }
};

struct MarkBegins {
  SortedKeys sorted;
  int64_t* begins;
  MR_HD void operator()(int64_t i) const { begins[i] = sorted.begins(i) ? 1 : 0; }
};

/// Writes the first position and the number (key) of each group of equal numbers. It is called with i = 0 to `count`;
/// the call with `count` writes the end of the last group and the number of groups.
struct WriteGroups {
  int64_t count;
  SortedKeys sorted;
  const int64_t* before;  // for each position, the number of groups that begin before it
  NumberGroups out;
  MR_HD void operator()(int64_t i) const {
    if (i < count && sorted.begins(i)) {
      out.numbers[before[i]] = static_cast<int64_t>(sorted.keys[i]) + 1;
      out.starts[before[i]] = i;
    } else if (i == count) {
      const int64_t groups = count == 0 ? 0 : before[count - 1] + (sorted.begins(count - 1) ? 1 : 0);
      out.starts[groups] = count;
      *out.found = groups;
    }
  }
};

}  // namespace

void group_numbers(int64_t count, const int64_t* numbers, int64_t most, const NumberGroups& out) {
  const Scratch<uint64_t> keys(count);
  const Scratch<int64_t> before(count);
  Backend::elements(count, SetKeys{numbers, keys.data(), out.order});
  sort_pairs(count, keys.data(), out.order, std::bit_width(static_cast<uint64_t>(most > 0 ? most - 1 : 0)));
  Backend::elements(count, MarkBegins{{keys.data()}, before.data()});
  exclusive_scan(count, before.data(), before.data());
  Backend::elements(count + 1, WriteGroups{count, {keys.data()}, before.data(), out});
}

}  // namespace mr::cuda
