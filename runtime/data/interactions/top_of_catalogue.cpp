// The first items of a factor model for each user, among all items of the catalogue.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/models/top_products.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

struct TopOfCatalogue {
  Tensor items, scores, sizes;
  static constexpr auto fields =
      lua::fields("items", &TopOfCatalogue::items, "scores", &TopOfCatalogue::scores, "sizes", &TopOfCatalogue::sizes);
};

/// Users for whom packing the items is worthwhile, and the least number of items per ranked one.
constexpr int64_t least_users = 8, least_items_of_each = 8;

void check_arguments(const Tensor& users, const Tensor& items, const Tensor& chosen, const UserItems& excluded,
                     int64_t k) {
  if (users.dims() != 2 || items.dims() != 2 || users.size(1) != items.size(1))
    throw ArgumentError("items", "factors have shapes " + users.shape().text() + " and " + items.shape().text() +
                                     ", expected two matrices of one width");
  check::index("chosen", chosen, std::min(users.size(0), excluded->all_users()));
  if (excluded->all_items > items.size(0))
    throw ArgumentError("excluded", "has " + std::to_string(excluded->all_items) + " items, expected at most " +
                                        std::to_string(items.size(0)));
  if (k < 1) throw ArgumentError("k", std::to_string(k) + ", expected at least 1");
}

/// The k items of 1 .. excluded.all_items with the largest inner products for each chosen user, without the excluded
/// ones. Nothing if scoring rows one by one is as good, or the only way: on a GPU, in double precision, for few users,
/// for many of the items, and for factors that are not finite.
std::optional<TopOfCatalogue> top_of_catalogue(const Tensor& users, const Tensor& items, const Tensor& chosen,
                                               const UserItems& excluded, int64_t k) {
  check_arguments(users, items, chosen, excluded, k);
  const int64_t count = chosen.entries(), all = excluded->all_items, width = items.size(1);
  if (users.device() != Device::cpu || items.device() != Device::cpu || users.dtype() != Dtype::float32 ||
      items.dtype() != Dtype::float32 || count < least_users || k > all / least_items_of_each || width == 0)
    return std::nullopt;
  const std::vector<int64_t> of = chosen.to_vector<int64_t>();
  const float* const vectors = users.span<const float>().data;
  const cpu::TopProducts products{items.span<const float>().data, all, width, k};
  const cpu::PackedRows packed(products);
  std::vector<int64_t> sizes, offsets{0}, left_out = excluded->items;
  for (int64_t& item : left_out) --item;
  for (const int64_t user : of) {
    if (!has_finite_products(packed, vectors + (user - 1) * width, width)) return std::nullopt;
    sizes.push_back(std::min(k, all - excluded->count(user - 1)));
    offsets.push_back(offsets.back() + sizes.back());
  }
  TopOfCatalogue out{Tensor::empty({offsets.back()}, Dtype::int64), Tensor::empty({offsets.back()}, Dtype::float32),
                     Tensor::from(sizes)};
  int64_t* const top = out.items.span<int64_t>().data;
  float* const scores = out.scores.span<float>().data;
  cpu::parallel(count, cpu::most_queries, [&](int64_t first, int64_t last) {
    std::vector<cpu::TopQuery> queries;
    for (int64_t i = first; i < last; ++i) {
      const int64_t user = of[i] - 1;
      queries.push_back({vectors + user * width, left_out.data() + excluded->offsets[user], excluded->count(user),
                         top + offsets[i], scores + offsets[i]});
    }
    cpu::top_products(products, packed, queries.data(), last - first);
    for (int64_t at = offsets[first]; at < offsets[last]; ++at) ++top[at];
  });
  return out;
}

}  // namespace

extern const lua::OpTable top_of_catalogue_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&top_of_catalogue>("top_of_catalogue", "users, items, chosen, excluded, k",
                                "For each chosen user, the k items with the largest inner products of factors that are "
                                "not excluded; nil where scoring rows one by one is as good.")}};

}  // namespace mr
