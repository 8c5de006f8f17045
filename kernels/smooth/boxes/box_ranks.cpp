#include "kernels/smooth/boxes/box_ranks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/smooth/boxes/box_plan.h"

namespace mr::cpu {
namespace {

constexpr int64_t stretch = 512;  // number of rows that are evaluated before their results are written

/// Calls f(i) for i < count on all threads, in fewer than 128 tasks, whatever the count.
void for_tasks(int64_t count, const auto& f) { parallel_each(count, std::max<int64_t>(1, count / 64), f); }

/// Sums of the Chebyshev polynomials T_m of the scores in a chunk of rows. There are four sums: over the marked
/// (relevant) rows, over the other rows, and over the marked rows with the weights g and h. g is the derivative of the
/// loss by a row's rank, and h the one by its rank among the relevant rows.
struct Sums {
  enum { marked, others, g, h, count };
  double of[count][BoxShape<float>::padded];
};

template <class Real>
struct BoxSums {
  static constexpr int padded = BoxShape<Real>::padded;

  BoxPlan<Real> plan;
  // scores of the marked (relevant) rows, copied side by side, for lists of which only these rows are used
  std::vector<Real> scores;
  // for marked rows in box order: derivatives of the loss by a row's rank (g) and by its rank among the relevant rows
  // (h)
  std::vector<Real> g, h;
  std::vector<Sums> sums;  // for every chunk of rows: its moments, sums of Chebyshev polynomials of the scores
  std::vector<Real> q, expansion;
  std::vector<double> above;
  int weights = 0;

  int64_t bytes() const { return plan.bytes() + bytes_of(scores, g, h, sums, q, expansion, above); }
  /// Computes the Chebyshev moments of every chunk of rows. `by_g` and `by_h` are weights of the marked rows; null if
  /// not needed.
  void add_up(const Real* by_g, const Real* by_h);
  /// Computes the moments q of every box: entry w is the sum of choose(w, sums) over the chunks of the box.
  void collect(int count, const auto& choose);
  void translate(typename BoxTable<Real>::Kernel kernel);
  /// Evaluates sums at rows of a chunk: calls write(position, sums) for the positions `first` to `last` - 1 in box
  /// order. `chosen` lists the numbers of the row weights whose sums are wanted.
  template <int count>
  void evaluate(const BoxChunk& chunk, int32_t first, int32_t last, const int (&chosen)[count], const auto& write);
};

/// Lends the arrays in which a thread computes one list. They are kept for the next list, because new memory would
/// have to be cleared, but freed after a very long list.
template <class Real>
class BoxSumsInUse {
 public:
  // Creates the thread's sums here, because the destructor, which also reads them, must not throw.
  BoxSumsInUse() { of(); }
  ~BoxSumsInUse() {
    if (of().bytes() > 2 * most_kept) of() = BoxSums<Real>();
  }
  BoxSumsInUse(const BoxSumsInUse&) = delete;
  BoxSumsInUse& operator=(const BoxSumsInUse&) = delete;

  static BoxSums<Real>& of() {
    static constinit thread_local OfThread<BoxSums<Real>> the_sums;
    return the_sums.get();
  }
};

template <class Real>
void BoxSums<Real>::add_up(const Real* by_g, const Real* by_h) {
  const auto count = static_cast<int64_t>(plan.chunks.size());
  Sums* const to = room(sums, count);
  const auto positions = static_cast<int64_t>(plan.item.size());
  Real *const g_at = by_g ? room(g, positions) : nullptr, *const h_at = by_h ? room(h, positions) : nullptr;
  for_tasks(count, [&](int64_t i) {
    const BoxChunk& chunk = plan.chunks[i];
    const int32_t middle = std::clamp(plan.boxes[chunk.box].marked_last, chunk.first, chunk.last),
                  marked = middle - chunk.first;
    const Real* const u = plan.u.data() + chunk.first;
    plan.loops->moments(u, nullptr, marked, to[i].of[Sums::marked]);
    plan.loops->moments(u + marked, nullptr, chunk.last - middle, to[i].of[Sums::others]);
    for (int32_t position = chunk.first; by_g && position < middle; ++position)
      g_at[position] = by_g[plan.item[position]];
    for (int32_t position = chunk.first; by_h && position < middle; ++position)
      h_at[position] = by_h[plan.item[position]];
    if (by_g) plan.loops->moments(u, g_at + chunk.first, marked, to[i].of[Sums::g]);
    if (by_h) plan.loops->moments(u, h_at + chunk.first, marked, to[i].of[Sums::h]);
  });
}

template <class Real>
void BoxSums<Real>::collect(int count, const auto& choose) {
  weights = count;
  const auto boxes = static_cast<int64_t>(plan.boxes.size());
  Real* const to = room(q, boxes * count * padded);
  room(expansion, boxes * count * padded);
  auto chunk = plan.chunks.begin();
  for (int32_t box = 0; box < boxes; ++box) {
    double total[box_weights][padded] = {};
    for (; chunk != plan.chunks.end() && chunk->box == box; ++chunk) {
      const Sums& from = sums[chunk - plan.chunks.begin()];
      for (int w = 0; w < count; ++w) {
        for (int m = 0; m < BoxShape<Real>::terms; ++m) total[w][m] += choose(w, m, from);
      }
    }
    for (int w = 0; w < count; ++w) std::copy_n(total[w], padded, to + (box * count + w) * padded);
  }
}

template <class Real>
void BoxSums<Real>::translate(typename BoxTable<Real>::Kernel kernel) {
  const BoxField<Real> field{
      BoxTable<Real>::of(kernel), plan.index.data(), plan.near_first.data(), plan.near_last.data(), q.data(),
      expansion.data(),           plan.reach};
  const auto boxes = static_cast<int64_t>(plan.boxes.size());
  constexpr int64_t together = 16;
  for_tasks((boxes + together - 1) / together, [&](int64_t i) {
    plan.loops->translate(field, weights, i * together, std::min(boxes, (i + 1) * together));
  });
  if (kernel != BoxTable<Real>::sigma) return;
  // total[b]: weight of the rows in box b and in all higher boxes. A box far above a target row adds its whole weight,
  // because sigma is 1.
  double* const total = room(above, boxes + 1);
  for (int w = 0; w < weights; ++w) {
    total[boxes] = 0;
    for (int64_t box = boxes - 1; box >= 0; --box) total[box] = total[box + 1] + q[(box * weights + w) * padded];
    for (int64_t box = 0; box < boxes; ++box) {
      expansion[(box * weights + w) * padded] += static_cast<Real>(total[plan.near_last[box]]);
    }
  }
}

template <class Real>
template <int count>
void BoxSums<Real>::evaluate(const BoxChunk& chunk, int32_t first, int32_t last, const int (&chosen)[count],
                             const auto& write) {
  alignas(64) Real found[count][stretch];
  const Real* from[count];
  Real* to[count];
  for (int k = 0; k < count; ++k) {
    from[k] = expansion.data() + (int64_t{chunk.box} * weights + chosen[k]) * padded;
    to[k] = found[k];
  }
  for (int32_t at = first; at < last; at += stretch) {
    const auto length = std::min<int32_t>(stretch, last - at);
    plan.loops->evaluate(plan.u.data() + at, length, from, count, to);
    for (int32_t i = 0; i < length; ++i) {
      Real value[count];
      for (int k = 0; k < count; ++k) value[k] = found[k][i];
      write(at + i, value);
    }
  }
}

/// Returns the rows of a list that boxes are computed for: all rows, or only copies of the marked (relevant) ones.
template <class Real>
BoxRows<Real> gather(BoxSums<Real>& sums, const Real* scores, const Chosen& marked, int64_t list, double steepness) {
  if (marked.rows == nullptr) return {scores, marked.size(list), nullptr, marked.size(list), steepness};
  const int64_t n = marked.size(list);
  Real* const own = room(sums.scores, n);
  for (int64_t i = 0; i < n; ++i) own[i] = scores[marked(list, i)];
  return {own, n, nullptr, n, steepness};
}

template <class Real>
BoxRows<Real> all_of(const Real* scores, const Ragged& lists, const Chosen& marked, int64_t list, double steepness) {
  return {scores, lists.size(list), marked.rows ? marked.rows + marked.begin(list) : nullptr, marked.size(list),
          steepness};
}

/// Returns the constant of a smooth rank: 1, or 1/2 if the row itself is among the rows summed over (`source`),
/// because the sum then contains its own sigma(0) = 1/2.
constexpr double own_if(bool source) { return source ? 0.5 : 1; }

}  // namespace

template <class Real>
void box_ranks(const SmoothRank<Real>& w, int64_t list, const BoxLoops<Real>& loops) {
  const BoxSumsInUse<Real> in_use;
  BoxSums<Real>& my = in_use.of();
  const Real* const s = w.scores.data + w.lists.begin(list);
  const bool alike = w.targets == w.sources && w.among.data == nullptr, all_sources = w.sources.rows == nullptr;
  const Chosen& marked = all_sources ? w.targets : w.sources;
  my.plan.make(alike ? gather(my, s, marked, list, w.steepness) : all_of(s, w.lists, marked, list, w.steepness), loops);
  my.add_up(nullptr, nullptr);
  const bool two = w.among.data != nullptr;
  my.collect(two ? 2 : 1, [&](int weight, int m, const Sums& from) {
    return from.of[Sums::marked][m] + (weight == 0 && all_sources ? from.of[Sums::others][m] : 0);
  });
  my.translate(BoxTable<Real>::sigma);
  const BoxPlan<Real>& plan = my.plan;
  Real *const ranks = w.ranks.data + w.targets.begin(list), *const among =
                                                                two ? w.among.data + w.targets.begin(list) : nullptr;
  for_tasks(static_cast<int64_t>(plan.chunks.size()), [&](int64_t i) {
    const BoxChunk& chunk = plan.chunks[i];
    const int32_t middle = std::clamp(plan.boxes[chunk.box].marked_last, chunk.first, chunk.last);
    const auto one = [&](int32_t position, const Real(&sum)[1]) {
      const int32_t item = plan.item[position];
      // `row` is the index in `ranks` at which the rank of this row is written, and `item` the index in the box
      // order's lists. They differ if all rows are ranked (targets) but only some are summed over (sources): then
      // `item` of a source counts sources, and `row` is its row number in the list.
      const int64_t row = all_sources || alike || position >= middle ? item : marked(list, item);
      ranks[row] = static_cast<Real>(own_if(position < middle || all_sources) + sum[0]);
    };
    if (two) {
      my.evaluate(chunk, chunk.first, middle, {0, 1}, [&](int32_t position, const Real(&sum)[2]) {
        ranks[plan.item[position]] = static_cast<Real>(0.5 + sum[0]);
        among[plan.item[position]] = static_cast<Real>(0.5 + sum[1]);
      });
    } else {
      my.evaluate(chunk, chunk.first, all_sources ? middle : chunk.last, {0}, one);
    }
  });
}

template <class Real>
void box_vjp(const SmoothRankVjp<Real>& w, int64_t list, const BoxLoops<Real>& loops) {
  const BoxSumsInUse<Real> in_use;
  BoxSums<Real>& my = in_use.of();
  const int64_t at = w.lists.begin(list), first = w.targets.begin(list);
  const Real *const g = w.g.data + first, *const h = w.h.data ? w.h.data + first : nullptr;
  my.plan.make(all_of(w.scores.data + at, w.lists, w.targets, list, w.steepness), loops);
  my.add_up(g, h);
  // Collects the moments of each box for four sets of row weights. 0: g of the relevant rows. 1: 1 for all rows. 2: g
  // + h of the relevant rows. 3: 1 for the relevant rows.
  my.collect(h ? 4 : 2, [](int weight, int m, const Sums& from) {
    if (weight == 0) return from.of[Sums::g][m];
    if (weight == 1) return from.of[Sums::marked][m] + from.of[Sums::others][m];
    return weight == 2 ? from.of[Sums::g][m] + from.of[Sums::h][m] : from.of[Sums::marked][m];
  });
  my.translate(BoxTable<Real>::derivative);
  const BoxPlan<Real>& plan = my.plan;
  Real* const out = w.out.data + at;
  const double steepness = w.steepness;
  for_tasks(static_cast<int64_t>(plan.chunks.size()), [&](int64_t i) {
    const BoxChunk& chunk = plan.chunks[i];
    const int32_t middle = std::clamp(plan.boxes[chunk.box].marked_last, chunk.first, chunk.last);
    if (h) {
      my.evaluate(chunk, chunk.first, middle, {2, 1, 3}, [&](int32_t position, const Real(&sum)[3]) {
        const int32_t slot = plan.item[position];
        const double total = sum[0] - double(g[slot]) * sum[1] - double(h[slot]) * sum[2];
        out[w.targets(list, slot)] = static_cast<Real>(steepness * total);
      });
    } else {
      my.evaluate(chunk, chunk.first, middle, {0, 1}, [&](int32_t position, const Real(&sum)[2]) {
        const int32_t slot = plan.item[position];
        out[w.targets(list, slot)] = static_cast<Real>(steepness * (sum[0] - double(g[slot]) * sum[1]));
      });
    }
    my.evaluate(chunk, middle, chunk.last, {0}, [&](int32_t position, const Real(&sum)[1]) {
      out[plan.item[position]] = static_cast<Real>(steepness * sum[0]);
    });
  });
}

template void box_ranks<float>(const SmoothRank<float>&, int64_t, const BoxLoops<float>&);
template void box_ranks<double>(const SmoothRank<double>&, int64_t, const BoxLoops<double>&);
template void box_vjp<float>(const SmoothRankVjp<float>&, int64_t, const BoxLoops<float>&);
template void box_vjp<double>(const SmoothRankVjp<double>&, int64_t, const BoxLoops<double>&);

}  // namespace mr::cpu
