// Scores of a factor model.
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

Tensor factor_scores(const Tensor& users, const Tensor& items, const Tensor& user_of, const Tensor& item_of,
                     const Lists& lists) {
  check_factors(users, items, user_of, item_of, lists);
  const Device device = users.device();
  Tensor out = Tensor::empty({lists.rows()}, users.dtype(), device);
  const IndexView u{user_of.span<const int64_t>().data}, i{item_of.span<const int64_t>().data};
  const int64_t width = users.size(1);
  with_real(users.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(device).factor_scores(
        lists.count(),
        {users.span<const Real>(), items.span<const Real>(), u, i, lists.view(device), width, out.span<Real>()});
  });
  const auto vjp = [users = users.data(), items = items.data(), user_of, item_of, lists,
                    width](const Tensor& g) -> Gradients {
    Tensor by_user = Tensor::empty({lists.count(), width}, g.dtype(), g.device());
    Tensor by_item = Tensor::empty({lists.rows(), width}, g.dtype(), g.device());
    const IndexView u{user_of.span<const int64_t>().data}, i{item_of.span<const int64_t>().data};
    with_real(g.dtype(), [&]<class Real>() {
      kernels<TrainingKernels<Real>>(g.device())
          .factor_scores_vjp(lists.count(),
                             {users.span<const Real>(), items.span<const Real>(), u, i, lists.view(g.device()), width,
                              g.span<const Real>(), by_user.span<Real>(), by_item.span<Real>()});
    });
    return {Gradient(user_of, by_user), Gradient(item_of, by_item)};
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
