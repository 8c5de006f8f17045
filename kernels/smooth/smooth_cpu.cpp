// The CPU's smooth ranks, their derivative and the products of smooth RR. A list's ranks are sums over pairs, or over
// boxes where that is faster. Where scores span too much for pairs.h, pairs are summed with exponentials.
#include "kernels/core/launch_cpu.h"
#include "kernels/smooth/box_ranks.h"
#include "kernels/smooth/pair_pieces.h"
#include "kernels/smooth/rows.h"
#include "kernels/smooth/smooth_pairs.h"

namespace mr {
namespace cpu {
namespace {

constexpr int64_t long_list = 32768;  // rows from which all threads share one list by boxes

/// Calls run(list) for the lists that are faster by boxes, and returns which ones they are; valid until the thread's
/// next call.
template <class Work, class Run>
const uint8_t* do_boxes(int64_t count, const Work& work, const Run& run) {
  if (count == 0) return nullptr;
  thread_local std::vector<uint8_t> flags;
  flags.assign(static_cast<size_t>(count), 0);
  uint8_t* const done = flags.data();           // this thread's, whichever thread takes the list
  constexpr double of_list = 100, of_row = 10;  // nanoseconds
  const double time = of_list * static_cast<double>(count) + of_row * static_cast<double>(work.lists.begin(count));
  parallel_each(count, tasks_of_piece(count, time), [&](int64_t list) {
    done[list] = prefer_boxes(work, list);
    if (done[list] != 0 && work.lists.size(list) < long_list) run(work, list);
  });
  for (int64_t list = 0; list < count; ++list) {
    if (flags[list] != 0 && work.lists.size(list) >= long_list) run(work, list);
  }
  return flags.data();
}

/// How many of a list's rows those of a piece are paired with.
auto targets_of(const auto& work) {
  return [&work](int64_t list) { return work.targets.size(list); };
}
auto sources_of(const auto& work) {
  return [&work](int64_t list) { return work.sources.size(list); };
}

/// Whether a target is among the sources, which are ascending; then its own sigma(0) = 1/2 is subtracted.
bool is_source(const Chosen& sources, const Chosen& targets, int64_t list, int64_t slot) {
  if (sources.rows == nullptr || sources == targets) return true;
  const int64_t i = targets(list, slot);
  const int32_t* const first = sources.rows + sources.begin(list);
  return std::binary_search(first, first + sources.size(list), static_cast<int32_t>(i));
}

template <class Real>
double exact_rank_sum(const SmoothRank<Real>& w, const Chosen& sources, int64_t list, int64_t i) {
  const Real* const s = w.scores.data + w.lists.begin(list);
  double total = 0;
  for (int64_t source = 0; source < sources.size(list); ++source) {
    total += sigmoid(score_difference(s[sources(list, source)], s[i], w.gain));
  }
  return total;
}

/// Ranks over `sources` of the targets of the piece, whose exponentials are in `my.targets` where they are valid.
template <class Real>
void ranks_over(const SmoothRank<Real>& w, const Piece& piece, const Exponentials<Real>& e, const Chosen& sources,
                const Span<Real>& ranks) {
  const int64_t list = piece.list, m = piece.size();
  Scratch<Real>& my = scratch<Real>();
  my.sums.resize(static_cast<size_t>(m));
  if (e.valid) {
    const int64_t n = e.fill(my.sources, sources, list);
    pair_loops<Real>().rank_sums(my.sources.data(), n, my.targets.data(), m, my.sums.data());
  } else {
    for (int64_t i = 0; i < m; ++i) my.sums[i] = exact_rank_sum(w, sources, list, w.targets(list, piece.first + i));
  }
  for (int64_t i = 0; i < m; ++i) {
    const double own = is_source(sources, w.targets, list, piece.first + i) ? 0.5 : 1;
    ranks[w.targets.begin(list) + piece.first + i] = static_cast<Real>(own + my.sums[i]);
  }
}

template <class Real>
void rank_piece(const SmoothRank<Real>& w, const Piece& piece) {
  const auto kept = scratch<Real>().in_use();
  const Exponentials<Real> e(w.scores.data + w.lists.begin(piece.list), w.lists.size(piece.list), w.gain);
  if (e.valid) e.fill(scratch<Real>().targets, w.targets, piece);
  ranks_over(w, piece, e, w.sources, w.ranks);
  if (w.among.data != nullptr) ranks_over(w, piece, e, w.targets, w.among);
}

template <class Real>
void exact_vjp_rows(const SmoothRankVjp<Real>& w, const Piece& piece, double* partial) {
  const int64_t list = piece.list, p = w.targets.size(list), first = w.targets.begin(list);
  const Real* const s = w.scores.data + w.lists.begin(list);
  std::fill(partial, partial + p, 0.0);
  for (int64_t k = piece.first; k < piece.last; ++k) {
    double total = 0;
    for (int64_t i = 0; i < p; ++i) {
      const double kernel = logistic_kernel(score_difference(s[k], s[w.targets(list, i)], w.gain));
      total += w.g[first + i] * kernel;
      partial[i] += kernel;
    }
    w.out[w.lists.begin(list) + k] = static_cast<Real>(w.gain * total);
  }
}

/// Rows of the piece: out = a sum_i g_i k(s_k - s_i); partial[i] = sum of k over the rows of the piece.
template <class Real>
void vjp_rows(const SmoothRankVjp<Real>& w, const Piece& piece, double* partial) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const Exponentials<Real> e(w.scores.data + w.lists.begin(list), w.lists.size(list), w.gain);
  if (!e.valid) return exact_vjp_rows(w, piece, partial);
  Scratch<Real>& my = scratch<Real>();
  const auto kept = my.in_use();
  const int64_t n = e.fill(my.sources, piece.size(), [&](int64_t k) { return piece.first + k; });
  e.fill(my.targets, w.targets, list);
  my.totals.assign(static_cast<size_t>(n), 0.0);
  pair_loops<Real>().kernel_sums(my.sources.data(), n, my.targets.data(), w.g.data + w.targets.begin(list), p,
                                 my.totals.data(), partial);
  Real* const out = w.out.data + w.lists.begin(list) + piece.first;
  for (int64_t k = 0; k < piece.size(); ++k) out[k] = static_cast<Real>(w.gain * my.totals[k]);
}

/// sums[k] = sum over targets i of (h_i - h_k) k(s_i - s_k), for the targets k of the piece.
template <class Real>
void among_targets(const SmoothRankVjp<Real>& w, const Piece& piece, std::vector<double>& sums) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const Real *const s = w.scores.data + w.lists.begin(list), *const h = w.h.data + w.targets.begin(list);
  const Exponentials<Real> e(s, w.lists.size(list), w.gain);
  if (e.valid) {
    Scratch<Real>& my = scratch<Real>();
    const int64_t n = e.fill(my.sources, w.targets, list);
    e.fill(my.targets, w.targets, piece);
    my.weights.assign(static_cast<size_t>(n), Real(0));
    std::copy(h, h + p, my.weights.begin());
    pair_loops<Real>().kernel_differences(my.sources.data(), my.weights.data(), n, my.targets.data(), h + piece.first,
                                          piece.size(), sums.data());
    return;
  }
  for (int64_t k = piece.first; k < piece.last; ++k) {
    double total = 0;
    for (int64_t i = 0; i < p; ++i) {
      const Real t = score_difference(s[w.targets(list, i)], s[w.targets(list, k)], w.gain);
      total += (h[i] - h[k]) * static_cast<double>(logistic_kernel(t));
    }
    sums[k - piece.first] = total;
  }
}

/// Targets of the piece: adds the terms of targets, -g_k sum_j k, and those of h among the targets.
template <class Real>
void vjp_targets(const SmoothRankVjp<Real>& w, const Piece& piece, const double* partial, int64_t parts) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const auto kept = scratch<Real>().in_use();
  std::vector<double>& sums = scratch<Real>().sums;
  sums.assign(static_cast<size_t>(piece.size()), 0.0);
  if (w.h.data != nullptr) among_targets(w, piece, sums);
  Real* const out = w.out.data + w.lists.begin(list);
  for (int64_t k = piece.first; k < piece.last; ++k) {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += partial[part * p + k];
    const double own = sums[k - piece.first] - w.g[w.targets.begin(list) + k] * sum;
    out[w.targets(list, k)] += static_cast<Real>(w.gain * own);
  }
}

/// The lists that are not `done` (null: none is).
template <class Real>
void vjp_of_others(int64_t count, const SmoothRankVjp<Real>& work, const uint8_t* done) {
  thread_local std::vector<Piece> pieces;
  thread_local std::vector<int64_t> offsets;  // of each list's partial sums (pieces x targets)
  thread_local std::vector<double> partials;
  const Kept kept(pieces, offsets, partials);
  pieces.clear();
  offsets.assign(1, 0);
  for (int64_t list = 0; list < count; ++list) {
    int64_t slot = offsets.back();
    for (int64_t first = 0; (done == nullptr || done[list] == 0) && first < work.lists.size(list); first += row_piece) {
      pieces.push_back({list, first, std::min(first + row_piece, work.lists.size(list)), slot});
      slot += work.targets.size(list);
    }
    offsets.push_back(slot);
  }
  partials.resize(static_cast<size_t>(offsets.back()));
  double* const partial = partials.data();
  const int64_t* const at = offsets.data();  // other threads have offsets of their own
  for_each_piece(pieces, targets_of(work), [&](const Piece& piece) { vjp_rows(work, piece, partial + piece.slot); });
  for_each_piece(cut(work.targets, count, done), targets_of(work), [&](const Piece& piece) {
    const int64_t from = at[piece.list], parts = (at[piece.list + 1] - from) / work.targets.size(piece.list);
    vjp_targets(work, piece, partial + from, parts);
  });
}

template <class Real>
void smooth_rank(int64_t count, const SmoothRank<Real>& work) {
  const uint8_t* const done = do_boxes(count, work, [](const auto& w, int64_t list) { box_ranks(w, list); });
  for_each_piece(cut(work.targets, count, done), sources_of(work),
                 [&](const Piece& piece) { rank_piece(work, piece); });
}

template <class Real>
void smooth_rank_vjp(int64_t count, const SmoothRankVjp<Real>& work) {
  vjp_of_others(count, work, do_boxes(count, work, [](const auto& w, int64_t list) { box_vjp(w, list); }));
}

/// Targets of the piece, by the plain form; in double for either type, as there.
template <class Real>
void rr_terms_piece(const SmoothRrTerms<Real>& w, const Piece& piece) {
  const int64_t list = piece.list;
  const Exponentials<Real, double> e(w.scores.data + w.lists.begin(list), w.lists.size(list), w.gain);
  if (!e.valid) {
    if (piece.first == 0) w(SerialGroup{}, list);
    return;
  }
  Scratch<double>& my = scratch<double>();
  const auto kept = my.in_use();
  const int64_t n = e.fill(my.sources, w.targets, list), at = w.targets.begin(list) + piece.first;
  e.fill(my.targets, w.targets, piece);
  my.sums.resize(static_cast<size_t>(piece.size()));
  pair_loops<double>().products(my.sources.data(), n, my.targets.data(), piece.size(), my.sums.data());
  // the product holds the target's own factor of 1/2
  for (int64_t i = 0; i < piece.size(); ++i) w.terms[at + i] = static_cast<Real>(2 * my.sums[i] / w.rank[at + i]);
}

template <class Real>
void smooth_rr_terms(int64_t count, const SmoothRrTerms<Real>& work) {
  for_each_piece(cut(work.targets, count), targets_of(work), [&](const Piece& piece) { rr_terms_piece(work, piece); });
}

template <class Real>
void rr_product_piece(const SmoothRrProductVjp<Real>& w, const Piece& piece) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const Exponentials<Real, double> e(w.scores.data + w.lists.begin(list), w.lists.size(list), w.gain);
  if (!e.valid) {
    if (piece.first == 0) w(SerialGroup{}, list);
    return;
  }
  Scratch<double>& my = scratch<double>();
  const auto kept = my.in_use();
  const int64_t n = e.fill(my.sources, w.targets, list);
  e.fill(my.targets, w.targets, piece);
  my.weights.assign(static_cast<size_t>(n), 0.0);
  std::copy_n(w.terms.data + w.targets.begin(list), p, my.weights.begin());
  my.sums.resize(static_cast<size_t>(piece.size()));
  pair_loops<double>().ratio_differences(my.sources.data(), my.weights.data(), n, my.targets.data(),
                                         my.weights.data() + piece.first, piece.size(), my.sums.data());
  for (int64_t k = 0; k < piece.size(); ++k) {
    w.out[w.lists.begin(list) + w.targets(list, piece.first + k)] +=
        static_cast<Real>(w.upstream[list] * w.gain * my.sums[k]);
  }
}

template <class Real>
void smooth_rr_product_vjp(int64_t count, const SmoothRrProductVjp<Real>& work) {
  for_each_piece(cut(work.targets, count), targets_of(work),
                 [&](const Piece& piece) { rr_product_piece(work, piece); });
}

template <class Real>
void with_fast_forms(SmoothKernels<Real>& table) {
  table.smooth_rank = &smooth_rank<Real>;
  table.smooth_rank_vjp = &smooth_rank_vjp<Real>;
  table.smooth_rr_terms = &smooth_rr_terms<Real>;
  table.smooth_rr_product_vjp = &smooth_rr_product_vjp<Real>;
}

}  // namespace

template <class Real>
void ranks_by_pairs(int64_t count, const SmoothRank<Real>& work) {
  for_each_piece(cut(work.targets, count), sources_of(work), [&](const Piece& piece) { rank_piece(work, piece); });
}
template void ranks_by_pairs<float>(int64_t, const SmoothRank<float>&);
template void ranks_by_pairs<double>(int64_t, const SmoothRank<double>&);

template <class Real>
void vjp_by_pairs(int64_t count, const SmoothRankVjp<Real>& work) {
  vjp_of_others<Real>(count, work, nullptr);
}
template void vjp_by_pairs<float>(int64_t, const SmoothRankVjp<float>&);
template void vjp_by_pairs<double>(int64_t, const SmoothRankVjp<double>&);

}  // namespace cpu

MR_CPU_TABLE(SmoothKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(SmoothKernels, double, cpu::with_fast_forms)

}  // namespace mr
