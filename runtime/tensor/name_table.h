// Finds names in a list, such as the documents of a query, by an open-addressing hash table. It is faster than a sort,
// and the memory of a short list stays in the processor's cache.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/tensor/names.h"

namespace mr {

/// Returns the 8 bytes at `at` as a number.
inline uint64_t eight_bytes(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Returns a number that tells names of the same length apart, if this length is below 8.
inline uint64_t bytes_of_short(std::string_view name) {
  const size_t size = name.size();
  if (size >= 4) {
    uint32_t first = 0, last = 0;
    std::memcpy(&first, name.data(), sizeof first);
    std::memcpy(&last, name.data() + size - sizeof last, sizeof last);
    return uint64_t{first} << 32 | last;
  }
  if (size == 0) return 0;
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(name[i])}; };
  return byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1);
}

/// Compares names like ==, without calling the C library.
inline bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.size() < 8) return bytes_of_short(a) == bytes_of_short(b);
  const size_t last = a.size() - 8;
  for (size_t at = 0; at < last; at += 8) {
    if (eight_bytes(a.data() + at) != eight_bytes(b.data() + at)) return false;
  }
  return eight_bytes(a.data() + last) == eight_bytes(b.data() + last);
}

/// Returns a hash of a name. All of its bits depend on all bytes.
inline uint64_t hash_of(std::string_view name) {
  constexpr uint64_t odd = 0x9E3779B97F4A7C15;
  uint64_t hash = name.size() * odd;
  const auto mix = [&](uint64_t word) {
    hash = (hash ^ word) * odd;
    hash ^= hash >> 32;
  };
  if (name.size() < 8) {
    mix(bytes_of_short(name));
  } else {
    const size_t last = name.size() - 8;
    for (size_t at = 0; at < last; at += 8) mix(eight_bytes(name.data() + at));
    mix(eight_bytes(name.data() + last));
  }
  return hash * odd;
}

/// A name that occurs twice: the position of the second occurrence, and that of the first one.
struct RepeatedName {
  int64_t again, before;
};

/// The positions of names, counted from 0. `Texts` refers to an array of texts: a NameSpan or a span of strings. A slot
/// of the table has the upper half of a name's hash, and in the lower half its position + 1; 0 is an empty slot.
/// Construction can be interrupted.
template <class Texts>
class NameTable {
 public:
  /// Enters the names. Of equal names, only the first one is entered. `slots` is the memory of the table.
  NameTable(Texts names, std::vector<uint64_t>& slots) : names_(names), slots_(slots) {
    const size_t count = names.size();
    // at most half of the slots are used, so that searches are short
    slots.assign(std::bit_ceil(2 * count + 1), 0);
    for (size_t i = 0; i < count; ++i) {
      if ((i & 0xFFFF) == 0xFFFF) cpu::check_interrupt();
      const uint64_t hash = hash_of(names[i]);
      uint64_t& slot = slot_of(names[i], hash);
      if (slot == 0) {
        slot = (hash & upper) | (i + 1);
      } else if (!repeated_) {
        repeated_ = {static_cast<int64_t>(i), position(slot)};
      }
    }
  }

  /// The first repetition of a name, if there is one.
  const std::optional<RepeatedName>& repeated() const { return repeated_; }
  /// Returns the position of a name, or -1 if it is not there.
  int64_t find(std::string_view name) const { return position(slot_of(name, hash_of(name))); }

 private:
  static constexpr uint64_t upper = 0xFFFFFFFF00000000;
  static int64_t position(uint64_t slot) { return static_cast<int64_t>(slot & ~upper) - 1; }

  /// Returns the slot of a name, or the empty slot where it would be entered.
  uint64_t& slot_of(std::string_view name, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    for (size_t at = (hash >> 32) & mask;; at = (at + 1) & mask) {
      uint64_t& slot = slots_[at];
      if (slot == 0) return slot;
      if (((slot ^ hash) & upper) == 0 && same_name(names_[static_cast<size_t>(position(slot))], name)) return slot;
    }
  }

  Texts names_;
  std::vector<uint64_t>& slots_;
  std::optional<RepeatedName> repeated_;
};

/// Returns the first repetition of a name, or nothing if all names differ.
std::optional<RepeatedName> first_repeated(NameSpan names);

}  // namespace mr
