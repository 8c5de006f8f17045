// Scores of a factor model.
#include <algorithm>
#include <numeric>

#include "kernels/tables/training.h"
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
                                     ", expected two matrices of one width");
  }
  if (user_of.entries() != lists.count()) {
    throw ArgumentError("user_of",
                        std::to_string(user_of.entries()) + " users for " + std::to_string(lists.count()) + " lists");
  }
  if (item_of.entries() != lists.rows()) {
    throw ArgumentError("item_of",
                        std::to_string(item_of.entries()) + " items for " + std::to_string(lists.rows()) + " rows");
  }
  check::index("user_of", user_of, users.size(0));
  check::index("item_of", item_of, items.size(0));
  if (user_of.device() != users.device() || item_of.device() != users.device()) {
    throw ArgumentError("user_of", "indices are on another device than the factors: move one with :to()");
  }
}

/// The rows of a batch item by item, in host memory.
struct ByItem {
  Tensor items;    // that occur, ascending, counted from 1
  Tensor starts;   // of each item's rows in `order`, and the end
  Tensor order;    // row numbers from 0, of one item ascending
  Tensor user_of;  // of the list of row order[k]
};

int64_t* numbers(const Tensor& x) { return static_cast<int64_t*>(x.raw()); }
Tensor empty_index(int64_t n) { return Tensor::empty({n}, Dtype::int64); }

/// Rows in stable order of their items: by counting, unless the items are many more than the rows.
void order_by_item(const int64_t* item_of, int64_t rows, int64_t items, int64_t* order) {
  if (items > 16 * rows) {
    std::iota(order, order + rows, 0);
    std::stable_sort(order, order + rows, [&](int64_t a, int64_t b) { return item_of[a] < item_of[b]; });
    return;
  }
  const Tensor counts = Tensor::zeros({items + 1}, Dtype::int64);
  int64_t* const next = numbers(counts);  // of item i: where its next row goes, at i - 1
  for (int64_t r = 0; r < rows; ++r) ++next[item_of[r]];
  std::partial_sum(next, next + items + 1, next);
  for (int64_t r = 0; r < rows; ++r) order[next[item_of[r] - 1]++] = r;
}

ByItem by_item(const Tensor& user_of, const Tensor& item_of, const Lists& lists, int64_t items) {
  const Tensor users = user_of.to(Device::cpu), chosen = item_of.to(Device::cpu);
  const int64_t rows = lists.rows(), *const item = numbers(chosen);
  ByItem grouped{empty_index(rows), empty_index(rows + 1), empty_index(rows), empty_index(rows)};
  const Tensor user_of_row = empty_index(rows);
  for (int64_t l = 0; l < lists.count(); ++l)
    std::fill_n(numbers(user_of_row) + lists.offsets()[l], lists.sizes()[l], numbers(users)[l]);
  int64_t *const order = numbers(grouped.order), *const starts = numbers(grouped.starts);
  order_by_item(item, rows, items, order);
  int64_t found = 0, last = 0;
  for (int64_t k = 0; k < rows; ++k) {
    numbers(grouped.user_of)[k] = numbers(user_of_row)[order[k]];
    if (item[order[k]] == last) continue;
    numbers(grouped.items)[found] = last = item[order[k]];
    starts[found++] = k;
  }
  starts[found] = rows;
  grouped.items = grouped.items.slice(0, found);
  grouped.starts = grouped.starts.slice(0, found + 1);
  return grouped;
}

Gradient item_gradient(const Tensor& users, const Tensor& user_of, const Tensor& item_of, const Lists& lists,
                       int64_t items, const Tensor& g) {
  const ByItem grouped = by_item(user_of, item_of, lists, items);
  const int64_t width = users.size(1), count = grouped.items.entries();
  const Device device = g.device();
  const Tensor owner = grouped.user_of.to(device), order = grouped.order.to(device), starts = grouped.starts.to(device);
  const Tensor out = Tensor::empty({count, width}, g.dtype(), device);
  with_real(g.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(device).factor_item_gradients(count * width, {users.span<const Real>(),
                                                                                 {owner.span<const int64_t>().data},
                                                                                 order.span<const int64_t>(),
                                                                                 starts.span<const int64_t>(),
                                                                                 width,
                                                                                 g.span<const Real>(),
                                                                                 out.span<Real>()});
  });
  return {grouped.items.to(device), out, true};
}

Gradient user_gradient(const Tensor& items, const Tensor& user_of, const Tensor& item_of, const Lists& lists,
                       const Tensor& g) {
  const int64_t width = items.size(1);
  const Tensor out = Tensor::empty({lists.count(), width}, g.dtype(), g.device());
  with_real(g.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(g.device())
        .factor_user_gradients(lists.count(), {items.span<const Real>(),
                                               {item_of.span<const int64_t>().data},
                                               lists.view(g.device()),
                                               width,
                                               g.span<const Real>(),
                                               out.span<Real>()});
  });
  return {user_of, out};
}

Tensor factor_scores(const Tensor& users, const Tensor& items, const Tensor& user_of, const Tensor& item_of,
                     const Lists& lists) {
  check_factors(users, items, user_of, item_of, lists);
  const Device device = users.device();
  Tensor out = Tensor::empty({lists.rows()}, users.dtype(), device);
  const IndexView u{user_of.span<const int64_t>().data}, i{item_of.span<const int64_t>().data};
  with_real(users.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(device).factor_scores(
        lists.count(), {users.span<const Real>(), items.span<const Real>(), u, i, lists.view(device), users.size(1),
                        out.span<Real>()});
  });
  const bool need_users = users.node() != nullptr, need_items = items.node() != nullptr;
  const auto vjp = [users = users.data(), items = items.data(), user_of, item_of, lists, need_users,
                    need_items](const Tensor& g) -> Gradients {
    return {need_users ? user_gradient(items, user_of, item_of, lists, g) : Gradient(),
            need_items ? item_gradient(users, user_of, item_of, lists, items.size(0), g) : Gradient()};
  };
  return record("factor_scores", out, {users, items}, vjp);
}

}  // namespace

extern const lua::OpTable factor_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&factor_scores>("factor_scores", "users, items, user_of, item_of, lists",
                             "Inner product of the factors of each list's user and each row's item.")}};

}  // namespace mr
