// Compares the GPU's training rows for user-item interactions with an enumeration of the items that a user does not
// have.
#include "kernels/models/interactions.h"

#include <algorithm>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/on_device.h"

namespace mr {
namespace {

using test::OnDevice;

TEST_CASE("write_interactions on the GPU writes each item and its drawn negatives", "[kernels][gpu]") {
  const int64_t count = GENERATE(1, 3, 4, 5, 31, 32, 33, 129);
  const bool shared = GENERATE(false, true);
  constexpr int64_t all_items = 40, batch = 2;
  // user 1 interacted with all 40 items except 7 and 40, user 2 with none, and user 3 with a few
  std::vector<int64_t> known, offsets{0};
  for (int64_t item = 1; item < all_items; ++item) {
    if (item != 7) known.push_back(item);
  }
  offsets.push_back(static_cast<int64_t>(known.size()));
  offsets.push_back(offsets.back());
  known.insert(known.end(), {2, 3, 39});
  offsets.push_back(static_cast<int64_t>(known.size()));
  const std::vector<int64_t> users{3, 1, 3, 2, 1}, items{39, 1, 2, 5, 8};

  const OnDevice<int64_t> users_there(users), items_there(items), offsets_there(offsets), known_there(known);
  const OnDevice<int64_t> out(5 * (count + 1));
  const InteractionRows rows{.users = users_there.span(),
                             .items = items_there.span(),
                             .offsets = offsets_there.data(),
                             .known = known_there.data(),
                             .all_items = all_items,
                             .count = count,
                             .before = 10,
                             .batch = batch,
                             .shared = shared,
                             .key = random_key(1, "rows"),
                             .step = 7,
                             .out = out.data()};
  cuda::write_interactions(rows);

  std::vector<int64_t> expected;
  for (int64_t r = 0; r < 5; ++r) {
    std::vector<int64_t> choices;
    const auto first = known.begin() + offsets[users[r] - 1], last = known.begin() + offsets[users[r]];
    for (int64_t item = 1; item <= all_items; ++item) {
      if (shared || !std::binary_search(first, last, item)) choices.push_back(item);
    }
    const UniformDraws draws(rows.key, static_cast<uint64_t>(7 + r / batch),
                             shared ? 0 : static_cast<uint64_t>(10 + r % batch), choices.size());
    std::vector<int32_t> ranks(static_cast<size_t>(count));
    draws.write(0, count, ranks.data());
    expected.push_back(items[r]);
    for (const int32_t rank : ranks) expected.push_back(choices[static_cast<size_t>(rank)]);
  }
  CHECK(out.values() == expected);
}

}  // namespace
}  // namespace mr
