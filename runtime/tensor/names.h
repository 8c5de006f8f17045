// Names of rows, such as the documents of a run: many short texts in one block of memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace mr {

/// An array of names. A reference to a name is valid until the array changes.
class Names {
 public:
  Names() = default;
  Names(std::initializer_list<std::string_view> names);
  Names(const std::vector<std::string>& names);

  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](size_t i) const {
    const size_t from = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + from, ends_[i] - from};
  }
  bool operator==(const Names&) const = default;

  void reserve(size_t names, size_t bytes);
  void push_back(std::string_view name);
  /// Appends `count` names of another array, from the one at position `first`.
  void append(const Names& from, size_t first, size_t count);
  void append(const Names& from) { append(from, 0, from.size()); }
  /// Total length of the names in bytes.
  size_t bytes() const { return text_.size(); }
  std::vector<std::string> to_vector() const;

 private:
  std::string text_;          // the names, one after the other
  std::vector<size_t> ends_;  // where each name ends in the text
};

/// Some neighbours in an array of names.
class NameSpan {
 public:
  NameSpan(const Names& names) : NameSpan(names, 0, names.size()) {}
  NameSpan(const Names& names, size_t first, size_t size) : names_(&names), first_(first), size_(size) {}

  size_t size() const { return size_; }
  std::string_view operator[](size_t i) const { return (*names_)[first_ + i]; }

 private:
  const Names* names_;
  size_t first_, size_;
};

}  // namespace mr
