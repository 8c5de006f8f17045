// Judged lists: which rows belong to which user or query, and the relevance of each row. A batch is many ragged lists
// laid end to end, without padding. Lists are immutable; copies share everything, including cached values (relevant
// rows, ideal gains, ...).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/tensor/device_array.h"
#include "runtime/tensor/names.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// Some rows of every list, such as the relevant ones, on a device. Kernels read them through `view()`; the members own
/// the memory.
struct ChosenRows {
  Tensor offsets;
  DeviceArray<int32_t> rows;
  int64_t total = 0;
  int64_t count = 0;

  Chosen view() const { return {{offsets.span<const int64_t>().data, count}, rows.span().data}; }
};

class Lists {
 public:
  /// Makes lists of these sizes, with one relevance per row (finite, 0 or more). The sizes must sum to the number of
  /// rows.
  Lists(std::vector<int64_t> sizes, std::vector<float> relevance);
  /// Makes lists from their sizes and one relevance per row, with names of lists (`ids`, one per list) and of rows
  /// (`documents`, one per row). Either may be empty.
  Lists(std::vector<int64_t> sizes, std::vector<float> relevance, std::vector<std::string> ids, Names documents);

  int64_t count() const { return static_cast<int64_t>(body_->sizes.size()); }
  int64_t rows() const { return static_cast<int64_t>(body_->relevance.size()); }
  int64_t longest() const;
  const std::vector<int64_t>& sizes() const { return body_->sizes; }
  const std::vector<int64_t>& offsets() const { return body_->offsets; }
  const std::vector<float>& relevance() const { return body_->relevance; }
  /// Return the names of the lists and of the rows. Names of selected lists are gathered on first use.
  const std::vector<std::string>& ids() const;
  const Names& documents() const;

  /// Returns the offsets of the lists in the form that kernels read. The memory belongs to this object.
  Ragged view(Device device) const;
  /// Returns one relevance per row, float32 or converted (once) to another type.
  const Tensor& relevance(Device device, Dtype dtype = Dtype::float32) const;
  /// Returns the type in which scripts see the relevance.
  Dtype shown() const { return shown_; }
  Lists shown_in(Dtype dtype) const;
  const std::vector<int64_t>& relevant(float threshold = 1) const;
  /// Returns the rows with relevance >= threshold: list after list, ascending in each list.
  const ChosenRows& relevant_rows(float threshold, Device device) const;

  /// Returns a new Lists object that has only the lists with the given numbers, counted from 0, in the given order.
  Lists select(const std::vector<int64_t>& lists) const;
  /// Returns the numbers, counted from 1, of the rows of the lists with the given numbers, in the order in which
  /// `select` would have them.
  std::vector<int64_t> rows_of(const std::vector<int64_t>& lists) const;
  /// Returns the rows of x that belong to the lists with the given numbers, in the order in which `select` would have
  /// them. x has one row for each row of this object.
  Tensor take_rows(const Tensor& x, const std::vector<int64_t>& lists) const;
  Lists with_relevance(std::vector<float> relevance) const;
  /// Returns lists of the same sizes and names, without weights, whose relevance is float32.
  Lists graded(std::vector<float> relevance) const;

  /// Returns a copy with a weight per row and a weight per list. Either may be empty: no weights. The caller has
  /// checked that weights are finite and 0 or more, and their number.
  Lists with_weights(std::vector<double> of_rows, std::vector<double> of_lists) const;
  /// Return the weight of each row or of each list; empty if there are no such weights.
  const std::vector<double>& row_weights() const { return body_->row_weights; }
  const std::vector<double>& list_weights() const { return body_->list_weights; }
  /// Return one weight per row or per list as a float64 tensor, which is undefined if there are no such weights.
  Tensor row_weights_on(Device device) const;
  Tensor list_weights_on(Device device) const;
  /// Returns the row weights in the form that kernels read. Without weights the pointer is null, and kernels use the
  /// weight 1. The memory belongs to this object.
  Span<const double> row_weights_view(Device device) const;

  /// Returns make(grades, number of grades) for each list, cached per list, key and type. Objects made by `select`
  /// share this cache with the original, because minibatches of every epoch are new objects with the same lists.
  template <class T, class Key, class Make>
  std::vector<T> per_list(const Key& key, const Make& make) const {
    using Values = std::vector<std::optional<T>>;
    const std::lock_guard lock(body_->shared->mutex);
    Values& known = kept<Values, Key>(body_->shared->values)[key];
    known.resize(static_cast<size_t>(body_->shared->count));
    std::vector<T> values;
    values.reserve(body_->sizes.size());
    for (size_t l = 0; l < body_->sizes.size(); ++l) {
      std::optional<T>& value = known[body_->origin.empty() ? l : static_cast<size_t>(body_->origin[l])];
      if (!value) cpu::check_interrupt();
      if (!value) value = make(body_->relevance.data() + body_->offsets[l], body_->sizes[l]);
      values.push_back(*value);
    }
    return values;
  }

  /// Returns the result of make(), which is called once per key and type and cached as long as these lists exist. A key
  /// is a struct with operator< that has everything on which the result depends besides the lists, such as a device.
  template <class T, class Key, class Make>
  const T& cached(const Key& key, const Make& make) const {
    const std::lock_guard lock(body_->mutex);
    auto& known = kept<T, Key>(body_->cache);
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, make()).first->second;
  }

 private:
  /// Maps from keys to cached values. Each pair of value type T and key type has a map of its own, found by the address
  /// of `pair_of<T, Key>`.
  using Kept = std::map<const char*, std::shared_ptr<void>, std::less<>>;
  template <class T, class Key>
  static inline char pair_of = 0;
  template <class T, class Key>
  static std::map<Key, T>& kept(Kept& all) {
    std::shared_ptr<void>& slot = all[&pair_of<T, Key>];
    if (slot == nullptr) slot = std::make_shared<std::map<Key, T>>();
    return *static_cast<std::map<Key, T>*>(slot.get());
  }

  /// Names and cached values that depend on one list only. All objects that `select` makes from the same lists share
  /// them.
  struct PerList {
    int64_t count = 0;
    std::vector<int64_t> offsets;
    std::vector<std::string> ids;
    std::shared_ptr<const Names> documents;  // lists that `graded` makes share them
    std::optional<ForeignBytes> bytes;       // memory of offsets and ids
    std::mutex mutex;
    Kept values;
  };

  struct Body {
    std::vector<int64_t> sizes;
    std::vector<int64_t> offsets;
    std::vector<float> relevance;
    std::vector<double> row_weights, list_weights;  // empty if rows or lists have no weights
    std::recursive_mutex mutex;
    Kept cache;
    std::shared_ptr<PerList> shared;
    // For each list, the index in `shared` of the original list. If empty, list i is list i of `shared`.
    std::vector<int64_t> origin;
    std::optional<ForeignBytes> bytes;  // memory of the arrays above
    void count_bytes();
  };
  Lists() : body_(std::make_shared<Body>()) {}
  Lists(std::vector<int64_t> sizes, std::vector<float> relevance, std::vector<std::string> ids,
        std::shared_ptr<const Names> documents);
  bool selected() const { return !body_->origin.empty() || count() != body_->shared->count; }

  std::shared_ptr<Body> body_;
  Dtype shown_ = Dtype::float32;
};

}  // namespace mr
