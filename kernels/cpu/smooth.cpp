// The CPU's smooth ranks: lists are cut into pieces of fixed size, so that one long list keeps every thread busy and
// the sums do not depend on how many there are. Lists whose scores span too much for pairs.h are summed with
// exponentials.
#include "kernels/tables/smooth.h"

#include <algorithm>
#include <vector>

#include "kernels/cpu/launch.h"
#include "kernels/cpu/pairs.h"

namespace mr {
namespace cpu {
namespace {

constexpr int64_t target_piece = 512;
constexpr int64_t row_piece = 8192;

/// Part of a list: targets or rows first .. last - 1, and where its partial sums lie.
struct Piece {
  int64_t list, first, last, slot;
};

void for_each_piece(const std::vector<Piece>& pieces, const auto& f) {
  struct Context {
    const std::vector<Piece>& pieces;
    decltype(f) work;
  } const context{pieces, f};
  parallel(
      static_cast<int64_t>(pieces.size()), 1,
      [](const void* c, int64_t first, int64_t last) {
        const auto& at = *static_cast<const Context*>(c);
        for (int64_t i = first; i < last; ++i) at.work(at.pieces[static_cast<size_t>(i)]);
      },
      &context);
}

/// One thread's arrays, which grow and stay.
template <class Real>
struct Scratch {
  std::vector<Real> sources, targets, weights, weights2;
  std::vector<double> sums, totals;
};
template <class Real>
Scratch<Real>& scratch() {
  thread_local Scratch<Real> the_scratch;
  return the_scratch;
}

/// exp(a (s - centre)) relative to the middle of the list's scores; `valid` where they do not span too much.
template <class Real>
struct Exponentials {
  double centre = 0, gain = 1;
  bool valid = false;

  Exponentials(const Real* scores, int64_t n, Real a) : gain(a) {
    if (n == 0) return;
    const auto [low, high] = std::minmax_element(scores, scores + n);
    const double span = std::fabs(gain) * (static_cast<double>(*high) - *low);
    valid = span <= ratio_span<Real>;  // false for infinities, which differ by infinity or NaN
    centre = 0.5 * (static_cast<double>(*low) + *high);
  }

  Real operator()(Real score) const { return static_cast<Real>(std::exp(gain * (score - centre))); }
};

int64_t filled_up(int64_t n) { return (n + pair_padding - 1) / pair_padding * pair_padding; }

/// e of rows row_of(0) .. row_of(n - 1), filled up with zeros.
template <class Real>
void fill_sources(std::vector<Real>& to, const Exponentials<Real>& e, const Real* scores, int64_t n,
                  const auto& row_of) {
  to.assign(static_cast<size_t>(filled_up(n)), Real(0));
  for (int64_t j = 0; j < n; ++j) to[static_cast<size_t>(j)] = e(scores[row_of(j)]);
}

template <class Real>
double exact_rank_sum(const SmoothRank<Real>& w, int64_t list, int64_t i) {
  const Real* const s = w.scores.data + w.lists.begin(list);
  double total = 0;
  for (int64_t source = 0; source < w.sources.size(list); ++source) {
    total += sigmoid(score_difference(s[w.sources(list, source)], s[i], w.gain));
  }
  return total;
}

/// Whether row i is among the sources, which are ascending; then its own sigma(0) = 1/2 must go.
template <class Real>
bool is_source(const SmoothRank<Real>& w, int64_t list, int64_t i) {
  if (w.sources.rows == nullptr) return true;
  const int32_t* const first = w.sources.rows + w.sources.begin(list);
  return std::binary_search(first, first + w.sources.size(list), static_cast<int32_t>(i));
}

template <class Real>
void rank_piece(const SmoothRank<Real>& w, const Piece& piece) {
  const int64_t list = piece.list, m = piece.last - piece.first;
  const Real* const s = w.scores.data + w.lists.begin(list);
  const Exponentials<Real> e(s, w.lists.size(list), w.gain);
  Scratch<Real>& my = scratch<Real>();
  my.sums.resize(static_cast<size_t>(m));
  if (e.valid) {
    fill_sources(my.sources, e, s, w.sources.size(list), [&](int64_t j) { return w.sources(list, j); });
    my.targets.resize(static_cast<size_t>(m));
    for (int64_t i = 0; i < m; ++i) my.targets[i] = e(s[w.targets(list, piece.first + i)]);
    pair_loops<Real>().rank_sums(my.sources.data(), static_cast<int64_t>(my.sources.size()), my.targets.data(), m,
                                 my.sums.data());
  } else {
    for (int64_t i = 0; i < m; ++i) my.sums[i] = exact_rank_sum(w, list, w.targets(list, piece.first + i));
  }
  for (int64_t i = 0; i < m; ++i) {
    const double own = is_source(w, list, w.targets(list, piece.first + i)) ? 0.5 : 1;
    w.ranks[w.targets.begin(list) + piece.first + i] = static_cast<Real>(own + my.sums[i]);
  }
}

std::vector<Piece> cut(const Chosen& targets, int64_t count, int64_t length) {
  std::vector<Piece> pieces;
  for (int64_t list = 0; list < count; ++list) {
    for (int64_t first = 0; first < targets.size(list); first += length) {
      pieces.push_back({list, first, std::min(first + length, targets.size(list)), 0});
    }
  }
  return pieces;
}

template <class Real>
void smooth_rank(int64_t count, const SmoothRank<Real>& work) {
  for_each_piece(cut(work.targets, count, target_piece), [&](const Piece& piece) { rank_piece(work, piece); });
}

/// Rows of the piece: out = a sum_i g_i k(s_k - s_i); partial[i] = sum of k over the rows of the piece.
template <class Real>
void vjp_rows(const SmoothRankVjp<Real>& w, const Piece& piece, const Exponentials<Real>& e, double* partial) {
  const int64_t list = piece.list, n = piece.last - piece.first, p = w.targets.size(list),
                first = w.targets.begin(list);
  const Real* const s = w.scores.data + w.lists.begin(list);
  Real* const out = w.out.data + w.lists.begin(list) + piece.first;
  if (!e.valid) {
    std::fill(partial, partial + p, 0.0);
    for (int64_t k = 0; k < n; ++k) {
      double total = 0;
      for (int64_t i = 0; i < p; ++i) {
        const double kernel = logistic_kernel(score_difference(s[piece.first + k], s[w.targets(list, i)], w.gain));
        total += w.g[first + i] * kernel;
        partial[i] += kernel;
      }
      out[k] = static_cast<Real>(w.gain * total);
    }
    return;
  }
  Scratch<Real>& my = scratch<Real>();
  fill_sources(my.sources, e, s, n, [&](int64_t k) { return piece.first + k; });
  my.targets.resize(static_cast<size_t>(p));
  for (int64_t i = 0; i < p; ++i) my.targets[i] = e(s[w.targets(list, i)]);
  my.totals.assign(my.sources.size(), 0.0);
  pair_loops<Real>().kernel_sums(my.sources.data(), static_cast<int64_t>(my.sources.size()), my.targets.data(),
                                 w.g.data + first, p, my.totals.data(), partial);
  for (int64_t k = 0; k < n; ++k) out[k] = static_cast<Real>(w.gain * my.totals[k]);
}

/// Targets of the piece: adds what comes from being a target, -g_k sum_j k, and the terms of h among the targets.
template <class Real>
void vjp_targets(const SmoothRankVjp<Real>& w, const Piece& piece, const double* partial, int64_t parts) {
  const int64_t list = piece.list, m = piece.last - piece.first, p = w.targets.size(list),
                first = w.targets.begin(list);
  const Real* const s = w.scores.data + w.lists.begin(list);
  Real* const out = w.out.data + w.lists.begin(list);
  Scratch<Real>& my = scratch<Real>();
  // with sources and targets swapped, `totals` are sums over all targets of h_i k for the targets of the piece
  my.totals.assign(static_cast<size_t>(filled_up(m)), 0.0);
  std::vector<double>& own = my.sums;
  own.assign(static_cast<size_t>(m), 0.0);
  if (w.h.data != nullptr) {
    const Exponentials<Real> e(s, w.lists.size(list), w.gain);
    if (e.valid) {
      fill_sources(my.sources, e, s, m, [&](int64_t i) { return w.targets(list, piece.first + i); });
      my.targets.resize(static_cast<size_t>(p));
      for (int64_t i = 0; i < p; ++i) my.targets[i] = e(s[w.targets(list, i)]);
      std::vector<double> unused(static_cast<size_t>(p));
      pair_loops<Real>().kernel_sums(my.sources.data(), filled_up(m), my.targets.data(), w.h.data + first, p,
                                     my.totals.data(), unused.data());
      my.weights.assign(static_cast<size_t>(p), Real(1));
      std::vector<double> counts(static_cast<size_t>(filled_up(m)), 0.0);
      pair_loops<Real>().kernel_sums(my.sources.data(), filled_up(m), my.targets.data(), my.weights.data(), p,
                                     counts.data(), unused.data());
      for (int64_t i = 0; i < m; ++i) own[i] = my.totals[i] - w.h[first + piece.first + i] * counts[i];
    } else {
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < p; ++j) {
          const Real t = score_difference(s[w.targets(list, j)], s[w.targets(list, piece.first + i)], w.gain);
          own[i] += (w.h[first + j] - w.h[first + piece.first + i]) * static_cast<double>(logistic_kernel(t));
        }
      }
    }
  }
  for (int64_t i = 0; i < m; ++i) {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += partial[part * p + piece.first + i];
    out[w.targets(list, piece.first + i)] += static_cast<Real>(w.gain * (own[i] - w.g[first + piece.first + i] * sum));
  }
}

/// Offsets of each list's partial sums (pieces x targets), and their total at the end.
template <class Real>
std::vector<int64_t> partial_offsets(int64_t count, const SmoothRankVjp<Real>& work) {
  std::vector<int64_t> offsets{0};
  for (int64_t list = 0; list < count; ++list) {
    const int64_t parts = (work.lists.size(list) + row_piece - 1) / row_piece;
    offsets.push_back(offsets.back() + parts * work.targets.size(list));
  }
  return offsets;
}

template <class Real>
void smooth_rank_vjp(int64_t count, const SmoothRankVjp<Real>& work) {
  const std::vector<int64_t> offsets = partial_offsets(count, work);
  std::vector<double> partial(static_cast<size_t>(offsets.back()));
  std::vector<Piece> pieces;
  for (int64_t list = 0; list < count; ++list) {
    int64_t slot = offsets[list];
    for (int64_t first = 0; first < work.lists.size(list); first += row_piece) {
      pieces.push_back({list, first, std::min(first + row_piece, work.lists.size(list)), slot});
      slot += work.targets.size(list);
    }
  }
  for_each_piece(pieces, [&](const Piece& piece) {
    const Exponentials<Real> e(work.scores.data + work.lists.begin(piece.list), work.lists.size(piece.list), work.gain);
    vjp_rows(work, piece, e, partial.data() + piece.slot);
  });
  for_each_piece(cut(work.targets, count, target_piece), [&](const Piece& piece) {
    const int64_t p = work.targets.size(piece.list), parts = (offsets[piece.list + 1] - offsets[piece.list]) / p;
    vjp_targets(work, piece, partial.data() + offsets[piece.list], parts);
  });
}

template <class Real>
void with_fast_forms(SmoothKernels<Real>& table) {
  table.smooth_rank = &smooth_rank<Real>;
  table.smooth_rank_vjp = &smooth_rank_vjp<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(SmoothKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(SmoothKernels, double, cpu::with_fast_forms)

}  // namespace mr
