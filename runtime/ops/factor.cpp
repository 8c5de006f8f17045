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

/// The rows of a batch item by item.
struct ByItem {
  std::vector<int64_t> items;    // that occur, ascending, counted from 1
  std::vector<int64_t> starts;   // of each item's rows in `order`, and the end
  std::vector<int64_t> order;    // row numbers from 0, of one item ascending
  std::vector<int64_t> user_of;  // of the list of row order[k]
};

/// Rows in stable order of their items: by counting, unless the items are many more than the rows.
std::vector<int64_t> order_by_item(const std::vector<int64_t>& item_of, int64_t items) {
  std::vector<int64_t> order(item_of.size());
  if (items > 16 * static_cast<int64_t>(item_of.size())) {
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return item_of[a] < item_of[b]; });
    return order;
  }
  std::vector<int64_t> next(static_cast<size_t>(items) + 1, 0);
  for (const int64_t item : item_of) ++next[item];
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (size_t r = 0; r < item_of.size(); ++r) order[next[item_of[r] - 1]++] = static_cast<int64_t>(r);
  return order;
}

ByItem by_item(const Tensor& user_of, const Tensor& item_of, const Lists& lists, int64_t items) {
  const auto user_of_list = user_of.to_vector<int64_t>(), item_of_row = item_of.to_vector<int64_t>();
  ByItem grouped{{}, {}, order_by_item(item_of_row, items), {}};
  std::vector<int64_t> user_of_row;
  user_of_row.reserve(item_of_row.size());
  for (int64_t l = 0; l < lists.count(); ++l) user_of_row.insert(user_of_row.end(), lists.sizes()[l], user_of_list[l]);
  grouped.user_of.reserve(item_of_row.size());
  int64_t last = 0;
  for (const int64_t row : grouped.order) {
    if (item_of_row[row] != last) {
      grouped.items.push_back(last = item_of_row[row]);
      grouped.starts.push_back(static_cast<int64_t>(grouped.user_of.size()));
    }
    grouped.user_of.push_back(user_of_row[row]);
  }
  grouped.starts.push_back(static_cast<int64_t>(item_of_row.size()));
  return grouped;
}

Gradient item_gradient(const Tensor& users, const Tensor& user_of, const Tensor& item_of, const Lists& lists,
                       int64_t items, const Tensor& g) {
  const ByItem grouped = by_item(user_of, item_of, lists, items);
  const int64_t width = users.size(1), count = static_cast<int64_t>(grouped.items.size());
  const Device device = g.device();
  const Tensor owner = Tensor::from(grouped.user_of, device), order = Tensor::from(grouped.order, device),
               starts = Tensor::from(grouped.starts, device);
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
  return {Tensor::from(grouped.items, device), out, true};
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
