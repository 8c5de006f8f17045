// Names of rows, such as the documents of a run: many short texts in one block of memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
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
  bool operator==(const Names& other) const;

  void reserve(size_t names, size_t bytes);
  void push_back(std::string_view name) {
    const size_t start = bytes(), end = start + name.size();
    if (end > text_.size()) text_.resize(std::max(end, 2 * text_.size()));
    copy(name, text_.data() + start);
    ends_.push_back(end);
  }
  /// Appends `count` names of another array, from the one at position `first`.
  void append(const Names& from, size_t first, size_t count);
  /// Appends the names of several arrays, on all threads.
  void append(const std::vector<const Names*>& parts);
  /// Total length of the names in bytes.
  size_t bytes() const { return ends_.empty() ? 0 : ends_.back(); }
  std::vector<std::string> to_vector() const;

 private:
  /// Copies a name. Short names are copied here, because a call of the C library takes longer.
  static void copy(std::string_view name, char* to) {
    const char* const from = name.data();
    const size_t size = name.size();
    if (size > 16) {
      std::memcpy(to, from, size);
    } else if (size >= 8) {
      copy_twice<8>(from, size, to);
    } else if (size >= 4) {
      copy_twice<4>(from, size, to);
    } else if (size > 0) {
      to[0] = from[0], to[size / 2] = from[size / 2], to[size - 1] = from[size - 1];
    }
  }
  /// Copies the first and the last `Bytes` bytes, which may overlap.
  template <size_t Bytes>
  static void copy_twice(const char* from, size_t size, char* to) {
    char first[Bytes], last[Bytes];
    std::memcpy(first, from, Bytes);
    std::memcpy(last, from + size - Bytes, Bytes);
    std::memcpy(to, first, Bytes);
    std::memcpy(to + size - Bytes, last, Bytes);
  }

  std::string text_;          // the names, one after the other; the memory after the last one is for more names
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
