#include "runtime/tensor/lists.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cuda/device.h"

namespace mr {
namespace {

std::vector<int64_t> offsets_of(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> offsets{0};
  offsets.reserve(sizes.size() + 1);
  for (size_t l = 0; l < sizes.size(); ++l) {
    if (sizes[l] < 0 || sizes[l] > std::numeric_limits<int32_t>::max()) {
      throw std::invalid_argument("lists: size " + std::to_string(l + 1) + " is " + std::to_string(sizes[l]) +
                                  ", expected 0 to 2147483647");
    }
    offsets.push_back(offsets.back() + sizes[l]);
  }
  return offsets;
}

std::string per_device(const char* what, Device device) {
  return std::string(what) + "@" + std::string(name_of(device));
}

}  // namespace

Lists::Lists(std::vector<int64_t> sizes, std::vector<float> relevance)
    : Lists(std::move(sizes), std::move(relevance), {}, {}) {}

Lists::Lists(std::vector<int64_t> sizes, std::vector<float> relevance, std::vector<std::string> ids,
             std::vector<std::string> documents)
    : body_(std::make_shared<Body>()) {
  body_->offsets = offsets_of(sizes);
  const auto rows = static_cast<int64_t>(relevance.size());
  if (body_->offsets.back() != rows) {
    throw std::invalid_argument("lists: the sizes add up to " + std::to_string(body_->offsets.back()) +
                                " rows, but there are " + std::to_string(rows) + " relevances");
  }
  for (int64_t i = 0; i < rows; ++i) {
    if (!(relevance[i] >= 0) || std::isinf(relevance[i])) {
      throw std::invalid_argument("lists: relevance " + std::to_string(i + 1) + " is " + std::to_string(relevance[i]) +
                                  ", expected a finite number, 0 or more");
    }
  }
  body_->sizes = std::move(sizes);
  body_->relevance = std::move(relevance);
  body_->ids = std::move(ids);
  body_->documents = std::move(documents);
}

Ragged Lists::view(Device device) const {
  if (device == Device::cpu) return {body_->offsets.data(), count()};
  const Tensor& there =
      cached<Tensor>(per_device("offsets", device), [&] { return Tensor::from(body_->offsets, device); });
  return {static_cast<const int64_t*>(there.raw()), count()};
}

const Tensor& Lists::relevance(Device device) const {
  return cached<Tensor>(per_device("relevance", device), [&] { return Tensor::from(body_->relevance, device); });
}

const std::vector<int64_t>& Lists::relevant(float threshold) const {
  char key[40];
  std::snprintf(key, sizeof key, "relevant %a", threshold);
  return cached<std::vector<int64_t>>(key, [&] {
    std::vector<int64_t> relevant(body_->sizes.size(), 0);
    for (size_t l = 0; l < relevant.size(); ++l) {
      for (int64_t i = body_->offsets[l]; i < body_->offsets[l + 1]; ++i)
        relevant[l] += body_->relevance[i] >= threshold ? 1 : 0;
    }
    return relevant;
  });
}

const ChosenRows& Lists::relevant_rows(float threshold, Device device) const {
  char key[64];
  std::snprintf(key, sizeof key, "rows %a@%s", threshold, name_of(device).data());
  return cached<ChosenRows>(key, [&] {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> rows;
    for (size_t l = 0; l < body_->sizes.size(); ++l) {
      for (int64_t i = 0; i < body_->sizes[l]; ++i) {
        if (body_->relevance[body_->offsets[l] + i] >= threshold) rows.push_back(static_cast<int32_t>(i));
      }
      offsets.push_back(static_cast<int64_t>(rows.size()));
    }
    const auto bytes = static_cast<int64_t>(rows.size() * sizeof(int32_t));
    ChosenRows chosen{Tensor::from(offsets, device), std::make_shared<Storage>(bytes, device), offsets.back(), count()};
    if (bytes > 0 && device == Device::cpu) std::memcpy(chosen.rows->data(), rows.data(), static_cast<size_t>(bytes));
    if (bytes > 0 && device == Device::cuda) cuda::copy_to_device(chosen.rows->data(), rows.data(), bytes);
    return chosen;
  });
}

Lists Lists::select(const std::vector<int64_t>& lists) const {
  std::vector<int64_t> sizes;
  std::vector<float> relevance;
  std::vector<std::string> ids, documents;
  for (const int64_t l : lists) {
    const int64_t begin = body_->offsets[l], end = body_->offsets[l + 1];
    sizes.push_back(end - begin);
    relevance.insert(relevance.end(), body_->relevance.begin() + begin, body_->relevance.begin() + end);
    if (!body_->ids.empty()) ids.push_back(body_->ids[l]);
    if (!body_->documents.empty())
      documents.insert(documents.end(), body_->documents.begin() + begin, body_->documents.begin() + end);
  }
  return {std::move(sizes), std::move(relevance), std::move(ids), std::move(documents)};
}

std::vector<int64_t> Lists::rows_of(const std::vector<int64_t>& lists) const {
  std::vector<int64_t> rows;
  for (const int64_t l : lists) {
    for (int64_t i = body_->offsets[l]; i < body_->offsets[l + 1]; ++i) rows.push_back(i + 1);
  }
  return rows;
}

Lists Lists::with_relevance(std::vector<float> relevance) const {
  return {body_->sizes, std::move(relevance), body_->ids, body_->documents};
}

}  // namespace mr
