// Softmax losses: each relevant row against the other rows of its list. Also logarithms of sums of exponentials over a
// whole catalogue of items.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/losses/negatives/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/lists.h"
#include "runtime/ops/matmul.h"
#include "runtime/ranking/named.h"

namespace mr {
namespace {

constexpr Named<Part> parts[] = {{"all", Part::all}, {"relevant", Part::relevant}, {"others", Part::others}};
constexpr Named<Surrogate> surrogates[] = {
    {"tanh", Surrogate::tanh}, {"relu", Surrogate::relu}, {"atan", Surrogate::atan}};

template <class Real>
PartScores<Real> scores_of_part(const Tensor& scores, const Lists& lists, Part part, double tau) {
  const Device device = scores.device();
  return {scores.span<const Real>(), lists.relevance(device).span<const float>(), lists.view(device), part,
          static_cast<Real>(tau)};
}

Tensor empty_like(const Tensor& x, int64_t count) { return Tensor::empty({count}, x.dtype(), x.device()); }

Tensor part_log_sum(const Tensor& scores, const Lists& lists, const std::string& name, double tau) {
  check::per_row("scores", scores, lists);
  const Part part = value_of(parts, "part", name);
  const int64_t count = lists.count();
  Tensor value = empty_like(scores, count), total = empty_like(scores, count),
         powers = empty_like(scores, lists.rows());
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<NegativesKernels<Real>>(scores.device())
        .part_log_sum(count, {scores_of_part<Real>(scores.data(), lists, part, tau), value.span<Real>(),
                              powers.span<Real>(), total.span<Real>()});
  });
  return record("part_log_sum", value, {scores},
                [scores = scores.data(), lists, part, tau, powers, total](const Tensor& g) -> Gradients {
                  Tensor gx = empty_like(scores, lists.rows());
                  with_real(g.dtype(), [&]<class Real>() {
                    kernels<NegativesKernels<Real>>(g.device())
                        .part_log_sum_vjp(lists.count(),
                                          {scores_of_part<Real>(scores, lists, part, tau), powers.span<const Real>(),
                                           total.span<const Real>(), g.span<const Real>(), gx.span<Real>()});
                  });
                  return {gx};
                });
}

/// Options of the loss PSL. `weights` has a number per row, or is not defined.
struct PslOptions {
  Surrogate surrogate;
  double tau, tau_star;
  bool whole;
  Tensor weights;
};

template <class Real>
PslScores<Real> scores_of_psl(const Tensor& scores, const Lists& lists, const PslOptions& of) {
  const Device device = scores.device();
  return {scores.span<const Real>(),
          lists.relevance(device).span<const float>(),
          lists.view(device),
          {of.surrogate, static_cast<Real>(of.tau), static_cast<Real>(of.tau_star)},
          of.whole,
          of.weights.defined() ? of.weights.span<const Real>() : Span<const Real>{}};
}

Tensor psl_loss(const Tensor& scores, const Lists& lists, const std::string& surrogate, double tau, double tau_star,
                bool whole, const std::optional<Tensor>& weights) {
  check_scores("psl_loss", scores, lists);
  if (weights) {
    check::per_row("weights", *weights, lists);
    check::same_kind("weights", *weights, "scores", scores);
  }
  const PslOptions of{value_of(surrogates, "surrogate", surrogate), tau, tau_star, whole,
                      weights ? weights->data() : Tensor()};
  Tensor value = empty_like(scores, lists.count());
  Tensor tops = empty_like(scores, lists.rows()), totals = empty_like(scores, lists.rows());
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<NegativesKernels<Real>>(scores.device())
        .psl(lists.count(), {scores_of_psl<Real>(scores.data(), lists, of), tops.span<Real>(), totals.span<Real>(),
                             value.span<Real>()});
  });
  return record("psl_loss", value, {scores},
                [scores = scores.data(), lists, of, tops, totals](const Tensor& g) -> Gradients {
                  Tensor gx = empty_like(scores, lists.rows());
                  with_real(g.dtype(), [&]<class Real>() {
                    kernels<NegativesKernels<Real>>(g.device())
                        .psl_vjp(lists.count(), {scores_of_psl<Real>(scores, lists, of), tops.span<const Real>(),
                                                 totals.span<const Real>(), g.span<const Real>(), gx.span<Real>()});
                  });
                  return {gx};
                });
}

Tensor kth_largest(const Tensor& scores, const Lists& lists, int64_t k) {
  check_scores("kth_largest", scores, lists);
  if (k < 1) throw ArgumentError("k", std::to_string(k) + ", expected at least 1");
  Tensor value = empty_like(scores, lists.count());
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<NegativesKernels<Real>>(scores.device())
        .kth_largest(lists.count(), {scores.span<const Real>(), lists.view(scores.device()), k, value.span<Real>()});
  });
  return value;
}

Tensor llpauc_terms(const Tensor& scores, const Lists& lists, const Tensor& parameters, double kappa,
                    double by_relevant, double by_others) {
  check_scores("llpauc_terms", scores, lists);
  check::same_kind("parameters", parameters, "scores", scores);
  if (parameters.dims() != 1 || parameters.entries() < LlpaucLoss<float>::count)
    throw ArgumentError("parameters", "shape " + parameters.shape().text() + ", expected at least 5 numbers");
  const LossAndSlope made(scores, lists, recording({scores, parameters}));
  const Device device = scores.device();
  const int64_t given = parameters.entries(), count = LlpaucLoss<float>::count;
  Tensor by_parameter;
  if (made.derivative.defined()) by_parameter = Tensor::empty({lists.count(), count}, scores.dtype(), device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<NegativesKernels<Real>>(device).llpauc(
        lists.count(), {.parameters = parameters.data().span<const Real>(),
                        .scores = scores.data().span<const Real>(),
                        .relevance = lists.relevance(device).span<const float>(),
                        .lists = lists.view(device),
                        .kappa = kappa,
                        .by_relevant = by_relevant,
                        .by_others = by_others,
                        .value = made.value.span<Real>(),
                        .derivative = made.slopes<Real>(),
                        .by_parameter = by_parameter.defined() ? by_parameter.span<Real>() : Span<Real>{}});
  });
  return record("llpauc_terms", made.value, {scores, parameters},
                [derivative = made.derivative, by_parameter, lists, given](const Tensor& upstream) -> Gradients {
                  const Tensor row = upstream.viewed({1, upstream.entries()});
                  Tensor g = Tensor::zeros({given}, upstream.dtype(), upstream.device());
                  product_into(row, false, by_parameter, false,
                               g.slice(0, by_parameter.size(1)).viewed({1, by_parameter.size(1)}));
                  return {times_upstream(derivative, lists, upstream), g};
                });
}

/// The relevant rows of lists: their numbers, counted from 1 over all lists; the lists of these rows; and the numbers
/// of relevant and of other rows per list.
struct RelevantRows {
  Tensor rows;
  Lists lists;
  Tensor positives, negatives;
};
struct RelevantRowsOn {
  Device device;
  Dtype dtype;
  auto operator<=>(const RelevantRowsOn&) const = default;
};

RelevantRows relevant_rows_of(const Lists& lists, const RelevantRowsOn& key) {
  const auto [part, rows] = relevant_part(lists, 1);
  std::vector<double> positives, negatives;
  for (int64_t l = 0; l < lists.count(); ++l) {
    positives.push_back(static_cast<double>(part.sizes()[l]));
    negatives.push_back(static_cast<double>(lists.sizes()[l] - part.sizes()[l]));
  }
  const auto numbers = [&](const std::vector<double>& values) {
    return Tensor::from(values, Device::cpu).to(key.dtype).to(key.device);
  };
  return {rows.to(key.device), part.with_weights({}, {}), numbers(positives), numbers(negatives)};
}

/// Returns the relevant rows of lists, with numbers of the type and on the device of `like`. Cached in `lists`.
std::tuple<Tensor, Lists, Tensor, Tensor> relevant_rows(const Lists& lists, const Tensor& like) {
  check::floating("like", like);
  const RelevantRowsOn key{like.device(), like.dtype()};
  const RelevantRows& found = lists.cached<RelevantRows>(key, [&] { return relevant_rows_of(lists, key); });
  return {found.rows, found.lists, found.positives, found.negatives};
}

/// Divides the catalogue into blocks of items, which bounds memory: the scores of one block for all users have at most
/// `most` entries, or a block has 16 items.
struct CatalogueBlocks {
  static constexpr int64_t most = int64_t{1} << 21;
  const Tensor& users;
  const Tensor& items;

  int64_t width() const {
    return std::min(items.size(0), std::max<int64_t>(16, most / std::max<int64_t>(1, users.size(0))));
  }
  /// Calls f(items of a block, their scores, number of the block's first item, counted from 0) for every block.
  template <class F>
  void each(F f) const {
    for (int64_t first = 0, step = width(); first < items.size(0); first += step) {
      cpu::check_interrupt();
      const Tensor block = items.slice(first, std::min(step, items.size(0) - first));
      f(block, product(users, false, block, true), first);
    }
  }
};

/// Returns the derivatives by the user and item embeddings. Scores are computed again in the backward pass, one block
/// of items after another, to save memory.
Gradients back_to_catalogue(const Tensor& users, const Tensor& items, double tau, const Tensor& tops,
                            const Tensor& totals, const Tensor& g, bool need_users, bool need_items) {
  Tensor by_users = Tensor::zeros(users.shape(), users.dtype(), users.device());
  const Tensor by_items = need_items ? Tensor::empty(items.shape(), items.dtype(), items.device()) : Tensor();
  CatalogueBlocks{users, items}.each([&](const Tensor& block, const Tensor& scores, int64_t first) {
    with_real(users.dtype(), [&]<class Real>() {
      kernels<NegativesKernels<Real>>(users.device())
          .catalogue_weights(users.size(0), {.scores = scores.span<Real>(),
                                             .width = block.size(0),
                                             .tau = tau,
                                             .tops = tops.span<const double>(),
                                             .totals = totals.span<const double>(),
                                             .upstream = g.span<const Real>()});
    });
    if (need_users) by_users = ops::add(by_users, product(scores, false, block, false));
    if (need_items) product_into(scores, true, users, false, by_items.slice(first, block.size(0)));
  });
  return {need_users ? Gradient(by_users) : Gradient(), need_items ? Gradient(by_items) : Gradient()};
}

Tensor catalogue_log_sums(const Tensor& users, const Tensor& items, double tau) {
  check::floating("users", users);
  check::same_kind("items", items, "users", users);
  if (users.dims() != 2 || items.dims() != 2 || users.size(1) != items.size(1) || items.size(0) == 0) {
    throw ArgumentError("items", "factors have shapes " + users.shape().text() + " and " + items.shape().text() +
                                     ", expected two matrices with the same number of columns, and at least one item");
  }
  check::positive("tau", tau);
  const Tensor tops = Tensor::full({users.size(0)}, -HUGE_VAL, Dtype::float64, users.device());
  const Tensor totals = Tensor::zeros({users.size(0)}, Dtype::float64, users.device());
  const Tensor value = empty_like(users, users.size(0));
  CatalogueBlocks{users.data(), items.data()}.each([&](const Tensor& block, const Tensor& scores, int64_t) {
    with_real(users.dtype(), [&]<class Real>() {
      kernels<NegativesKernels<Real>>(users.device())
          .add_to_log_sums(users.size(0), {.scores = scores.span<const Real>(),
                                           .width = block.size(0),
                                           .tau = tau,
                                           .tops = tops.span<double>(),
                                           .totals = totals.span<double>(),
                                           .value = value.span<Real>()});
    });
  });
  const bool need_users = users.node() != nullptr, need_items = items.node() != nullptr;
  return record("catalogue_log_sums", value, {users, items},
                [users = users.data(), items = items.data(), tau, tops, totals, need_users,
                 need_items](const Tensor& g) -> Gradients {
                  return back_to_catalogue(users, items, tau, tops, totals, g, need_users, need_items);
                });
}

}  // namespace

extern const lua::OpTable softmax_loss_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&part_log_sum>("part_log_sum", "scores, lists, part, tau",
                            "Log of the sum of e^(score / tau) over the rows of a part of each list: 'all', 'relevant' "
                            "or 'others'."),
     lua::op<&psl_loss>("psl_loss", "scores, lists, surrogate, tau, tau_star, whole, weights",
                        "PSL per list; if `whole`, the log of the sum over all pairs of a list. `weights`: of rows."),
     lua::op<&kth_largest>(
         "kth_largest", "scores, lists, k",
         "The k-th largest score of each list, or the smallest of a shorter one. It has no gradient."),
     lua::op<&llpauc_terms>("llpauc_terms", "scores, lists, parameters, kappa, by_relevant, by_others",
                            "The terms of LLPAUC that depend on scores, per list."),
     lua::op<&relevant_rows>("relevant_rows", "lists, like",
                             "Numbers of the rows with relevance of at least 1, the lists of these rows, and the "
                             "numbers of these and of other rows per list, in the type and on the device of `like`."),
     lua::op<&catalogue_log_sums>("catalogue_log_sums", "users, items, tau",
                                  "Log of the sum of e^(score / tau) over all items, for each user, by blocks of "
                                  "items.")}};

}  // namespace mr
