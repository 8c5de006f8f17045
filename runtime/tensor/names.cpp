#include "runtime/tensor/names.h"

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

void Names::reserve(size_t names, size_t bytes) {
  ends_.reserve(names);
  text_.reserve(bytes);
}

void Names::push_back(std::string_view name) {
  text_ += name;
  ends_.push_back(text_.size());
}

void Names::append(const Names& from, size_t first, size_t count) {
  const size_t start = first == 0 ? 0 : from.ends_[first - 1], here = text_.size();
  const size_t end = count == 0 ? start : from.ends_[first + count - 1];
  text_.append(from.text_, start, end - start);
  for (size_t i = first; i < first + count; ++i) ends_.push_back(here + from.ends_[i] - start);
}

std::vector<std::string> Names::to_vector() const {
  std::vector<std::string> texts;
  texts.reserve(size());
  for (size_t i = 0; i < size(); ++i) texts.emplace_back((*this)[i]);
  return texts;
}

}  // namespace mr
