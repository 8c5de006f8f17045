// Tests that the pieces in which threads read a text file contain every line once and whole, for every piece size. Also
// tests a file that changes while it is read.
#include "runtime/data/text_pieces.h"

#include "runtime/data/plain_number.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using mr::TextPieces;
using mr::test::Files;
using mr::test::gzip;
using mr::test::says;

namespace {

/// Returns the texts of all pieces, concatenated.
std::string together(const TextPieces& text) {
  std::string all;
  for (int64_t i = 0; i < text.pieces(); ++i) {
    const TextPieces::Piece piece = text.piece(i);
    if (!all.empty() && !piece.lines.empty()) CHECK(all.back() == '\n');
    all += piece.lines;
    if (piece.lines.empty()) continue;
    CHECK(piece.readable.data() == piece.lines.data());
    CHECK(piece.readable.size() >= piece.lines.size() + mr::plain_number_reach);
    CHECK(piece.readable.substr(piece.readable.size() - mr::plain_number_reach) ==
          std::string(mr::plain_number_reach, '\0'));
  }
  return all;
}

}  // namespace

TEST_CASE("TextPieces's pieces together are the text for every piece size") {
  const Files files;
  const std::string lines = "a\n\nbcd\r\n" + std::string(30, 'x') + "\ne\n\n\nfg", long_line = std::string(20'000, 'y');
  for (const std::string& text : {lines, lines + "\n", std::string(), std::string("\n"), std::string("a"),
                                  lines + "\n" + long_line, long_line + "\n" + lines}) {
    const std::string plain = files.file("plain", text), packed = files.file("packed", gzip(text)),
                      marked = files.file("marked", "\xEF\xBB\xBF" + text);
    for (const int64_t bytes : {1, 2, 3, 4, 5, 7, 9, 10, 31, 40, 4096, 1 << 20}) {
      CAPTURE(bytes, text.size());
      CHECK(together(TextPieces(plain, bytes)) == text);
      if (bytes > 4 && bytes < 4096) continue;
      CHECK(together(TextPieces(packed, bytes)) == text);
      CHECK(together(TextPieces(marked, bytes)) == text);
    }
  }
}

TEST_CASE("TextPieces raises an error if the file is cut short while it is read") {
  const Files files;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "1 qid:1 1:0.5 2:1\n";
  const std::string path = files.file("q.txt", text);
  const TextPieces open(path, 1 << 16);
  CHECK(open.piece(0).lines.size() > 60'000);
  std::filesystem::resize_file(path, 100'000);
  CHECK(open.piece(0).lines.size() > 60'000);
  for (const int64_t i : {int64_t{1}, open.pieces() - 1})
    CHECK_THROWS_WITH(open.piece(i), says(path, "cut short", "900000 bytes"));
}
