// The order of the names of a list, by which documents with equal scores are ranked.
#pragma once

#include <cstdint>
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

}  // namespace mr
