// Runs kernels on the CPU: the thread pool calls a functor for every list, or for every element, in ranges of elements.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/core/group.h"
#include "kernels/core/threads.h"
#include "kernels/core/view.h"

namespace mr::cpu {

// Limits of estimated times in nanoseconds. Work below `worth_sharing` runs on one thread, because dividing it among
// threads costs more than it saves. Larger work is divided into tasks of about `worth_a_piece`, which are so short
// that all threads end at about the same time.
constexpr double worth_sharing = 16384, worth_a_piece = 2048;

/// number of entries that a thread takes at a time, if all entries take about equal time
constexpr int64_t entries_of_piece = 8192;

/// Returns the number of rows of `width` entries that a thread takes at a time, if all entries take about equal time.
inline int64_t rows_of_piece(int64_t width) { return std::max<int64_t>(1, entries_of_piece / width); }

/// Returns how many of `count` tasks, which take `nanoseconds` together, a thread takes at a time.
inline int64_t tasks_of_piece(int64_t count, double nanoseconds) {
  if (nanoseconds < worth_sharing || count <= 1) return std::max<int64_t>(1, count);
  return static_cast<int64_t>(std::ceil(static_cast<double>(count) * std::min(1., worth_a_piece / nanoseconds)));
}

/// Calls task(i) for every i of [0, count), where cost(i) estimates the nanoseconds of a call. If one call may take a
/// large part of the time, threads begin with the longest calls, so that all threads end at about the same time.
/// Returns when all calls are done.
template <class Cost, class Task>
void parallel_by_cost(int64_t count, const Cost& cost, const Task& task) {
  constexpr double large_part = 1. / 16;  // of the time of one thread
  std::vector<double> costs(static_cast<size_t>(count));
  double time = 0, longest = 0;
  for (int64_t i = 0; i < count; ++i) {
    time += costs[i] = cost(i);
    longest = std::max(longest, costs[i]);
  }
  const int64_t piece = tasks_of_piece(count, time);
  const bool is_even = longest * threads() < large_part * time;
  if (threads() == 1 || piece == count || is_even) return parallel_each(count, piece, task);
  const std::vector<int64_t> order = dealt_by_cost(costs);
  parallel_each(count, 1, [&](int64_t place) { task(order[place]); });
}

/// The CPU's group. It checks for Ctrl-C between blocks of a list's rows, because a list of 200,000 rows with an inner
/// loop over all rows takes many seconds.
struct InterruptibleGroup : SerialGroup {
  template <class F>
  void each(int64_t n, F f) const {
    blocks(n, [&](int64_t i) { f(i); });
  }

  template <class F>
  double sum(int64_t n, F f) const {
    double total = 0;
    blocks(n, [&](int64_t i) { total += static_cast<double>(f(i)); });
    return total;
  }

 private:
  template <class F>
  static void blocks(int64_t n, F f) {
    // rows between two checks for Ctrl-C; fewer in a long list, because one row may loop over all rows of its list
    const int64_t block = n < 100000 ? 128 : 32;
    int64_t i = 0;
    for (int64_t last = block; last < n; last += block) {
      for (; i < last; ++i) f(i);
      check_interrupt();
    }
    for (; i < n; ++i) f(i);
  }
};

struct Backend {
  template <class Work>
  static void lists(int64_t count, const Work& work) {
    parallel_each(count, lists_of_piece(count, work), [&](int64_t list) { work(InterruptibleGroup{}, list); });
  }

  template <class Work>
  static void elements(int64_t count, const Work& work) {
    parallel(count, entries_of_piece, [&](int64_t first, int64_t last) {
      const Work f = work;  // a local copy of the functor, which the compiler knows is not aliased by outputs
      for (int64_t i = first; i < last; ++i) f(i);
    });
  }

 private:
  /// Returns how many of the `count` calls of `work` one task makes. If there is one call per list, the number follows
  /// from the estimated time of all rows. Otherwise it is 1, or 8 for more than 256 calls.
  template <class Work>
  static int64_t lists_of_piece(int64_t count, const Work& work) {
    if constexpr (requires { work.lists.count; }) {
      if (work.lists.count == count) return tasks_of_piece(count, time_of_row(work) * rows_of(work.lists));
    } else if constexpr (requires { work.v.targets.lists.count; }) {
      if (work.v.targets.lists.count == count) {
        return tasks_of_piece(count, time_of_row(work) * rows_of(work.v.targets.lists));
      }
    }
    return count <= 256 ? 1 : 8;
  }
  static double rows_of(const Ragged& lists) {
    return lists.count > 0 ? static_cast<double>(lists.begin(lists.count)) : 0;
  }
  template <class Work>
  static double time_of_row(const Work& work) {
    if constexpr (requires { work.width; }) {
      return static_cast<double>(work.width) / 4;
    } else {
      return 16;
    }
  }
};

}  // namespace mr::cpu
