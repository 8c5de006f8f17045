#include "runtime/ranking/smooth.h"

#include <limits>
#include <optional>
#include <string>

#include "kernels/smooth/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/named.h"
#include "runtime/ranking/ranking.h"

namespace mr {

float any_gain() { return static_cast<float>(std::numeric_limits<double>::epsilon()); }

namespace {

constexpr Named<SmoothKernel> smooth_kernels[] = {{"logistic", SmoothKernel::logistic},
                                                  {"laplace", SmoothKernel::laplace}};

/// The input of a smooth metric, checked: scores, lists, the target rows (whose ranks are computed), and the form of
/// the smooth rank.
struct Problem {
  Tensor scores;
  Lists lists;
  const ChosenRows* targets;
  SmoothForm form;
  Tensor order = {};  // every list's rows by descending score, for the Laplace kernel

  Problem(const Tensor& s, const Lists& l, float threshold, const SmoothForm& f)
      : scores(s.data()), lists(l), targets(&l.relevant_rows(threshold, s.device())), form(f) {
    if (is_laplace()) order = order_of(rank_rows(scores, lists, Ties::stable, 1));
  }

  bool is_laplace() const { return form.kernel == SmoothKernel::laplace; }

  Tensor ranks() const { return ranks(targets->view(), targets->total, all_rows(), Tensor()); }

  /// Returns the smooth ranks of the rows `at` among the rows `sources`: sums over `sources` of a sigmoid of score
  /// differences. If `among` is defined, it receives the smooth ranks of the rows `at` among the rows `at`.
  Tensor ranks(Chosen at, int64_t total, Chosen sources, const Tensor& among) const {
    Tensor out = Tensor::empty({total}, scores.dtype(), scores.device());
    with_real(scores.dtype(), [&]<class Real>() {
      const Span<Real> of_targets = among.defined() ? among.span<Real>() : Span<Real>{};
      const auto& table = kernels<SmoothKernels<Real>>(scores.device());
      if (is_laplace()) {
        table.laplace_rank(lists.count(), {.scores = scores.span<const Real>(),
                                           .order = order.span<const int64_t>(),
                                           .lists = ragged(),
                                           .targets = at,
                                           .sources = sources,
                                           .steepness = steepness<Real>(),
                                           .spare = spare(LaplaceRank<Real>::slots).template span<double>(),
                                           .ranks = out.span<Real>(),
                                           .among = of_targets});
      } else {
        table.smooth_rank(lists.count(), {.scores = scores.span<const Real>(),
                                          .lists = ragged(),
                                          .targets = at,
                                          .sources = sources,
                                          .steepness = steepness<Real>(),
                                          .ranks = out.span<Real>(),
                                          .among = of_targets,
                                          .longest = lists.longest()});
      }
    });
    return out;
  }

  Ragged ragged() const { return lists.view(scores.device()); }
  Chosen all_rows() const { return {ragged(), nullptr}; }

  template <class Real>
  Real steepness() const {
    return static_cast<Real>(form.steepness);
  }

  template <class Real>
  void vjp(const Tensor& g, const Tensor& h, const Tensor& out) const {
    const Span<const Real> of_h = h.defined() ? h.span<const Real>() : Span<const Real>{};
    const auto& table = kernels<SmoothKernels<Real>>(scores.device());
    if (is_laplace()) {
      return table.laplace_rank_vjp(lists.count(), {.scores = scores.span<const Real>(),
                                                    .order = order.span<const int64_t>(),
                                                    .lists = ragged(),
                                                    .targets = targets->view(),
                                                    .steepness = steepness<Real>(),
                                                    .g = g.span<const Real>(),
                                                    .h = of_h,
                                                    .spare = spare(LaplaceRankVjp<Real>::slots).template span<double>(),
                                                    .out = out.span<Real>()});
    }
    table.smooth_rank_vjp(lists.count(), {.scores = scores.span<const Real>(),
                                          .lists = ragged(),
                                          .targets = targets->view(),
                                          .steepness = steepness<Real>(),
                                          .g = g.span<const Real>(),
                                          .h = of_h,
                                          .out = out.span<Real>(),
                                          .longest = lists.longest()});
  }

  /// Computes for each relevant row i its term in smooth RR: the product over the other relevant rows j of the
  /// probability that i is above j, divided by the smooth rank of i. If `rank` is undefined, computes only the product.
  template <class Real>
  void rr_terms(const Tensor& rank, const Tensor& terms) const {
    const auto& table = kernels<SmoothKernels<Real>>(scores.device());
    const auto run = [&]<class Work>(void (*kernel)(int64_t, const Work&)) {
      kernel(lists.count(), {.scores = scores.span<const Real>(),
                             .lists = ragged(),
                             .targets = targets->view(),
                             .steepness = steepness<Real>(),
                             .rank = rank.defined() ? rank.span<const Real>() : Span<const Real>{},
                             .terms = terms.span<Real>()});
    };
    is_laplace() ? run(table.laplace_rr_terms) : run(table.smooth_rr_terms);
  }

  /// Adds to `out` the part of smooth RR's gradient that comes from the products in its terms. `upstream` has the
  /// gradient of each list's value; if it is empty, all are 1.
  template <class Real>
  void product_vjp(const Tensor& terms, const Span<const Real>& upstream, const Tensor& out) const {
    const auto& table = kernels<SmoothKernels<Real>>(scores.device());
    const SmoothRrProductVjp<Real> work{.scores = scores.span<const Real>(),
                                        .lists = ragged(),
                                        .targets = targets->view(),
                                        .steepness = steepness<Real>(),
                                        .terms = terms.span<const Real>(),
                                        .upstream = upstream,
                                        .out = out.span<Real>()};
    if (is_laplace()) return table.laplace_rr_product_vjp(lists.count(), {work});
    table.smooth_rr_product_vjp(lists.count(), work);
  }

 private:
  Tensor spare(int64_t slots) const { return Tensor::empty({slots * lists.rows()}, Dtype::float64, scores.device()); }
};

void check_scores(const char* operation, const Tensor& scores, const Lists& lists, const SmoothForm& form) {
  check::per_row("scores", scores, lists);
  check::not_nan(operation, "scores", scores);
  check::positive("steepness", form.steepness);
}

float checked_threshold(double relevant) {
  check::positive("relevant", relevant);
  return static_cast<float>(relevant);
}

/// Returns the arrays for the kernel of a smooth metric. If `upstream` is undefined, the kernel computes the metric's
/// values, else its derivatives by the ranks.
template <class Real>
SmoothMetricViews<Real> views(const Problem& p, const Tensor& rank, const Tensor& among, const Tensor& upstream,
                              const Tensor& value, const Tensor& g, const Tensor& h) {
  const auto span = [](const Tensor& x) { return x.defined() ? x.span<Real>() : Span<Real>{}; };
  return {.targets = p.targets->view(),
          .rank = span(rank),
          .rank_among_relevant = span(among),
          .upstream = span(upstream),
          .value = span(value),
          .g = span(g),
          .h = span(h)};
}

/// Computes a smooth metric by the kernel that metric(views) runs: now for the values, and in the backward pass for the
/// derivatives. `metric` must accept float32 and float64. In the backward pass, `more` adds terms that do not come from
/// the ranks.
template <class Passes, class More>
Tensor smooth_metric(const char* name, const Tensor& scores, const Problem& p, const Tensor& rank, const Tensor& among,
                     Passes metric, More more) {
  const Tensor none;
  const Tensor value = Tensor::empty({p.lists.count()}, scores.dtype(), scores.device());
  with_real(scores.dtype(), [&]<class Real>() { metric(views<Real>(p, rank, among, none, value, none, none)); });
  return record(name, value, {scores}, [p, rank, among, metric, more](const Tensor& upstream) -> Gradients {
    const Tensor none;
    Tensor g = Tensor::empty(rank.shape(), rank.dtype(), rank.device());
    Tensor h = among.defined() ? Tensor::empty(rank.shape(), rank.dtype(), rank.device()) : none;
    Tensor out = Tensor::empty(p.scores.shape(), rank.dtype(), rank.device());
    with_real(rank.dtype(), [&]<class Real>() {
      metric(views<Real>(p, rank, among, upstream, none, g, h));
      p.vjp<Real>(g, h, out);
      more(Real(), upstream, out);
    });
    return {out};
  });
}

constexpr auto nothing_more = [](auto, const Tensor&, const Tensor&) {};

}  // namespace

Tensor smooth_ndcg(const Tensor& scores, const Lists& lists, const SmoothForm& form) {
  check_scores("smooth_ndcg", scores, lists, form);
  const Problem p(scores, lists, any_gain(), form);
  const int64_t slopes = recording({scores}) ? p.targets->total : 0;
  const Tensor slope = Tensor::empty({slopes}, Dtype::float64, scores.device());
  const auto metric = [p, slope]<class Real>(const SmoothMetricViews<Real>& v) {
    const Device device = p.scores.device();
    kernels<SmoothKernels<Real>>(device).smooth_ndcg(p.lists.count(),
                                                     {.v = v,
                                                      .relevance = p.lists.relevance(device).span<const float>(),
                                                      .lists = p.ragged(),
                                                      .ideal = ideal_dcg(p.lists, device).span<const double>(),
                                                      .slope = slope.span<double>()});
  };
  return smooth_metric("smooth_ndcg", scores, p, p.ranks(), Tensor(), metric, nothing_more);
}

Tensor smooth_ap(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant) {
  check_scores("smooth_ap", scores, lists, form);
  const Problem p(scores, lists, checked_threshold(relevant), form);
  const auto metric = [p]<class Real>(const SmoothMetricViews<Real>& v) {
    kernels<SmoothKernels<Real>>(p.scores.device()).smooth_ap(p.lists.count(), {v});
  };
  const Tensor among = Tensor::empty({p.targets->total}, scores.dtype(), scores.device());
  const Tensor rank = p.ranks(p.targets->view(), p.targets->total, p.all_rows(), among);
  return smooth_metric("smooth_ap", scores, p, rank, among, metric, nothing_more);
}

Tensor smooth_nrbp_loss(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant) {
  check_scores("smooth_nrbp_loss", scores, lists, form);
  const Problem p(scores, lists, checked_threshold(relevant), form);
  const auto metric = [p]<class Real>(const SmoothMetricViews<Real>& v) {
    kernels<SmoothKernels<Real>>(p.scores.device()).smooth_nrbp_loss(p.lists.count(), {v});
  };
  return smooth_metric("smooth_nrbp_loss", scores, p, p.ranks(), Tensor(), metric, nothing_more);
}

namespace {

/// Computes smooth RR, or its logarithm, with an autograd node. values(views) runs the kernel that computes the values
/// and, in `terms`, each relevant row's term (for the logarithm: the term's share of the sum). The gradient is the same
/// function of `terms` for both.
template <class Values>
Tensor of_rr_terms(const char* name, const Tensor& scores, const Problem& p, const Tensor& rank, const Tensor& terms,
                   Values values) {
  const auto metric = [p, terms, values]<class Real>(const SmoothMetricViews<Real>& v) {
    if (v.upstream.data == nullptr) return values(v);
    kernels<SmoothKernels<Real>>(terms.device()).smooth_rr(p.lists.count(), {v, terms.span<const Real>()});
  };
  const auto products = [p, terms](auto real, const Tensor& upstream, const Tensor& out) {
    using Real = decltype(real);
    p.product_vjp<Real>(terms, upstream.span<const Real>(), out);
  };
  return smooth_metric(name, scores, p, rank, Tensor(), metric, products);
}

}  // namespace

Tensor smooth_rr(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant) {
  check_scores("smooth_rr", scores, lists, form);
  const Problem p(scores, lists, checked_threshold(relevant), form);
  const Tensor rank = p.ranks();
  const Tensor terms = Tensor::empty(rank.shape(), rank.dtype(), rank.device());
  return of_rr_terms(
      "smooth_rr", scores, p, rank, terms, [p, rank, terms]<class Real>(const SmoothMetricViews<Real>& v) {
        p.rr_terms<Real>(rank, terms);
        kernels<SmoothKernels<Real>>(rank.device()).smooth_rr(p.lists.count(), {v, terms.span<const Real>()});
      });
}

namespace {

/// Returns for each relevant row i the product in smooth RR: over the other relevant rows j, the probability that i is
/// above j. Returns 0 for other rows.
Tensor smooth_first(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant) {
  check_scores("smooth_first", scores, lists, form);
  const Problem p(scores, lists, checked_threshold(relevant), form);
  const Tensor products = Tensor::empty({p.targets->total}, scores.dtype(), scores.device());
  const Tensor value = Tensor::empty(scores.shape(), scores.dtype(), scores.device());
  const auto at_targets = [p, products]<class Real>(const Span<const Real>& upstream, const Tensor& out) {
    kernels<SmoothKernels<Real>>(out.device())
        .smooth_first(p.lists.count(), {.lists = p.ragged(),
                                        .targets = p.targets->view(),
                                        .products = products.span<const Real>(),
                                        .upstream = upstream,
                                        .out = out.span<Real>()});
  };
  with_real(scores.dtype(), [&]<class Real>() {
    p.rr_terms<Real>(Tensor(), products);
    at_targets(Span<const Real>{}, value);
  });
  return record("smooth_first", value, {scores}, [p, products, at_targets](const Tensor& upstream) -> Gradients {
    const Tensor terms = Tensor::empty(products.shape(), products.dtype(), products.device());
    Tensor out = Tensor::zeros(p.scores.shape(), products.dtype(), products.device());
    with_real(products.dtype(), [&]<class Real>() {
      at_targets(upstream.span<const Real>(), terms);
      p.product_vjp<Real>(terms, {}, out);
    });
    return {out};
  });
}

Tensor smooth_log_rr(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant) {
  check_scores("smooth_log_rr", scores, lists, form);
  const Problem p(scores, lists, checked_threshold(relevant), form);
  const Tensor rank = p.ranks();
  const Tensor terms = Tensor::empty(rank.shape(), rank.dtype(), rank.device());
  const auto values = [p, rank, terms]<class Real>(const SmoothMetricViews<Real>& v) {
    const Tensor logs = Tensor::empty(rank.shape(), Dtype::float64, rank.device());
    const auto& table = kernels<SmoothKernels<Real>>(rank.device());
    const auto run = [&]<class Work>(void (*kernel)(int64_t, const Work&)) {
      kernel(p.lists.count(), {.scores = p.scores.span<const Real>(),
                               .lists = p.ragged(),
                               .targets = p.targets->view(),
                               .steepness = p.steepness<Real>(),
                               .rank = rank.span<const Real>(),
                               .logs = logs.span<double>(),
                               .terms = terms.span<Real>(),
                               .value = v.value});
    };
    p.is_laplace() ? run(table.laplace_log_rr) : run(table.smooth_log_rr);
  };
  return of_rr_terms("smooth_log_rr", scores, p, rank, terms, values);
}

Tensor smooth_rank(const Tensor& scores, const Lists& lists, const SmoothForm& form) {
  check_scores("smooth_rank", scores, lists, form);
  // With threshold -1 the ranks of all rows are computed, because every grade is at least -1.
  const Problem p(scores, lists, -1, form);
  const Tensor out = p.ranks();
  return record("smooth_rank", out, {scores}, [p](const Tensor& g) -> Gradients {
    Tensor gs = Tensor::empty(p.scores.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() { p.vjp<Real>(g, Tensor(), gs); });
    return {gs};
  });
}

/// Returns for every row its smooth rank among the relevant rows only. Not differentiable.
Tensor smooth_rank_among_relevant(const Tensor& scores, const Lists& lists, const SmoothForm& form, double relevant) {
  check_scores("smooth_rank_among_relevant", scores, lists, form);
  const Problem p(scores, lists, checked_threshold(relevant), form);
  return p.ranks(p.all_rows(), lists.rows(), p.targets->view(), Tensor());
}

using Kernel = std::optional<std::string>;
SmoothForm form_of(double steepness, const Kernel& kernel) {
  return {steepness, value_of(smooth_kernels, "kernel", kernel.value_or("logistic"))};
}

Tensor smooth_of(const Metric& metric, const Tensor& scores, const Lists& lists, double steepness) {
  if (!metric.has_smooth()) throw ArgumentError("metric", "'" + metric.name + "' has no smooth form");
  return metric.definition->smooth(scores, lists, metric, steepness);
}

/// `of_ranks` and `of_relevant` are the Lua functions of a smooth metric: they make a SmoothForm from the arguments
/// `steepness` and `kernel` and call `smooth`. `of_relevant` also passes the smallest relevant grade.
template <Tensor (*smooth)(const Tensor&, const Lists&, const SmoothForm&)>
Tensor of_ranks(const Tensor& scores, const Lists& lists, double steepness, Kernel kernel) {
  return smooth(scores, lists, form_of(steepness, kernel));
}
template <Tensor (*smooth)(const Tensor&, const Lists&, const SmoothForm&, double)>
Tensor of_relevant(const Tensor& scores, const Lists& lists, double steepness, double relevant, Kernel kernel) {
  return smooth(scores, lists, form_of(steepness, kernel), relevant);
}

}  // namespace

using lua::op;
extern const lua::OpTable smooth_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Metric>,
    {op<&smooth_of>("smooth", "self, scores, lists, steepness", "The metric's smooth form, one value per list.")}};
extern const lua::OpTable smooth_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&of_ranks<&smooth_rank>>("smooth_rank", "scores, lists, steepness, kernel?",
                                    "Smooth rank of every row (Westerborg 2022, Eq. 2.9)."),
        op<&of_relevant<&smooth_rank_among_relevant>>(
            "smooth_rank_among_relevant", "scores, lists, steepness, relevant, kernel?",
            "Smooth rank of every row among the relevant rows; not differentiable."),
        op<&of_ranks<&smooth_ndcg>>("smooth_ndcg", "scores, lists, steepness, kernel?",
                                    "Smooth nDCG per list (Eq. 2.10)."),
        op<&of_relevant<&smooth_ap>>("smooth_ap", "scores, lists, steepness, relevant, kernel?",
                                     "Smooth AP per list (Eq. 2.11)."),
        op<&of_relevant<&smooth_rr>>("smooth_rr", "scores, lists, steepness, relevant, kernel?",
                                     "Smooth RR per list (Li et al. 2021, Eq. 16)."),
        op<&of_relevant<&smooth_log_rr>>(
            "smooth_log_rr", "scores, lists, steepness, relevant, kernel?",
            "Logarithm of smooth RR per list. 0 for lists with only relevant rows or without relevant rows."),
        op<&of_relevant<&smooth_first>>(
            "smooth_first", "scores, lists, steepness, relevant, kernel?",
            "For every relevant row i, the product over the other relevant rows j of sigma(steepness "
            "(s_i - s_j)); 0 for other rows."),
        op<&of_relevant<&smooth_nrbp_loss>>("smooth_nrbp_loss", "scores, lists, steepness, relevant, kernel?",
                                            "Smooth nRBP loss per list (Eq. 2.12)."),
    }};

}  // namespace mr
