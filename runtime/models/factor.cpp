// Scores of a factor model.
#include <algorithm>

#include "kernels/models/item_gradients.h"
#include "kernels/models/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/autograd/number_groups.h"
#include "runtime/ops/argument_checks.h"
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

int64_t* numbers(const Tensor& x) { return x.span<int64_t>().data; }
Tensor empty_index(int64_t n, Device device = Device::cpu) { return Tensor::empty({n}, Dtype::int64, device); }

/// Returns true if a bit set of all items needs little memory compared with a batch of `rows` rows.
bool few_items(int64_t rows, int64_t items) { return items <= std::min<int64_t>(1 << 19, 1024 * rows); }

/// Computes the gradient of the item embeddings on the CPU. A bit set of all items finds the items that occur in the
/// batch, so the catalogue must be small enough (`few_items`).
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
  const Device device = g.device();
  if (device == Device::cpu && few_items(lists.rows(), items))
    return item_gradient_here(users, user_of, item_of, lists, items, g);
  const NumberGroups by_item = group_numbers(item_of, items);
  const int64_t width = users.size(1), count = by_item.numbers.entries();
  const Tensor owners = empty_index(lists.rows(), device), out = Tensor::empty({count, width}, g.dtype(), device);
  with_real(g.dtype(), [&]<class Real>() {
    const auto& table = kernels<TrainingKernels<Real>>(device);
    table.owners_of_rows(lists.rows(), {.rows = by_item.order.span<const int64_t>(),
                                        .user_of = user_of.span<const int64_t>(),
                                        .lists = lists.view(device),
                                        .out = owners.span<int64_t>()});
    table.factor_item_gradients(count, {.users = users.span_of_rows<const Real>(user_of),
                                        .user_of = {owners.span<const int64_t>().data},
                                        .order = by_item.order.span<const int64_t>(),
                                        .starts = by_item.starts.span<const int64_t>(),
                                        .width = width,
                                        .upstream = g.span<const Real>(),
                                        .out = out.span<Real>()});
  });
  return {by_item.numbers, out, true};
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
