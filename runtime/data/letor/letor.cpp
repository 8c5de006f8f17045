#include "runtime/data/letor/letor.h"

#include <algorithm>
#include <atomic>
#include <unordered_map>

#include "kernels/core/threads.h"
#include "runtime/data/letor/letor_rows.h"
#include "runtime/data/text_pieces.h"
#include "runtime/io/files/text_file.h"

namespace mr {
namespace {

using Pieces = std::vector<LetorRows>;

/// Reads a LETOR file in pieces, each by one thread. Pieces after the first bad line may be skipped.
Pieces read_pieces(const TextPieces& text, const std::string& path, const LetorOptions& options) {
  Pieces pieces(static_cast<size_t>(text.pieces()));
  std::atomic<size_t> first_bad{pieces.size()};
  cpu::parallel_each(static_cast<int64_t>(pieces.size()), 1, [&](size_t i) {
    if (i > first_bad.load(std::memory_order_relaxed)) return;
    const TextPieces::Piece piece = text.piece(static_cast<int64_t>(i));
    pieces[i] = letor_rows(piece.lines, piece.readable, path, options);
    if (!pieces[i].bad) return;
    size_t before = first_bad.load(std::memory_order_relaxed);
    while (i < before && !first_bad.compare_exchange_weak(before, i, std::memory_order_relaxed)) {
    }
  });
  return pieces;
}

class Joiner {
 public:
  Joiner(Pieces pieces, const std::string& path, const LetorOptions& options)
      : pieces_(std::move(pieces)), path_(path), options_(options) {}

  LetorFile join() {
    for (const LetorRows& piece : pieces_) take(piece);
    if (rows_ == 0)
      throw ParseError(path_, lines_ + 1, 1, "found no rows, expected lines of 'label qid:id 1:value ...'");
    if (options_.features > 0) out_.width = options_.features;
    if (out_.width > 0 && rows_ > largest_text / out_.width / static_cast<int64_t>(sizeof(float))) {
      throw std::runtime_error(path_ + ": " + std::to_string(rows_) + " rows of " + std::to_string(out_.width) +
                               " features (the last is named at line " + std::to_string(widest_line_) +
                               ") need more than the limit of " + std::to_string(largest_text) + " bytes");
    }
    out_.labels.resize(static_cast<size_t>(rows_));
    if (named_) out_.documents.resize(static_cast<size_t>(rows_));
    out_.features = Tensor::empty({rows_, out_.width}, Dtype::float32);
    cpu::parallel_each(static_cast<int64_t>(pieces_.size()), 1, [this](size_t i) { fill(pieces_[i], first_rows_[i]); });
    return std::move(out_);
  }

 private:
  void take(const LetorRows& piece) {
    const auto rows = static_cast<int64_t>(piece.labels.size());
    for (size_t q = 0; q < piece.queries.size(); ++q) {
      const int64_t end = q + 1 < piece.queries.size() ? piece.queries[q + 1].first_row : rows;
      query(piece.queries[q], end - piece.queries[q].first_row);
    }
    if (piece.bad) bad_letor_line(piece.bad_line, lines_ + piece.lines, path_, options_);
    if (piece.width > out_.width) {
      out_.width = piece.width;
      widest_line_ = lines_ + piece.widest_line;
    }
    first_rows_.push_back(rows_);
    rows_ += rows;
    lines_ += piece.lines;
    named_ = named_ || piece.named;
  }

  void query(const LetorRows::Query& q, int64_t rows) {
    if (!out_.qids.empty() && out_.qids.back() == q.id) {
      out_.sizes.back() += rows;
      return;
    }
    const auto [before, is_new] = first_line_.try_emplace(q.id, lines_ + q.line);
    if (!is_new) {
      throw ParseError(path_, lines_ + q.line, q.column,
                       "found qid " + quoted(q.id) + " again after other queries (it began at line " +
                           std::to_string(before->second) + "), expected the rows of a query together");
    }
    out_.qids.emplace_back(q.id);
    out_.sizes.push_back(rows);
  }

  void fill(LetorRows& piece, int64_t first_row) {
    std::copy(piece.labels.begin(), piece.labels.end(), out_.labels.begin() + first_row);
    if (named_) std::move(piece.documents.begin(), piece.documents.end(), out_.documents.begin() + first_row);
    float* row = out_.features.span<float>().data + first_row * out_.width;
    const float* value = piece.values.get();
    const int32_t* id = piece.ids.data();
    for (const LetorRows::Row& r : piece.rows) {
      float* const end = row + out_.width;
      if (r.listed) {
        std::fill(row, end, 0.0F);
        for (int64_t i = 0; i < r.count; ++i) row[*id++ - 1] = value[i];
      } else {
        std::fill(std::copy_n(value, r.count, row), end, 0.0F);
      }
      value += r.count;
      row = end;
    }
    piece = {};
  }

  Pieces pieces_;
  const std::string& path_;
  const LetorOptions& options_;
  LetorFile out_;
  std::vector<int64_t> first_rows_;
  std::unordered_map<std::string_view, int64_t> first_line_;
  int64_t rows_ = 0, lines_ = 0, widest_line_ = 0;
  bool named_ = false;
};

}  // namespace

LetorFile parse_letor(const TextPieces& text, const LetorOptions& options) {
  const std::string& path = text.file().path();
  return Joiner(read_pieces(text, path, options), path, options).join();
}

LetorFile read_letor(const std::string& path, const LetorOptions& options, int64_t piece_bytes) {
  return parse_letor(TextPieces(path, piece_bytes), options);
}

}  // namespace mr
