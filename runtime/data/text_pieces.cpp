#include "runtime/data/text_pieces.h"

#include <algorithm>
#include <cstring>

#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

// number of bytes that are read beyond a piece of a file at first, because its last line may end there
constexpr int64_t longest_tail = 4096;

}  // namespace

TextPieces::TextPieces(const std::string& path, int64_t piece_bytes)
    : file_(path, largest_text), piece_bytes_(piece_bytes) {
  file_.read_soon();
  std::string first(static_cast<size_t>(std::min<int64_t>(file_.size(), 3)), ' ');
  file_.read(0, first.data(), static_cast<int64_t>(first.size()));
  if (is_packed(first)) {
    unpacked_ = read_text(file_, largest_text);
  } else if (first == byte_order_mark) {
    start_ = static_cast<int64_t>(first.size());
  }
}

int64_t TextPieces::size() const { return unpacked_ ? static_cast<int64_t>(unpacked_->size()) : file_.size() - start_; }

void TextPieces::read(int64_t at, char* target, int64_t bytes) const {
  if (!unpacked_) return file_.read(start_ + at, target, bytes);
  std::memcpy(target, unpacked_->data() + at, static_cast<size_t>(bytes));
}

TextPieces::Piece TextPieces::piece(int64_t i) const {
  // Reads from one byte before the piece (a range of bytes of the file). If that byte is a newline, a line begins
  // exactly where the piece begins.
  const int64_t from = std::max<int64_t>(i * piece_bytes_ - 1, 0), border = std::min((i + 1) * piece_bytes_, size());
  Piece out;
  int64_t end = from;
  const auto read_up_to = [&](int64_t wanted) {
    auto wider = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(wanted - from + margin));
    std::copy_n(out.bytes.get(), end - from, wider.get());
    read(end, wider.get() + (end - from), wanted - end);
    std::fill_n(wider.get() + (wanted - from), margin, '\0');
    out.bytes = std::move(wider), end = wanted;
  };
  const auto line_end =
      [&](int64_t at) {  // position after the line that contains byte `at`; -1 if the end of that line was not read yet
        const void* const found = std::memchr(out.bytes.get() + (at - from), '\n', static_cast<size_t>(end - at));
        return found == nullptr ? int64_t{-1} : static_cast<const char*>(found) - out.bytes.get() + from + 1;
      };
  read_up_to(std::min(border + longest_tail, size()));
  const int64_t first = i == 0 ? 0 : line_end(from);
  if (first < 0 || first >= border) return {};
  int64_t last = line_end(border - 1);
  for (; last < 0 && end < size(); last = line_end(border - 1)) read_up_to(std::min(from + 2 * (end - from), size()));
  if (last < 0) last = end;
  out.lines = {out.bytes.get() + (first - from), static_cast<size_t>(last - first)};
  out.readable = {out.lines.data(), static_cast<size_t>(end - first + margin)};
  return out;
}

}  // namespace mr
