// The order of the names of a list: queries look up documents by name and order tied documents by it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/tensor/lists.h"

namespace mr {

/// Returns the names of the documents of a list.
NameSpan documents_of(const Lists& lists, int64_t list);
/// Returns how many lists one parallel task handles when names are sorted. There are `count` lists, which have `names`
/// names together.
int64_t lists_per_task(int64_t count, int64_t names);

/// Returns the positions of the names, counted from 0, in the order of the names' bytes. Equal names keep their order.
/// The sort is interruptible.
std::vector<int64_t> name_order(NameSpan names);

/// A name that occurs twice in a list: the position of the second occurrence, and that of the previous one.
struct RepeatedName {
  int64_t again, before;
};
/// Returns the first repetition of a name, or nothing if all names differ. `order` is the result of name_order for
/// these names.
std::optional<RepeatedName> first_repeated(NameSpan names, const std::vector<int64_t>& order);

}  // namespace mr
