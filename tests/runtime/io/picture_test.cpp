#include "runtime/io/formats/picture.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <catch2/catch.hpp>
#include <zlib.h>

#include "kernels/core/threads.h"
#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"

namespace fs = std::filesystem;
using Catch::Contains;
using mr::io::encode_png;
using mr::io::open_picture;
using mr::test::says;

namespace {

const fs::path golden = fs::path(MR_SOURCE_DIR) / "tests/golden/pictures";

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Place {
 public:
  std::string path() const { return (folder_.path() / "face.png").string(); }
  std::string with(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }

 private:
  mr::test::TemporaryFolder folder_;
};

/// Decodes all rows of a picture and returns the sum of its values.
double read_all(const std::string& path) {
  const auto picture = open_picture(path);
  std::vector<float> row(static_cast<size_t>(3 * picture->width()));
  double sum = 0;
  for (int64_t y = 0; y < picture->height(); ++y) {
    picture->next_row(row.data());
    for (const float value : row) {
      if (!(value >= 0 && value <= 1)) FAIL("a value of " << value);
      sum += value;
    }
  }
  return sum;
}

std::string number(uint32_t n) {
  return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)};
}

std::string chunk(const std::string& kind, const std::string& content) {
  const std::string summed = kind + content;
  const auto sum = crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size()));
  return number(static_cast<uint32_t>(content.size())) + summed + number(static_cast<uint32_t>(sum));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  out.resize(size);
  return out;
}

/// Returns an RGB PNG file whose header claims this width and height.
std::string claiming(uint32_t width, uint32_t height, const std::string& more = "", const std::string& rows = "") {
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", number(width) + number(height) + std::string("\x08\x02\0\0\0", 5)) + more +
         chunk("IDAT", deflated(rows)) + chunk("IEND", "");
}

}  // namespace

TEST_CASE("open_picture reads the PNG files that encode_png writes") {
  const Place place;
  std::vector<unsigned char> samples;
  for (int i = 0; i < 3 * 5 * 4; ++i) samples.push_back(static_cast<unsigned char>(4 * i));
  const auto picture = open_picture(place.with(encode_png(5, 4, 3, samples)));
  REQUIRE(picture->width() == 5);
  REQUIRE(picture->height() == 4);
  std::vector<float> row(15);
  for (size_t y = 0; y < 4; ++y) {
    picture->next_row(row.data());
    for (size_t i = 0; i < 15; ++i) CHECK(row[i] == Approx(samples[15 * y + i] / 255.0));
  }
  CHECK(read_all(place.with(encode_png(2, 1, 1, {255, 0}))) == 3);
}

TEST_CASE("open_picture refuses files that are not pictures by their first bytes") {
  const Place place;
  CHECK_THROWS_WITH(open_picture(place.path()), Contains(place.path()));
  CHECK_THROWS_WITH(open_picture(place.with("")), says(place.path(), "empty", "PNG"));
  CHECK_THROWS_WITH(open_picture(place.with("GIF89a\x1b[2J")), says(place.path(), "'GIF89a\\x1b['", "PNG"));
  CHECK_THROWS_WITH(open_picture(place.with("\x89PNG\r\n\x1a\n")), says("PNG", "8 bytes"));
  CHECK_THROWS_WITH(open_picture(place.with("\xFF\xD8\xFF")), says("damaged", "JPEG"));
  CHECK_THROWS_WITH(open_picture(fs::path(place.path()).parent_path().string()), Contains("a folder"));
}

TEST_CASE("open_picture checks a picture's claimed size before it allocates memory") {
  const Place place;
  CHECK_THROWS_WITH(open_picture(place.with(claiming(0xFFFFFFFF, 1))), Contains("65536"));
  CHECK_THROWS_WITH(open_picture(place.with(claiming(65536, 65536))), Contains("67108864 pixels"));
  CHECK_THROWS_WITH(open_picture(place.with(claiming(0, 7))), Contains("0 x 7 pixels"));
  CHECK_THROWS_WITH(open_picture(place.with(claiming(8000, 8000))), says("8000 x 8000 pixels", "PNG"));
  std::string jpeg = content_of(golden / "colour.jpg");
  const size_t frame = jpeg.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  jpeg.replace(frame + 5, 4, "\xFF\x00\xFF\x00", 4);
  CHECK_THROWS_WITH(open_picture(place.with(jpeg)), says("65280 x 65280 pixels", "67108864 pixels"));
}

TEST_CASE("open_picture skips texts and profiles in a PNG file of any unpacked size") {
  const Place place;
  std::string texts;
  const std::string packed = deflated(std::string(4'000'000, 'x'));
  for (int i = 0; i < 200; ++i) texts += chunk("zTXt", std::string("k\0\0", 3) + packed);
  const std::string rows = {'\0', '\x7F', '\x7F', '\x7F'};
  CHECK(read_all(place.with(claiming(1, 1, texts, rows))) == Approx(3 * 127 / 255.0));
}

TEST_CASE("open_picture and next_row throw for pictures truncated at any length") {
  const Place place;
  for (const char* const name :
       {"colour.png", "interlaced.png", "palette.png", "colour.jpg", "progressive.jpg", "cmyk.jpg"}) {
    const std::string whole = content_of(golden / name);
    CHECK_NOTHROW(read_all(place.with(whole)));
    for (size_t length = 0; length < whole.size() - 2; length += 1 + whole.size() / 150) {
      INFO(name << " of " << length << " bytes");
      CHECK_THROWS_AS(read_all(place.with(whole.substr(0, length))), std::runtime_error);
    }
    CHECK_THROWS_WITH(read_all(place.with(whole.substr(0, whole.size() / 2))),
                      Contains(place.path()) && Contains("damaged"));
  }
}

TEST_CASE("pictures with changed bytes are read or refused with an error that names the file") {
  const Place place;
  std::mt19937 random(7);
  for (const auto& entry : fs::directory_iterator(golden)) {
    if (entry.path().extension() == ".json") continue;
    const std::string whole = content_of(entry.path());
    for (int round = 0; round < 150; ++round) {
      std::string bytes = whole;
      for (unsigned changes = 1 + random() % 4; changes > 0; --changes)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      INFO(entry.path().filename() << ", round " << round);
      try {
        read_all(place.with(bytes));
      } catch (const std::runtime_error& error) {
        CHECK_THAT(error.what(), Contains(place.path()));
      }
    }
  }
}

TEST_CASE("Ctrl-C ends the decoding of a progressive JPEG file, and too many scans are refused") {
  const Place place;
  const std::string whole = content_of(golden / "progressive.jpg");
  // repeats the last scan of the file 600 times
  const size_t scan = whole.rfind("\xFF\xDA"), end = whole.size() - 2;
  std::string many = whole.substr(0, end);
  for (int i = 0; i < 600; ++i) many += whole.substr(scan, end - scan);
  many += "\xFF\xD9";
  CHECK_THROWS_WITH(read_all(place.with(many)), says("damaged", "JPEG"));
  const auto picture = open_picture(place.with(whole));
  std::vector<float> row(static_cast<size_t>(3 * picture->width()));
  mr::cpu::interrupt();
  CHECK_THROWS_AS(picture->next_row(row.data()), mr::cpu::Interrupted);
}
