#include "runtime/tensor/names.h"

#include <algorithm>

#include "kernels/core/threads.h"

namespace mr {
namespace {

template <class Texts>
void add_all(Names& names, const Texts& texts) {
  size_t bytes = 0;
  for (const std::string_view text : texts) bytes += text.size();
  names.reserve(texts.size(), bytes);
  for (const std::string_view text : texts) names.push_back(text);
}

}  // namespace

Names::Names(std::initializer_list<std::string_view> names) { add_all(*this, names); }
Names::Names(const std::vector<std::string>& names) { add_all(*this, names); }

bool Names::operator==(const Names& other) const {
  return ends_ == other.ends_ && std::equal(text_.data(), text_.data() + bytes(), other.text_.data());
}

void Names::reserve(size_t names, size_t bytes) {
  ends_.reserve(names);
  text_.resize(std::max(text_.size(), bytes));
}

void Names::append(const Names& from, size_t first, size_t count) {
  if (count == 0) return;
  const size_t start = first == 0 ? 0 : from.ends_[first - 1], size = from.ends_[first + count - 1] - start;
  const size_t here = bytes();
  text_.resize(std::max(text_.size(), here + size));
  std::copy_n(from.text_.data() + start, size, text_.data() + here);
  const size_t names = ends_.size();
  ends_.resize(names + count);
  for (size_t i = 0; i < count; ++i) ends_[names + i] = here + from.ends_[first + i] - start;
}

void Names::append(const std::vector<const Names*>& parts) {
  std::vector<size_t> names = {ends_.size()}, starts = {bytes()};
  for (const Names* const part : parts) {
    names.push_back(names.back() + part->size());
    starts.push_back(starts.back() + part->bytes());
  }
  ends_.resize(names.back());
  text_.resize(std::max(text_.size(), starts.back()));
  cpu::parallel_each(static_cast<int64_t>(parts.size()), 1, [&](int64_t i) {
    const Names& part = *parts[i];
    std::copy_n(part.text_.data(), part.bytes(), text_.data() + starts[i]);
    for (size_t k = 0; k < part.size(); ++k) ends_[names[i] + k] = starts[i] + part.ends_[k];
  });
}

std::vector<std::string> Names::to_vector() const {
  std::vector<std::string> texts;
  texts.reserve(size());
  for (size_t i = 0; i < size(); ++i) texts.emplace_back((*this)[i]);
  return texts;
}

}  // namespace mr
