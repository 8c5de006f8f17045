// The CPU's smooth ranks and their derivatives. A list's ranks are sums over all pairs of rows, over pairs of near
// scores, or over boxes (intervals of scores), whichever is fastest. Where scores span too much for the ratios of
// exponential_pairs.h, pairs use exponentials.
#include <type_traits>

#include "kernels/core/launch_cpu.h"
#include "kernels/smooth/boxes/box_ranks.h"
#include "kernels/smooth/front_rows.h"
#include "kernels/smooth/near_pairs.h"
#include "kernels/smooth/pair_pieces.h"
#include "kernels/smooth/rows.h"
#include "kernels/smooth/smooth_metrics_cpu.h"
#include "kernels/smooth/smooth_pairs.h"

namespace mr {
namespace cpu {
namespace {

// a list with at least this many rows is summed by boxes of scores, if at all, on all threads together
constexpr int64_t long_list = 32768;

/// Computes the lists that are faster without sums over all pairs, and returns a flag per list that is 1 for these
/// lists. near(work, list) sums over pairs of near scores and returns true if it computed the list. boxed(work, list)
/// sums over boxes (intervals of scores). The flags are valid until the thread's next call.
template <class Work>
const uint8_t* do_fast(int64_t count, const Work& work, const auto& near, const auto& boxed) {
  if (count == 0) return nullptr;
  static constinit thread_local OfThread<std::vector<uint8_t>> the_flags;
  std::vector<uint8_t>& flags = the_flags.get();
  flags.assign(static_cast<size_t>(count), 0);
  // flags of the calling thread, because `flags` is thread_local; all threads write them
  uint8_t* const done = flags.data();
  constexpr double of_list = 100, of_row = 10;  // estimated nanoseconds for each list and for each row
  const double time = of_list * static_cast<double>(count) + of_row * static_cast<double>(work.lists.begin(count));
  parallel_each(count, tasks_of_piece(count, time), [&](int64_t list) {
    const bool is_long = work.lists.size(list) >= long_list;
    done[list] = !is_long && near(work, list);
    if (done[list] != 0) return;
    done[list] = prefer_boxes(work, list);
    if (done[list] != 0 && !is_long) boxed(work, list);
  });
  for (int64_t list = 0; list < count; ++list) {
    if (flags[list] != 0 && work.lists.size(list) >= long_list) boxed(work, list);
  }
  return flags.data();
}

/// Returns a function that gives the number of sources (rows summed over) of a list. for_each_piece uses it to estimate
/// the time of tasks that pair every target with every source.
auto sources_of(const auto& work) {
  return [&work](int64_t list) { return work.sources.size(list); };
}

/// Returns true if a target (row ranked) is also one of the sources (rows summed over), which are ascending. The sum
/// then includes the target's own term sigma(0) = 1/2, which the caller subtracts.
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
    total += sigmoid(score_difference(s[sources(list, source)], s[i], w.steepness));
  }
  return total;
}

/// Writes the ranks of a piece (range of targets) from `sums`, the sums of these targets over `sources`.
template <class Real>
void write_ranks(const SmoothRank<Real>& w, const Piece& piece, const Chosen& sources, const std::vector<double>& sums,
                 const Span<Real>& ranks) {
  for (int64_t i = 0; i < piece.size(); ++i) {
    const double own = is_source(sources, w.targets, piece.list, piece.first + i) ? 0.5 : 1;
    ranks[w.targets.begin(piece.list) + piece.first + i] = static_cast<Real>(own + sums[i]);
  }
}

template <class Real, class Wide>
void ranks_by_ratios(const SmoothRank<Real>& w, const Piece& piece, const Exponentials<Real, Wide>& e) {
  const int64_t list = piece.list, m = piece.size();
  Scratch<Wide>& my = scratch<Wide>();
  const auto kept = my.in_use();
  const int64_t n = e.fill(my.sources, w.sources, list);
  if (w.sources.rows == nullptr) {
    e.pick(my.targets, my.sources, m, [&](int64_t i) { return w.targets(list, piece.first + i); });
  } else {
    e.fill(my.targets, w.targets, piece);
  }
  my.sums.resize(static_cast<size_t>(m));
  const auto over = [&](const Chosen& sources, const std::vector<Wide>& from, int64_t count, const Span<Real>& ranks) {
    pair_loops<Wide>().rank_sums(from.data(), count, my.targets.data(), m, my.sums.data());
    write_ranks(w, piece, sources, my.sums, ranks);
  };
  over(w.sources, my.sources, n, w.ranks);
  if (w.among.data == nullptr) return;
  if (m == w.targets.size(list)) return over(w.targets, my.targets, filled_up(m), w.among);
  const int64_t p = e.fill(my.sources, w.targets, list);
  over(w.targets, my.sources, p, w.among);
}

template <class Real>
void exact_ranks(const SmoothRank<Real>& w, const Piece& piece) {
  std::vector<double>& sums = scratch<Real>().sums;
  sums.resize(static_cast<size_t>(piece.size()));
  const auto over = [&](const Chosen& sources, const Span<Real>& ranks) {
    for (int64_t i = 0; i < piece.size(); ++i)
      sums[i] = exact_rank_sum(w, sources, piece.list, w.targets(piece.list, piece.first + i));
    write_ranks(w, piece, sources, sums, ranks);
  };
  over(w.sources, w.ranks);
  if (w.among.data != nullptr) over(w.targets, w.among);
}

template <class Real>
void rank_piece(const SmoothRank<Real>& w, const Piece& piece) {
  const Real* const scores = w.scores.data + w.lists.begin(piece.list);
  if (!with_exponentials<Real>(scores, w.lists.size(piece.list), w.steepness,
                               [&](const auto& e) { ranks_by_ratios(w, piece, e); })) {
    exact_ranks(w, piece);
  }
}

template <class Real>
void exact_vjp_rows(const SmoothRankVjp<Real>& w, const Piece& piece, double* partial) {
  const int64_t list = piece.list, p = w.targets.size(list), first = w.targets.begin(list);
  const Real* const s = w.scores.data + w.lists.begin(list);
  std::fill(partial, partial + p, 0.0);
  for (int64_t k = piece.first; k < piece.last; ++k) {
    double total = 0;
    for (int64_t i = 0; i < p; ++i) {
      const double kernel = logistic_kernel(score_difference(s[k], s[w.targets(list, i)], w.steepness));
      total += w.g[first + i] * kernel;
      partial[i] += kernel;
    }
    w.out[w.lists.begin(list) + k] = static_cast<Real>(w.steepness * total);
  }
}

/// Returns `from` itself if its type is that of the exponentials, or else a converted copy of its n numbers.
template <class Wide, class Real>
const Wide* converted(std::vector<Wide>& copy, const Real* from, int64_t n) {
  if constexpr (std::is_same_v<Wide, Real>) {
    return from;
  } else {
    copy.assign(from, from + n);
    return copy.data();
  }
}

/// Computes sums over the rows k of a piece (range of rows) and all targets i (rows ranked). k() is the derivative of
/// the sigmoid, a the steepness, s a score. Row k gets out = a sum_i g_i k(s_k - s_i), and target i gets partial[i] =
/// sum over the piece's rows k of k(s_k - s_i). The exponentials of the targets stay in the thread's `targets`.
template <class Real, class Wide>
void vjp_rows(const SmoothRankVjp<Real>& w, const Piece& piece, const Exponentials<Real, Wide>& e, double* partial) {
  const int64_t list = piece.list, p = w.targets.size(list);
  Scratch<Wide>& my = scratch<Wide>();
  const int64_t n = e.fill(my.sources, piece.size(), [&](int64_t k) { return piece.first + k; });
  if (piece.size() == w.lists.size(list)) {
    e.pick(my.targets, my.sources, p, [&](int64_t slot) { return w.targets(list, slot); });
  } else {
    e.fill(my.targets, w.targets, list);
  }
  my.totals.assign(static_cast<size_t>(n), 0.0);
  pair_loops<Wide>().kernel_sums(my.sources.data(), n, my.targets.data(),
                                 converted(my.weights, w.g.data + w.targets.begin(list), p), p, my.totals.data(),
                                 partial);
  Real* const out = w.out.data + w.lists.begin(list) + piece.first;
  for (int64_t k = 0; k < piece.size(); ++k) out[k] = static_cast<Real>(w.steepness * my.totals[k]);
}

/// Computes sums[k] = sum over targets i of (h_i - h_k) k(s_i - s_k), for the targets k of a piece (range of targets).
/// k() is the derivative of the sigmoid, h_i the derivative of the metric by A_i, the rank among the targets. The
/// exponentials of all targets must be in the thread's `targets`.
template <class Real, class Wide>
void among_targets(const SmoothRankVjp<Real>& w, const Piece& piece, const Exponentials<Real, Wide>&, double* sums) {
  const int64_t p = w.targets.size(piece.list);
  Scratch<Wide>& my = scratch<Wide>();
  const Real* const h = w.h.data + w.targets.begin(piece.list);
  my.weights.assign(my.targets.size(), Wide(0));
  std::copy(h, h + p, my.weights.begin());
  pair_loops<Wide>().kernel_differences(my.targets.data(), my.weights.data(), static_cast<int64_t>(my.targets.size()),
                                        my.targets.data() + piece.first, my.weights.data() + piece.first, piece.size(),
                                        sums);
}

template <class Real>
void exact_among_targets(const SmoothRankVjp<Real>& w, const Piece& piece, double* sums) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const Real *const s = w.scores.data + w.lists.begin(list), *const h = w.h.data + w.targets.begin(list);
  for (int64_t k = piece.first; k < piece.last; ++k) {
    double total = 0;
    for (int64_t i = 0; i < p; ++i) {
      const Real t = score_difference(s[w.targets(list, i)], s[w.targets(list, k)], w.steepness);
      total += (h[i] - h[k]) * static_cast<double>(logistic_kernel(t));
    }
    sums[k - piece.first] = total;
  }
}

/// Adds to the derivative by the score of each target t in a range: the derivative through its own rank, -g_t times the
/// sum of k in `partial`, and the derivative through the ranks among the targets, `among`.
template <class Real>
void vjp_targets(const SmoothRankVjp<Real>& w, const Piece& piece, const std::vector<double>& among,
                 const double* partial, int64_t parts) {
  const int64_t list = piece.list, p = w.targets.size(list);
  Real* const out = w.out.data + w.lists.begin(list);
  for (int64_t k = piece.first; k < piece.last; ++k) {
    double sum = 0;
    for (int64_t part = 0; part < parts; ++part) sum += partial[part * p + k];
    const double own = among[k - piece.first] - w.g[w.targets.begin(list) + k] * sum;
    out[w.targets(list, k)] += static_cast<Real>(w.steepness * own);
  }
}

/// Returns true if the list's rows and its targets fit into one piece (range of fixed size) each, so that one task
/// computes both.
template <class Real>
bool in_one_piece(const SmoothRankVjp<Real>& w, int64_t list) {
  return w.lists.size(list) <= row_piece && w.targets.size(list) <= target_piece;
}

/// Computes the derivatives by the scores of a piece (range of rows of a list). If the whole list is one piece, also
/// adds the terms that only targets (rows ranked) have.
template <class Real>
void vjp_piece(const SmoothRankVjp<Real>& w, const Piece& piece, double* partial) {
  const int64_t list = piece.list, p = w.targets.size(list);
  const Piece targets{list, 0, p, 0};
  const bool both = in_one_piece(w, list), with_among = both && w.h.data != nullptr;
  static constinit thread_local OfThread<std::vector<double>> the_among;
  std::vector<double>& among = the_among.get();
  const Kept kept(among);
  among.assign(both ? static_cast<size_t>(p) : 0, 0.0);
  const auto by_ratios = [&]<class Wide>(const Exponentials<Real, Wide>& e) {
    const auto kept_too = scratch<Wide>().in_use();
    vjp_rows(w, piece, e, partial);
    if (with_among) among_targets(w, targets, e, among.data());
  };
  if (!with_exponentials<Real>(w.scores.data + w.lists.begin(list), w.lists.size(list), w.steepness, by_ratios)) {
    exact_vjp_rows(w, piece, partial);
    if (with_among) exact_among_targets(w, targets, among.data());
  }
  if (both) vjp_targets(w, targets, among, partial, 1);
}

/// Adds the terms that only targets (rows ranked) have to the derivatives of a range of targets. Used for a list of
/// several pieces, after all of its pieces are computed.
template <class Real>
void vjp_targets_piece(const SmoothRankVjp<Real>& w, const Piece& piece, const double* partial, int64_t parts) {
  const int64_t list = piece.list;
  static constinit thread_local OfThread<std::vector<double>> the_among;
  std::vector<double>& among = the_among.get();
  const Kept kept(among);
  among.assign(static_cast<size_t>(piece.size()), 0.0);
  const auto by_ratios = [&]<class Wide>(const Exponentials<Real, Wide>& e) {
    const auto kept_too = scratch<Wide>().in_use();
    e.fill(scratch<Wide>().targets, w.targets, list);
    among_targets(w, piece, e, among.data());
  };
  if (w.h.data != nullptr &&
      !with_exponentials<Real>(w.scores.data + w.lists.begin(list), w.lists.size(list), w.steepness, by_ratios)) {
    exact_among_targets(w, piece, among.data());
  }
  vjp_targets(w, piece, among, partial, parts);
}

/// Computes the derivatives by sums over pairs, for the lists whose flag in `done` is 0, or for all lists if `done` is
/// null.
template <class Real>
void vjp_of_others(int64_t count, const SmoothRankVjp<Real>& work, const uint8_t* done) {
  struct Parts {
    std::vector<Piece> pieces;
    // for each list, the index of its first partial sum. A list has a sum for each pair of a range of rows and a target
    // (a row whose rank is computed).
    std::vector<int64_t> offsets;
    std::vector<double> partials;
  };
  static constinit thread_local OfThread<Parts> the_parts;
  Parts& my = the_parts.get();
  std::vector<Piece>& pieces = my.pieces;
  std::vector<int64_t>& offsets = my.offsets;
  std::vector<double>& partials = my.partials;
  const Kept kept(pieces, offsets, partials);
  pieces.clear();
  offsets.assign(1, 0);
  const auto is_done = [&](int64_t list) { return done != nullptr && done[list] != 0; };
  for (int64_t list = 0; list < count; ++list) {
    int64_t slot = offsets.back();
    for (int64_t first = 0; !is_done(list) && first < work.lists.size(list); first += row_piece) {
      pieces.push_back({list, first, std::min(first + row_piece, work.lists.size(list)), slot});
      slot += work.targets.size(list);
    }
    offsets.push_back(slot);
  }
  partials.resize(static_cast<size_t>(offsets.back()));
  double* const partial = partials.data();
  // a pointer that other threads can use; `offsets` itself is thread_local, so other threads would read their own
  const int64_t* const at = offsets.data();
  for_each_piece(pieces, targets_of(work), [&](const Piece& piece) { vjp_piece(work, piece, partial + piece.slot); });
  const auto& others =
      cut(work.targets, count, [&](int64_t list) { return is_done(list) || in_one_piece(work, list); });
  for_each_piece(others, targets_of(work), [&](const Piece& piece) {
    const int64_t from = at[piece.list], parts = (at[piece.list + 1] - from) / work.targets.size(piece.list);
    vjp_targets_piece(work, piece, partial + from, parts);
  });
}

template <class Real>
void smooth_rank(int64_t count, const SmoothRank<Real>& work) {
  const auto boxed = [](const auto& w, int64_t list) { box_ranks(w, list); };
  const uint8_t* const done = do_fast(count, work, near_ranks<Real>, boxed);
  for_each_piece(cut(work.targets, count, [&](int64_t list) { return done[list] != 0; }), sources_of(work),
                 [&](const Piece& piece) { rank_piece(work, piece); });
}

template <class Real>
void smooth_rank_vjp(int64_t count, const SmoothRankVjp<Real>& work) {
  const auto boxed = [](const auto& w, int64_t list) { box_vjp(w, list); };
  vjp_of_others(count, work, do_fast(count, work, near_vjp<Real>, boxed));
}

template <class Real>
void with_fast_forms(SmoothKernels<Real>& table) {
  table.smooth_rank = &smooth_rank<Real>;
  table.smooth_rank_vjp = &smooth_rank_vjp<Real>;
  table.smooth_ndcg = &smooth_ndcg<Real>;
  table.smooth_rr_terms = &smooth_rr_terms<Real>;
  table.smooth_log_rr = &smooth_log_rr<Real>;
  table.smooth_rr_product_vjp = &smooth_rr_product_vjp<Real>;
}

}  // namespace

template <class Real>
void ranks_by_pairs(int64_t count, const SmoothRank<Real>& work) {
  for_each_piece(cut(work.targets, count, none_done), sources_of(work),
                 [&](const Piece& piece) { rank_piece(work, piece); });
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
