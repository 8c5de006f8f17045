#include "kernels/device/launch.cuh"
#include "kernels/models/interactions.h"

namespace mr::cuda {
namespace {

/// Writes four negatives of an interaction, or those that are left, and the relevant item together with the first
/// four.
struct WriteFour {
  InteractionRows rows;
  int64_t fours;  // of a row
  MR_HD void operator()(int64_t i) const {
    const int64_t r = i / fours, first = i % fours * 4, left = rows.count - first;
    const Span<const int64_t> known = rows.known_of(r);
    int32_t ranks[4];
    rows.draws(r).write(first, left < 4 ? left : 4, ranks);
    if (first == 0) rows.row(r)[0] = rows.items[r];
    for (int64_t k = 0; k < 4 && k < left; ++k) {
      const int64_t rank = ranks[k], before = known_before(known, rank, guess_of(known.size, rank, rows.all_items));
      rows.row(r)[1 + first + k] = rank + before + 1;
    }
  }
};

}  // namespace

void write_interactions(const InteractionRows& rows) {
  const int64_t fours = (rows.count + 3) / 4;
  Backend::elements(rows.users.size * fours, WriteFour{rows, fours});
}

}  // namespace mr::cuda
