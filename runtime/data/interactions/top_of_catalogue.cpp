// Finds the first items of each user, among all items of the catalogue, for models that score a pair by the inner
// product of a user vector and an item vector.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/models/top_products.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

struct TopOfCatalogue {
  Tensor items, scores, sizes;
  static constexpr auto fields =
      lua::fields("items", &TopOfCatalogue::items, "scores", &TopOfCatalogue::scores, "sizes", &TopOfCatalogue::sizes);
};

/// Packing the item vectors is worthwhile if there are at least this many users, and this many items per item that is
/// returned.
constexpr int64_t least_users = 8, least_items_of_each = 8;

void check_arguments(const Tensor& users, const Tensor& items, const Tensor& chosen, const UserItems& excluded,
                     int64_t k) {
  if (users.dims() != 2 || items.dims() != 2 || users.size(1) != items.size(1))
    throw ArgumentError("items", "factors have shapes " + users.shape().text() + " and " + items.shape().text() +
                                     ", expected two matrices with the same number of columns");
  check::index("chosen", chosen, std::min(users.size(0), excluded->all_users()));
  if (excluded->all_items > items.size(0))
    throw ArgumentError("excluded", "has " + std::to_string(excluded->all_items) + " items, expected at most " +
                                        std::to_string(items.size(0)));
  if (k < 1) throw ArgumentError("k", std::to_string(k) + ", expected at least 1");
}

/// For each chosen user, the items that must not be returned, counted from 0 and ascending.
struct LeftOut {
  std::vector<int64_t> offsets{0}, items;
  void add(const int64_t* first, const int64_t* last) {
    for (; first != last; ++first) items.push_back(*first - 1);
    offsets.push_back(static_cast<int64_t>(items.size()));
  }
  int64_t count(int64_t user) const { return offsets[user + 1] - offsets[user]; }
};

/// Returns for each chosen user the k items with the largest inner products, except those that are left out. Only items
/// 1 .. all take part. Returns nothing where scoring pairs one by one is as fast or the only way: on a GPU, in double
/// precision, for few users, if k is a large part of the items, and if vectors are not finite.
std::optional<TopOfCatalogue> first_items(const Tensor& users, const Tensor& items, const Tensor& chosen,
                                          const LeftOut& left_out, int64_t all, int64_t k) {
  const int64_t count = chosen.entries(), width = items.size(1);
  if (users.device() != Device::cpu || items.device() != Device::cpu || users.dtype() != Dtype::float32 ||
      items.dtype() != Dtype::float32 || count < least_users || k > all / least_items_of_each || width == 0)
    return std::nullopt;
  const float* const vectors = users.span_of_rows<const float>(chosen).data;
  const std::vector<int64_t> of = chosen.to_vector<int64_t>();
  const cpu::TopProducts products{items.span<const float>().data, all, width, k};
  const cpu::PackedRows packed(products);
  std::vector<int64_t> sizes, offsets{0};
  for (int64_t i = 0; i < count; ++i) {
    if (!has_finite_products(packed, vectors + (of[i] - 1) * width, width)) return std::nullopt;
    sizes.push_back(std::min(k, all - left_out.count(i)));
    offsets.push_back(offsets.back() + sizes.back());
  }
  TopOfCatalogue out{Tensor::empty({offsets.back()}, Dtype::int64), Tensor::empty({offsets.back()}, Dtype::float32),
                     Tensor::from(sizes)};
  int64_t* const top = out.items.span<int64_t>().data;
  float* const scores = out.scores.span<float>().data;
  cpu::parallel(count, cpu::most_queries, [&](int64_t first, int64_t last) {
    std::vector<cpu::TopQuery> queries;
    for (int64_t i = first; i < last; ++i) {
      queries.push_back({vectors + (of[i] - 1) * width, left_out.items.data() + left_out.offsets[i], left_out.count(i),
                         top + offsets[i], scores + offsets[i]});
    }
    cpu::top_products(products, packed, queries.data(), last - first);
    for (int64_t at = offsets[first]; at < offsets[last]; ++at) ++top[at];
  });
  return out;
}

std::optional<TopOfCatalogue> top_of_catalogue(const Tensor& users, const Tensor& items, const Tensor& chosen,
                                               const UserItems& excluded, int64_t k) {
  check_arguments(users, items, chosen, excluded, k);
  LeftOut left_out;
  const int64_t* const known = excluded->items.data();
  for (const int64_t user : chosen.to_vector<int64_t>())
    left_out.add(known + excluded->offsets[user - 1], known + excluded->offsets[user]);
  return first_items(users, items, chosen, left_out, excluded->all_items, k);
}

/// Lists with the first candidates of each user. `sizes` has the number of all candidates of each user.
struct FirstCandidates {
  Lists lists;
  Tensor users, items, sizes;
  static constexpr auto fields = lua::fields("lists", &FirstCandidates::lists, "users", &FirstCandidates::users,
                                             "items", &FirstCandidates::items, "sizes", &FirstCandidates::sizes);
};

/// Returns how many of the n best items score at least as high as the k-th: k plus those tied with it, or n if n <= k.
/// Returns nothing if all n do and there are more items (n < `all`), because these may be tied too.
std::optional<int64_t> with_ties(const float* scores, int64_t n, int64_t k, int64_t all) {
  if (n <= k) return n;
  int64_t last = k;
  while (last < n && scores[last] == scores[k - 1]) ++last;
  return last == n && n < all ? std::nullopt : std::optional(last);
}

/// Returns for each user the first k items, those tied with the k-th one, and the user's relevant items (targets),
/// ascending by item. Metrics with a cutoff of at most k have the same values on these lists as on lists of the whole
/// catalogue. Relevant items are never excluded. Returns nothing if `first_items` does, or if too many items are tied
/// with the k-th one.
std::optional<FirstCandidates> first_candidates(const Tensor& users, const Tensor& items, const Tensor& chosen,
                                                const UserItems& targets, const UserItems& excluded, int64_t k) {
  constexpr int64_t spare = 8;
  check_arguments(users, items, chosen, excluded, k);
  check_arguments(users, items, chosen, targets, k);
  const std::vector<int64_t> of = chosen.to_vector<int64_t>();
  LeftOut left_out;
  std::vector<int64_t> own;
  const auto all_of = [](const UserItems& table, int64_t user) {
    return std::pair(table->items.data() + table->offsets[user - 1], table->items.data() + table->offsets[user]);
  };
  for (const int64_t user : of) {
    const auto [first, last] = all_of(excluded, user);
    const auto [first_target, last_target] = all_of(targets, user);
    own.clear();
    std::set_difference(first, last, first_target, last_target, std::back_inserter(own));
    left_out.add(own.data(), own.data() + own.size());
  }
  const auto top = first_items(users, items, chosen, left_out, excluded->all_items, k + spare);
  if (!top) return std::nullopt;
  std::vector<int64_t> sizes, ranked, found;
  std::vector<float> relevance;
  const int64_t* best = top->items.span<const int64_t>().data;
  const float* scores = top->scores.span<const float>().data;
  for (size_t i = 0; i < of.size(); ++i) {
    const int64_t all = excluded->all_items - left_out.count(static_cast<int64_t>(i));
    const int64_t n = std::min(k + spare, all);
    const std::optional<int64_t> here = with_ties(scores, n, k, all);
    if (!here) return std::nullopt;
    const auto [first, last] = all_of(targets, of[i]);
    own.assign(best, best + *here);
    own.insert(own.end(), first, last);
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    const float* grade = targets->grades.data() + targets->offsets[of[i] - 1];
    auto target = first;
    for (const int64_t item : own) {
      const bool is_target = target != last && *target == item;
      relevance.push_back(is_target ? grade[target++ - first] : 0);
    }
    found.insert(found.end(), own.begin(), own.end());
    ranked.push_back(static_cast<int64_t>(own.size()));
    sizes.push_back(all);
    best += n;
    scores += n;
  }
  return FirstCandidates{Lists(std::move(ranked), std::move(relevance)), chosen, Tensor::from(found),
                         Tensor::from(sizes)};
}

}  // namespace

extern const lua::OpTable top_of_catalogue_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&top_of_catalogue>("top_of_catalogue", "users, items, chosen, excluded, k",
                                "For each chosen user, the k items with the largest inner products of factors that are "
                                "not excluded; nil where scoring rows one by one is as good."),
     lua::op<&first_candidates>("first_candidates", "users, items, chosen, targets, excluded, k",
                                "For each chosen user, the first k items and the targets, and the number of all "
                                "candidates; nil where scoring rows one by one is as good.")}};

}  // namespace mr
