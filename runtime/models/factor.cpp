// Scores of a factor model.
#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/models/item_gradients.h"
#include "kernels/models/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/check.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

void check_factors(const Tensor& users, const Tensor& items, const Tensor& user_of, const Tensor& item_of,
                   const Lists& lists) {
  check::floating("users", users);
  check::same_kind("items", items, "users", users);
  if (users.dims() != 2 || items.dims() != 2 || users.size(1) != items.size(1)) {
    throw ArgumentError("items", "factors have shapes " + users.shape().text() + " and " + items.shape().text() +
                                     ", expected two matrices with the same number of columns");
  }
  if (user_of.entries() != lists.count()) {
    throw ArgumentError("user_of", std::to_string(user_of.entries()) + " users for " + std::to_string(lists.count()) +
                                       " lists, expected one for each");
  }
  if (item_of.entries() != lists.rows()) {
    throw ArgumentError("item_of", std::to_string(item_of.entries()) + " items for " + std::to_string(lists.rows()) +
                                       " rows, expected one for each");
  }
  check::index("user_of", user_of, users.size(0));
  check::index("item_of", item_of, items.size(0));
  if (user_of.device() != users.device() || item_of.device() != users.device()) {
    throw ArgumentError("user_of", "indices are on another device than the factors: move one with :to()");
  }
}

/// The rows of a batch, grouped by item, in host memory.
struct ByItem {
  Tensor items;    // numbers of the items that occur, ascending, from 1
  Tensor starts;   // where the rows of each item begin in `order`, and the end of the last item's rows
  Tensor order;    // row numbers from 0, grouped by item; ascending for each item
  Tensor user_of;  // user_of[k]: user of the list of row order[k]
};

int64_t* numbers(const Tensor& x) { return x.span<int64_t>().data; }
Tensor empty_index(int64_t n) { return Tensor::empty({n}, Dtype::int64); }

/// Maps items to counters: one per item, or, if there are very many items, one per item that occurs.
struct ItemNumbers {
  static constexpr int64_t most = 1 << 19;
  std::vector<int64_t> known;  // items that occur, ascending; empty if every item has a counter
  int64_t count;

  static bool few(int64_t rows, int64_t items) { return items <= std::min(most, 1024 * rows); }
  ItemNumbers(const int64_t* item_of, int64_t rows, int64_t items) : count(items) {
    if (few(rows, items)) return;
    known.assign(item_of, item_of + rows);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    count = static_cast<int64_t>(known.size());
  }
  int64_t operator()(int64_t item) const {
    return known.empty() ? item - 1 : std::lower_bound(known.begin(), known.end(), item) - known.begin();
  }
  int64_t item(int64_t number) const { return known.empty() ? number + 1 : known[number]; }
};

/// Returns counters that are 0, one per item. The caller must reset them to 0, so that a batch costs time proportional
/// to its rows, not to the catalogue.
int64_t* counts_of(int64_t places) {
  static constinit thread_local cpu::OfThread<std::vector<int64_t>> the_counts;
  std::vector<int64_t>& counts = the_counts.get();
  if (static_cast<int64_t>(counts.size()) < places) counts.resize(static_cast<size_t>(places), 0);
  return counts.data();
}

ByItem by_item(const Tensor& user_of, const Tensor& item_of, const Lists& lists, int64_t items) {
  const Tensor users = user_of.to(Device::cpu), chosen = item_of.to(Device::cpu);
  const int64_t rows = lists.rows(), *const item = numbers(chosen);
  const ItemNumbers number(item, rows, items);
  const int64_t most = std::min(rows, number.count);
  ByItem grouped{empty_index(most), empty_index(most + 1), empty_index(rows), empty_index(rows)};
  std::vector<uint64_t> occurs(static_cast<size_t>(number.count + 63) / 64);  // a bit set of the items that occur
  const Ragged ragged = lists.view(Device::cpu);
  // No exceptions may be thrown from here on, because the counters must be reset at the end.
  int64_t* const next = counts_of(number.count);
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = number(item[r]);
    ++next[at];
    occurs[at / 64] |= uint64_t{1} << (at % 64);
  }
  int64_t *const present = numbers(grouped.items), *const starts = numbers(grouped.starts);
  int64_t *const order = numbers(grouped.order), *const owner = numbers(grouped.user_of), found = 0, at = 0;
  for (size_t word = 0; word < occurs.size(); ++word) {
    for (uint64_t left = occurs[word]; left != 0; left &= left - 1) {
      const int64_t i = static_cast<int64_t>(word) * 64 + std::countr_zero(left);
      present[found] = number.item(i);
      starts[found++] = at;
      at += std::exchange(next[i], at);
    }
  }
  starts[found] = rows;
  for (int64_t l = 0, r = 0; l < ragged.count; ++l) {
    const int64_t user = numbers(users)[l];
    for (const int64_t end = ragged.offsets[l + 1]; r < end; ++r) {
      const int64_t k = next[number(item[r])]++;
      order[k] = r;
      owner[k] = user;
    }
  }
  for (int64_t i = 0; i < found; ++i) next[number(present[i])] = 0;
  grouped.items = grouped.items.slice(0, found);
  grouped.starts = grouped.starts.slice(0, found + 1);
  return grouped;
}

/// Computes the items' gradients row by row, if there are few enough items for a bit set.
Gradient item_gradient_here(const Tensor& users, const Tensor& user_of, const Tensor& item_of, const Lists& lists,
                            int64_t items, const Tensor& g) {
  const int64_t width = users.size(1);
  const cpu::ItemSet occur({numbers(item_of)}, lists.rows(), items);
  const Tensor found = empty_index(occur.count()), out = Tensor::empty({occur.count(), width}, g.dtype());
  occur.write(numbers(found));
  with_real(g.dtype(), [&]<class Real>() {
    cpu::item_gradients<Real>({.users = users.span_of_rows<const Real>(user_of),
                               .user_of = {numbers(user_of)},
                               .item_of = {numbers(item_of)},
                               .lists = lists.view(Device::cpu),
                               .width = width,
                               .bits = occur.bits(),
                               .before = occur.before(),
                               .upstream = g.span<const Real>(),
                               .out = out.span<Real>()});
  });
  return {found, out, true};
}

Gradient item_gradient(const Tensor& users, const Tensor& user_of, const Tensor& item_of, const Lists& lists,
                       int64_t items, const Tensor& g) {
  if (g.device() == Device::cpu && ItemNumbers::few(lists.rows(), items))
    return item_gradient_here(users, user_of, item_of, lists, items, g);
  const ByItem grouped = by_item(user_of, item_of, lists, items);
  const int64_t width = users.size(1), count = grouped.items.entries();
  const Device device = g.device();
  const Tensor owner = grouped.user_of.to(device), order = grouped.order.to(device), starts = grouped.starts.to(device);
  const Tensor out = Tensor::empty({count, width}, g.dtype(), device);
  with_real(g.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(device).factor_item_gradients(count * width,
                                                                 {.users = users.span_of_rows<const Real>(user_of),
                                                                  .user_of = {owner.span<const int64_t>().data},
                                                                  .order = order.span<const int64_t>(),
                                                                  .starts = starts.span<const int64_t>(),
                                                                  .width = width,
                                                                  .upstream = g.span<const Real>(),
                                                                  .out = out.span<Real>()});
  });
  return {grouped.items.to(device), out, true};
}

Gradient user_gradient(const Tensor& items, const Tensor& user_of, const Tensor& item_of, const Lists& lists,
                       const Tensor& g) {
  const int64_t width = items.size(1);
  const Tensor out = Tensor::empty({lists.count(), width}, g.dtype(), g.device());
  with_real(g.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(g.device())
        .factor_user_gradients(lists.count(), {.items = items.span_of_rows<const Real>(item_of),
                                               .item_of = {item_of.span<const int64_t>().data},
                                               .lists = lists.view(g.device()),
                                               .width = width,
                                               .upstream = g.span<const Real>(),
                                               .out = out.span<Real>()});
  });
  return {user_of, out};
}

Tensor factor_scores(const Tensor& users, const Tensor& items, const Tensor& user_of, const Tensor& item_of,
                     const Lists& lists) {
  check_factors(users, items, user_of, item_of, lists);
  const Device device = users.device();
  Tensor out = Tensor::empty({lists.rows()}, users.dtype(), device);
  with_real(users.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(device).factor_scores(lists.count(),
                                                         {.users = users.span_of_rows<const Real>(user_of),
                                                          .items = items.span_of_rows<const Real>(item_of),
                                                          .user_of = {user_of.span<const int64_t>().data},
                                                          .item_of = {item_of.span<const int64_t>().data},
                                                          .lists = lists.view(device),
                                                          .width = users.size(1),
                                                          .scores = out.span<Real>()});
  });
  const bool need_users = users.node() != nullptr, need_items = items.node() != nullptr;
  const auto vjp = [users = users.data(), items = items.data(), user_of, item_of, lists, need_users,
                    need_items](const Tensor& g) -> Gradients {
    return {need_users ? user_gradient(items, user_of, item_of, lists, g) : Gradient(),
            need_items ? item_gradient(users, user_of, item_of, lists, items.size(0), g) : Gradient()};
  };
  return record("factor_scores", out, {users, items}, vjp);
}

Tensor unit_rows(const Tensor& x) {
  check::floating("x", x);
  if (x.dims() != 2) throw ArgumentError("x", "shape " + x.shape().text() + ", expected a matrix");
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(x.device())
        .unit_rows(x.size(0), {.in = x.span<const Real>(), .width = x.size(1), .out = out.span<Real>()});
  });
  return record("unit_rows", out, {x}, [x = x.data()](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty(x.shape(), x.dtype(), x.device());
    with_real(x.dtype(), [&]<class Real>() {
      kernels<TrainingKernels<Real>>(x.device())
          .unit_rows_vjp(x.size(0), {.in = x.span<const Real>(),
                                     .upstream = g.span<const Real>(),
                                     .width = x.size(1),
                                     .out = gx.span<Real>()});
    });
    return {gx};
  });
}

}  // namespace

extern const lua::OpTable factor_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&factor_scores>("factor_scores", "users, items, user_of, item_of, lists",
                             "Inner product of the factors of each list's user and each row's item."),
     lua::op<&unit_rows>("unit_rows", "x", "The rows of a matrix, divided by their norms; rows of zeros stay.")}};

}  // namespace mr
