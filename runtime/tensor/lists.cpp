#include "runtime/tensor/lists.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/rows.h"

namespace mr {
namespace {

std::vector<int64_t> offsets_of(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> offsets{0};
  offsets.reserve(sizes.size() + 1);
  for (size_t l = 0; l < sizes.size(); ++l) {
    if (sizes[l] < 0 || sizes[l] > std::numeric_limits<int32_t>::max()) {
      throw std::invalid_argument("the size of list " + std::to_string(l + 1) + " is " + std::to_string(sizes[l]) +
                                  ", expected 0 to 2147483647");
    }
    offsets.push_back(offsets.back() + sizes[l]);
  }
  return offsets;
}

bool good_grade(float grade) { return grade >= 0 && grade <= std::numeric_limits<float>::max(); }

// Keys of cached values (`Lists::cached`). The members of a key are everything that a value depends on besides the
// lists.
struct OffsetsKey {
  Device device;
  auto operator<=>(const OffsetsKey&) const = default;
};
struct RelevanceKey {
  Device device;
  Dtype dtype;
  auto operator<=>(const RelevanceKey&) const = default;
};
struct WeightsKey {
  enum Of : int8_t { rows, lists } of;
  Device device;
  auto operator<=>(const WeightsKey&) const = default;
};
struct CountKey {
  float threshold;
  auto operator<=>(const CountKey&) const = default;
};
struct NamesKey {
  enum Of : int8_t { lists, rows } of;
  auto operator<=>(const NamesKey&) const = default;
};
struct RowsKey {
  float threshold;
  Device device;
  auto operator<=>(const RowsKey&) const = default;
};

/// Returns the part of x that belongs to the lists with the given numbers. x has one entry per row; if x is empty, the
/// result is empty.
template <class T>
std::vector<T> taken(const std::vector<T>& x, const std::vector<int64_t>& offsets, const std::vector<int64_t>& lists) {
  std::vector<T> out;
  if (x.empty()) return out;
  int64_t rows = 0;
  for (const int64_t l : lists) rows += offsets[l + 1] - offsets[l];
  out.reserve(static_cast<size_t>(rows));
  for (const int64_t l : lists) out.insert(out.end(), x.begin() + offsets[l], x.begin() + offsets[l + 1]);
  return out;
}

/// Returns shared names whose memory the garbage collector of Lua counts, as long as they live.
std::shared_ptr<const Names> counted(Names names) {
  struct Counted {
    Counted(Names given, int64_t size) : names(std::move(given)), bytes(size) {}
    Names names;
    ForeignBytes bytes;
  };
  const auto bytes = static_cast<int64_t>(names.bytes() + names.size() * sizeof(size_t));
  const auto made = std::make_shared<const Counted>(std::move(names), bytes);
  return {made, &made->names};
}

}  // namespace

Lists::Lists(std::vector<int64_t> sizes, std::vector<float> relevance)
    : Lists(std::move(sizes), std::move(relevance), {}, Names()) {}

Lists::Lists(std::vector<int64_t> sizes, std::vector<float> relevance, std::vector<std::string> ids, Names documents)
    : Lists(std::move(sizes), std::move(relevance), std::move(ids), counted(std::move(documents))) {}

Lists::Lists(std::vector<int64_t> sizes, std::vector<float> relevance, std::vector<std::string> ids,
             std::shared_ptr<const Names> documents)
    : body_(std::make_shared<Body>()) {
  body_->offsets = offsets_of(sizes);
  const auto rows = static_cast<int64_t>(relevance.size());
  if (body_->offsets.back() != rows) {
    throw std::invalid_argument("the sizes add up to " + std::to_string(body_->offsets.back()) +
                                " rows, but there are " + std::to_string(rows) +
                                " relevances, expected one for each row");
  }
  bool is_good = true;
  for (const float grade : relevance) is_good &= good_grade(grade);
  if (!is_good) {
    const auto bad = std::find_if_not(relevance.begin(), relevance.end(), good_grade);
    throw std::invalid_argument("the relevance of row " + std::to_string(bad - relevance.begin() + 1) + " is " +
                                (std::isnan(*bad) ? "NaN" : std::to_string(*bad)) +
                                ", expected a finite number, 0 or more");
  }
  body_->sizes = std::move(sizes);
  body_->relevance = std::move(relevance);
  body_->shared = std::make_shared<PerList>();
  body_->shared->count = count();
  body_->shared->offsets = body_->offsets;
  body_->shared->ids = std::move(ids);
  body_->shared->documents = std::move(documents);
  body_->shared->bytes.emplace(static_cast<int64_t>(body_->shared->offsets.size() * sizeof(int64_t) +
                                                    body_->shared->ids.size() * sizeof(std::string)));
  body_->count_bytes();
}

void Lists::Body::count_bytes() {
  bytes.emplace(static_cast<int64_t>((sizes.size() + offsets.size() + origin.size()) * sizeof(int64_t) +
                                     relevance.size() * sizeof(float) +
                                     (row_weights.size() + list_weights.size()) * sizeof(double)));
}

const std::vector<std::string>& Lists::ids() const {
  const std::vector<std::string>& all = body_->shared->ids;
  if (all.empty() || !selected()) return all;
  return cached<std::vector<std::string>>(NamesKey{NamesKey::lists}, [&] {
    std::vector<std::string> mine;
    for (const int64_t l : body_->origin) mine.push_back(all[l]);
    return mine;
  });
}

const Names& Lists::documents() const {
  const Names& all = *body_->shared->documents;
  if (all.empty() || !selected()) return all;
  return cached<Names>(NamesKey{NamesKey::rows}, [&] {
    const std::vector<int64_t>& offsets = body_->shared->offsets;
    Names mine;
    for (const int64_t l : body_->origin) {
      mine.append(all, static_cast<size_t>(offsets[l]), static_cast<size_t>(offsets[l + 1] - offsets[l]));
    }
    return mine;
  });
}

int64_t Lists::longest() const {
  return body_->sizes.empty() ? 0 : *std::max_element(body_->sizes.begin(), body_->sizes.end());
}

Ragged Lists::view(Device device) const {
  if (device == Device::cpu) return {body_->offsets.data(), count()};
  const Tensor& there = cached<Tensor>(OffsetsKey{device}, [&] { return Tensor::from(body_->offsets, device); });
  return {there.span<const int64_t>().data, count()};
}

const Tensor& Lists::relevance(Device device, Dtype dtype) const {
  return cached<Tensor>(RelevanceKey{device, dtype}, [&] { return Tensor::from(body_->relevance, device).to(dtype); });
}

Lists Lists::shown_in(Dtype dtype) const {
  Lists same = *this;
  same.shown_ = dtype;
  return same;
}

const std::vector<int64_t>& Lists::relevant(float threshold) const {
  const CountKey key{threshold};
  return cached<std::vector<int64_t>>(key, [&] {
    return per_list<int64_t>(key, [&](const float* grades, int64_t n) {
      return std::count_if(grades, grades + n, [&](float grade) { return grade >= threshold; });
    });
  });
}

const ChosenRows& Lists::relevant_rows(float threshold, Device device) const {
  return cached<ChosenRows>(RowsKey{threshold, device}, [&] {
    const std::vector<int64_t> offsets = offsets_of(relevant(threshold));
    // The array has one entry more than relevant rows: the loop writes every row number, but moves to the next entry
    // only after a relevant row.
    const DeviceArray<int32_t> here(offsets.back() + 1, Device::cpu);
    int32_t* at = here.span().data;
    for (size_t l = 0; l < body_->sizes.size(); ++l) {
      const float* const grades = body_->relevance.data() + body_->offsets[l];
      for (int64_t i = 0; i < body_->sizes[l]; ++i) {
        *at = static_cast<int32_t>(i);
        at += grades[i] >= threshold ? 1 : 0;
      }
    }
    const bool stays = device == Device::cpu;
    return ChosenRows{.offsets = Tensor::from(offsets, device),
                      .rows = stays ? here : DeviceArray<int32_t>(here.span().data, offsets.back(), device),
                      .total = offsets.back(),
                      .count = count()};
  });
}

Lists Lists::select(const std::vector<int64_t>& lists) const {
  std::vector<int64_t> sizes, origin;
  sizes.reserve(lists.size());
  origin.reserve(lists.size());
  for (const int64_t l : lists) {
    sizes.push_back(body_->sizes[l]);
    origin.push_back(body_->origin.empty() ? l : body_->origin[l]);
  }
  Lists selected;
  const auto& body = selected.body_;
  body->offsets = offsets_of(sizes);
  body->sizes = std::move(sizes);
  body->relevance = taken(body_->relevance, body_->offsets, lists);
  body->row_weights = taken(body_->row_weights, body_->offsets, lists);
  if (!body_->list_weights.empty()) {
    for (const int64_t l : lists) body->list_weights.push_back(body_->list_weights[l]);
  }
  body->shared = body_->shared;
  body->origin = std::move(origin);
  body->count_bytes();
  selected.shown_ = shown_;
  return selected;
}

std::vector<int64_t> Lists::rows_of(const std::vector<int64_t>& lists) const {
  std::vector<int64_t> rows;
  for (const int64_t l : lists) {
    for (int64_t i = body_->offsets[l]; i < body_->offsets[l + 1]; ++i) rows.push_back(i + 1);
  }
  return rows;
}

Tensor Lists::take_rows(const Tensor& x, const std::vector<int64_t>& lists) const {
  std::vector<int64_t> starts = {0};
  for (const int64_t l : lists) starts.push_back(starts.back() + body_->sizes[l]);
  Shape shape = x.shape();
  shape.set(0, starts.back());
  const bool by_host = x.host_bytes() != nullptr;
  const Tensor out = Tensor::empty(shape, x.dtype(), by_host ? Device::cpu : x.device());
  if (by_host) {
    const int64_t row_bytes = x.shape().stride(0) * size_of(x.dtype());
    const auto* const from = static_cast<const char*>(x.host_bytes());
    auto* const to = static_cast<char*>(out.raw());
    constexpr double nanoseconds_of_byte = 0.05;  // measured in caches
    const auto count = static_cast<int64_t>(lists.size());
    const double time = nanoseconds_of_byte * static_cast<double>(starts.back() * row_bytes);
    cpu::parallel_each(count, cpu::tasks_of_piece(count, time), [&](int64_t i) {
      const int64_t bytes = body_->sizes[lists[i]] * row_bytes;
      if (bytes > 0) std::memcpy(to + starts[i] * row_bytes, from + body_->offsets[lists[i]] * row_bytes, bytes);
    });
    return out.to(x.device());
  }
  const Tensor index = Tensor::from(rows_of(lists), x.device());
  with_any(x.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(x.device())
        .gather_rows(out.entries(), {.in = x.span<const T>(),
                                     .index = {index.span<const int64_t>().data},
                                     .out = out.span<T>(),
                                     .width = shape.stride(0)});
  });
  return out;
}

Lists Lists::graded(std::vector<float> relevance) const {
  return {body_->sizes, std::move(relevance), ids(), selected() ? counted(documents()) : body_->shared->documents};
}

Lists Lists::with_relevance(std::vector<float> relevance) const {
  const Lists made = graded(std::move(relevance)).shown_in(shown_);
  made.body_->row_weights = body_->row_weights;
  made.body_->list_weights = body_->list_weights;
  made.body_->count_bytes();
  return made;
}

Lists Lists::with_weights(std::vector<double> of_rows, std::vector<double> of_lists) const {
  Lists made;
  const auto& body = made.body_;
  body->sizes = body_->sizes;
  body->offsets = body_->offsets;
  body->relevance = body_->relevance;
  body->shared = body_->shared;
  body->origin = body_->origin;
  body->row_weights = std::move(of_rows);
  body->list_weights = std::move(of_lists);
  body->count_bytes();
  made.shown_ = shown_;
  return made;
}

Tensor Lists::row_weights_on(Device device) const {
  if (body_->row_weights.empty()) return {};
  return cached<Tensor>(WeightsKey{WeightsKey::rows, device}, [&] { return Tensor::from(body_->row_weights, device); });
}

Tensor Lists::list_weights_on(Device device) const {
  if (body_->list_weights.empty()) return {};
  return cached<Tensor>(WeightsKey{WeightsKey::lists, device},
                        [&] { return Tensor::from(body_->list_weights, device); });
}

Span<const double> Lists::row_weights_view(Device device) const {
  const Tensor weights = row_weights_on(device);
  return weights.defined() ? weights.span<const double>() : Span<const double>{};
}

}  // namespace mr
