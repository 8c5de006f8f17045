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
#include "runtime/tensor/tensor.h"

namespace mr {

/// Rows chosen from every list, on a device: the view for kernels, and the memory that it views.
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
  /// Makes lists as above, with names of lists (one per list) and of rows (one per row); either may be empty.
  Lists(std::vector<int64_t> sizes, std::vector<float> relevance, std::vector<std::string> ids,
        std::vector<std::string> documents);

  int64_t count() const { return static_cast<int64_t>(body_->sizes.size()); }
  int64_t rows() const { return static_cast<int64_t>(body_->relevance.size()); }
  int64_t longest() const;
  const std::vector<int64_t>& sizes() const { return body_->sizes; }
  const std::vector<int64_t>& offsets() const { return body_->offsets; }
  const std::vector<float>& relevance() const { return body_->relevance; }
  /// Return the names of the lists and of the rows. Names of selected lists are gathered on first use.
  const std::vector<std::string>& ids() const;
  const std::vector<std::string>& documents() const;

  /// Returns the offsets for kernels. These lists own the memory.
  Ragged view(Device device) const;
  /// Returns one relevance per row, float32 or converted (once) to another type.
  const Tensor& relevance(Device device, Dtype dtype = Dtype::float32) const;
  /// Returns the type in which scripts see the relevance.
  Dtype shown() const { return shown_; }
  Lists shown_in(Dtype dtype) const;
  const std::vector<int64_t>& relevant(float threshold = 1) const;
  /// Returns the rows with relevance >= threshold, per list and ascending.
  const ChosenRows& relevant_rows(float threshold, Device device) const;

  /// Returns the lists with these numbers, counted from 0, in this order.
  Lists select(const std::vector<int64_t>& lists) const;
  /// Returns the numbers, counted from 1, of the rows of these lists, in the order of `select`.
  std::vector<int64_t> rows_of(const std::vector<int64_t>& lists) const;
  /// Returns the rows of x that belong to these lists, in the order of `select`; x has one row per row of all lists.
  Tensor take_rows(const Tensor& x, const std::vector<int64_t>& lists) const;
  Lists with_relevance(std::vector<float> relevance) const;

  /// Returns these lists with a weight per row and a weight per list, which the caller has checked: finite, 0 or more,
  /// and as many as rows and lists. Either may be empty: no weights.
  Lists with_weights(std::vector<double> of_rows, std::vector<double> of_lists) const;
  /// Weights, or empty.
  const std::vector<double>& row_weights() const { return body_->row_weights; }
  const std::vector<double>& list_weights() const { return body_->list_weights; }
  /// Returns one weight per row or per list, float64; undefined without weights.
  Tensor row_weights_on(Device device) const;
  Tensor list_weights_on(Device device) const;
  /// Returns the row weights for kernels: null without weights, which stands for 1. These lists own the memory.
  Span<const double> row_weights_view(Device device) const;

  /// Returns one value per list, make(grades, number of grades), cached per key and type. Selected lists share the
  /// values with the original: the batches of every epoch are new lists of the same rows.
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

  /// Returns the cached result of `make`, which is called once per key and type. Cached values live as long as the
  /// lists. A key is a struct with < that identifies the result, for example a device.
  template <class T, class Key, class Make>
  const T& cached(const Key& key, const Make& make) const {
    const std::lock_guard lock(body_->mutex);
    auto& known = kept<T, Key>(body_->cache);
    const auto found = known.find(key);
    return found != known.end() ? found->second : known.emplace(key, make()).first->second;
  }

 private:
  /// One map from keys to values for every pair of types, found by an address that is unique to the pair.
  using Kept = std::map<const char*, std::shared_ptr<void>, std::less<>>;
  template <class T, class Key>
  static inline char pair_of = 0;
  template <class T, class Key>
  static std::map<Key, T>& kept(Kept& all) {
    std::shared_ptr<void>& slot = all[&pair_of<T, Key>];
    if (slot == nullptr) slot = std::make_shared<std::map<Key, T>>();
    return *static_cast<std::map<Key, T>*>(slot.get());
  }

  /// Data that depend on one list only, shared by all selections (`select`) of the same lists.
  struct PerList {
    int64_t count = 0;
    std::vector<int64_t> offsets;
    std::vector<std::string> ids, documents;
    std::mutex mutex;
    Kept values;
  };

  struct Body {
    std::vector<int64_t> sizes;
    std::vector<int64_t> offsets;
    std::vector<float> relevance;
    std::vector<double> row_weights, list_weights;  // empty: no weights
    std::recursive_mutex mutex;
    Kept cache;
    std::shared_ptr<PerList> shared;
    // number of each list in `shared`; empty: the lists are in the same order, or nothing is shared
    std::vector<int64_t> origin;
  };
  Lists() : body_(std::make_shared<Body>()) {}
  bool selected() const { return !body_->origin.empty() || count() != body_->shared->count; }

  std::shared_ptr<Body> body_;
  Dtype shown_ = Dtype::float32;
};

}  // namespace mr
