// Finds blanks in a text, 64 characters at a time. They separate words and lines: the space, \t, \n, \v, \f and \r.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace mr {

// The characters from \t to \r are \t, \n, \v, \f and \r.
inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Returns a bit for each of the 64 characters at `text`, the first one in the lowest bit: 1 if it is a blank.
inline uint64_t blanks_of(const char* text) {
  uint64_t bits = 0;
#if defined(__SSE2__)
  const __m128i space = _mm_set1_epi8(' '), tab = _mm_set1_epi8('\t'), range = _mm_set1_epi8('\r' - '\t');
  for (int at = 0; at < 64; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at));
    const __m128i from_tab = _mm_sub_epi8(bytes, tab);
    const __m128i is_one =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, space), _mm_cmpeq_epi8(_mm_min_epu8(from_tab, range), from_tab));
    bits |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(is_one))} << at;
  }
#else
  for (int at = 0; at < 64; ++at) bits |= uint64_t{is_space(text[at])} << at;
#endif
  return bits;
}

/// The positions of the blanks of a text, from the first one to the last. They are found some thousand characters at a
/// time, so that the loops that use them wait for no comparison.
class Blanks {
 public:
  /// number of bytes beyond the text that are read; none of them is a blank, unless the text ends with a blank
  static constexpr int64_t reach = 64;

  Blanks(const char* text, const char* end) : base_(text), unread_(text), end_(end) {}

  /// Returns the position of the next blank, or the end of the text if there is none. May not be called after it has
  /// returned the last character of the text.
  const char* next() {
    while (at_ == count_) {
      if (unread_ >= end_) return end_;
      find_more();
    }
    return base_ + offsets_[at_++];
  }

  /// Goes on to the first blank at or after `position`, which is not before the last one that was returned.
  void skip_to(const char* position) {
    for (;;) {
      while (at_ < count_ && base_ + offsets_[at_] < position) ++at_;
      if (at_ < count_ || unread_ >= end_) return;
      find_more();
    }
  }

  /// If the next `Count` words end with a single blank each, of which only the last one is a line end, stores the words
  /// and goes on to the next line. May also return false if there are such words. `from` is the start of the line.
  template <size_t Count>
  bool plain_line(const char* from, std::array<std::string_view, Count>& words) {
    if (count_ - at_ < Count) return false;
    bool is_plain = true;
    for (size_t i = 0; i < Count; ++i) {
      const char* const to = base_ + offsets_[at_ + i];
      words[i] = {from, static_cast<size_t>(to - from)};
      is_plain &= to != from;
      is_plain &= (*to == '\n') == (i + 1 == Count);
      from = to + 1;
    }
    at_ += is_plain ? Count : 0;
    return is_plain;
  }

 private:
  static constexpr int64_t block = 64, blocks = 32;
  static constexpr int few = 16;

  void find_more() {
    base_ = unread_;
    at_ = count_ = 0;
    for (int64_t i = 0; i < blocks && unread_ < end_; ++i, unread_ += block) {
      add(blanks_of(unread_), static_cast<uint32_t>(unread_ - base_));
    }
  }

  /// Adds the offsets of a block's blanks. Stores at least 16 numbers: as nearly all blocks of words have no more
  /// blanks, the processor predicts where the loop ends.
  void add(uint64_t bits, uint32_t offset) {
    const int found = std::popcount(bits);
    for (int stored = 0; stored < found; stored += few) {
      for (int i = 0; i < few; ++i, bits &= bits - 1)
        offsets_[count_ + static_cast<size_t>(stored + i)] = offset + static_cast<uint32_t>(std::countr_zero(bits));
    }
    count_ += static_cast<size_t>(found);
  }

  const char *base_, *unread_, *end_;
  size_t at_ = 0, count_ = 0;
  std::array<uint32_t, block * blocks + few> offsets_;  // of blanks, from base_; those before at_ are done
};

}  // namespace mr
