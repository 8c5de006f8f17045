#include "runtime/io/files/text_file.h"

#include <cmath>
#include <limits>
#include <sys/stat.h>

#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::read_text_file;
using mr::test::Files;
using mr::test::gzip;
using mr::test::says;

namespace {

// Returns random bytes, which are hard to compress: the compressed data then has about as many bytes as the text.
std::string noise(size_t bytes) {
  std::string text;
  for (uint32_t state = 12345; text.size() < bytes; state = state * 1664525 + 1013904223)
    text += static_cast<char>(state >> 24);
  return text;
}

}  // namespace

TEST_CASE("read_text_file reads plain and gzipped files of every size") {
  const Files files;
  const size_t size = GENERATE(0, 1, 31, 32, 33, 127, 128, 129, 1000, 65535, 65536, 65537, 3000000);
  const std::string text = noise(size);
  CHECK(read_text_file(files.file("a", text)) == text);
  CHECK(read_text_file(files.file("a.gz", gzip(text))) == text);
  CHECK(read_text_file(files.file("b.gz", gzip(std::string(size, 'x')))) == std::string(size, 'x'));
}

TEST_CASE("read_text_file detects gzip by the first bytes, not by the name") {
  const Files files;
  CHECK(read_text_file(files.file("plain.gz", "no gzip")) == "no gzip");
  CHECK(read_text_file(files.file("packed.csv", gzip("a,b\n"))) == "a,b\n");
}

TEST_CASE("read_text_file reads all members of a gzip file") {
  const Files files;
  CHECK(read_text_file(files.file("a.gz", gzip("one\n") + gzip("") + gzip("two\n"))) == "one\ntwo\n");
}

TEST_CASE("read_text_file drops a byte order mark") {
  const Files files;
  CHECK(read_text_file(files.file("a", "\xEF\xBB\xBFid\n")) == "id\n");
  CHECK(read_text_file(files.file("a.gz", gzip("\xEF\xBB\xBFid\n"))) == "id\n");
}

TEST_CASE("read_text_file refuses gzip data truncated at any byte") {
  const Files files;
  const std::string packed = gzip(noise(5000));
  // 2 bytes are enough to recognize gzip; the last 8 bytes are the checksum and the length
  for (size_t cut = 2; cut < packed.size(); cut += cut < 40 || cut + 40 > packed.size() ? 1 : 97) {
    CHECK_THROWS_WITH(read_text_file(files.file("ratings.csv.gz", packed.substr(0, cut))),
                      says("ratings.csv.gz:", "truncated"));
  }
  CHECK_THROWS_WITH(read_text_file(files.file("a.gz", packed + packed.substr(0, 20))), Contains("truncated"));
}

TEST_CASE("read_text_file refuses damaged gzip data") {
  const Files files;
  std::string packed = gzip(noise(5000));
  packed[packed.size() - 6] ^= 1;
  CHECK_THROWS_WITH(read_text_file(files.file("a.gz", packed)), says("a.gz:", "damaged"));
  CHECK_THROWS_WITH(read_text_file(files.file("b.gz", gzip("x") + "tail")), says("b.gz:", "damaged"));
}

TEST_CASE("read_text_file stops at its size limit") {
  const Files files;
  const std::string text(2'000'000, 'x');
  CHECK(read_text_file(files.file("a.gz", gzip(text)), 2'000'000).size() == text.size());
  CHECK_THROWS_WITH(read_text_file(files.file("b.gz", gzip(text)), 1'999'999), says("b.gz:", "1999999 bytes"));
  CHECK_THROWS_WITH(read_text_file(files.file("c", text), 1'999'999), says("2000000 bytes", "1999999"));
}

TEST_CASE("read_text_file refuses a file that unpacks to 100 times its size before it fills memory") {
  const Files files;
  const std::string packed = gzip(std::string(80'000'000, 'x'));
  REQUIRE(packed.size() < 100'000);
  CHECK_THROWS_WITH(read_text_file(files.file("bomb.gz", packed)),
                    Contains("bomb.gz: unpacks to more than 67108864 bytes, the limit for " +
                             std::to_string(packed.size()) + " packed bytes (100 times as many)"));
  const std::string text = noise(1'000'000) + std::string(80'000'000, 'x');
  CHECK(read_text_file(files.file("text.gz", gzip(text))).size() == text.size());
}

TEST_CASE("read_text_file refuses folders, pipes and missing files and says which it found") {
  const Files files;
  CHECK_THROWS_WITH(read_text_file(files.folder()), Contains("a folder"));
  CHECK_THROWS_WITH(read_text_file(files.folder() + "/none"), says("/none:", "No such file"));
  const std::string pipe = files.folder() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(read_text_file(pipe), Contains("regular file"));
}

TEST_CASE("parse_number reads a whole word as a finite number and rounds once") {
  const auto parse = [](const char* word) { return mr::parse_number(word, "f", 3, 7, "the rating"); };
  CHECK(parse("4.5") == 4.5F);
  CHECK(parse("+4") == 4.0F);
  CHECK(parse("-1e-3") == -1e-3F);
  CHECK(parse("1e-60") == 0.0F);
  CHECK(parse("3.4028234e38") == std::numeric_limits<float>::max());
  // Rounded to double first, this decimal would be exactly halfway between two floats, and then be rounded down to 1.
  CHECK(parse("1.00000005960464477540") == std::nextafter(1.0F, 2.0F));
  for (const char* const word : {"five", "", "4,5", "4.5x", "1e39", "-1e39", "inf", "-inf", "nan", "NaN", "+-5", "-+5",
                                 "++5", "+", "-", "0x10", " 4", "4 "}) {
    CHECK_THROWS_WITH(parse(word), says("f:3:7:", "'" + std::string(word) + "'", "rating"));
  }
  CHECK_THROWS_AS(parse("five"), mr::ParseError);
}

TEST_CASE("quoted shortens long words") {
  CHECK(mr::quoted("short") == "'short'");
  CHECK(mr::quoted(std::string(100, 'x')) == "'" + std::string(40, 'x') + "...'");
}

TEST_CASE("quoted and ParseError escape zero bytes") {
  const std::string word("a\0b\0", 4);
  CHECK(mr::quoted(word) == "'a\\x00b\\x00'");
  CHECK_THROWS_WITH(mr::parse_number(word, "f", 2, 3, "the grade"), says("f:2:3:", "'a\\x00b\\x00'", "grade"));
  CHECK(std::string(mr::ParseError("f", 1, 1, "found " + word + ", expected").what()) ==
        "f:1:1: found a\\x00b\\x00, expected");
}
