#include "runtime/io/formats/picture.h"

#include <new>
#include <stdexcept>
#include <string_view>

#include <zlib.h>

#include "runtime/io/files/regular_file.h"
#include "runtime/io/safe_text.h"

namespace mr::io {
namespace {

constexpr int64_t largest_file = int64_t{256} << 20;
constexpr std::string_view png_signature("\x89PNG\r\n\x1a\n", 8), jpeg_signature("\xFF\xD8\xFF", 3);

std::vector<unsigned char> bytes_of(const std::string& path) {
  const RegularFile file(path, largest_file);
  std::vector<unsigned char> bytes(static_cast<size_t>(file.size()));
  file.read(0, bytes.data(), file.size());
  return bytes;
}

std::string beginning(std::string_view bytes) {
  if (bytes.empty()) return "an empty file";
  constexpr size_t shown = 8;
  return "a file that begins with '" + safe_text(bytes.substr(0, shown), Breaks::escaped) + "'";
}

void add_number(std::string& to, uint64_t number) {
  for (const int shift : {24, 16, 8, 0}) to += static_cast<char>((number >> shift) & 0xFF);
}

/// Appends a PNG chunk: length, type and content, and their checksum.
void add_chunk(std::string& to, const std::string& kind, const std::string& content) {
  const std::string summed = kind + content;
  add_number(to, content.size());
  to += summed;
  add_number(to, crc32(0, reinterpret_cast<const Bytef*>(summed.data()), static_cast<uInt>(summed.size())));
}

std::string compressed(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_COMPRESSION);
  if (status != Z_OK) throw std::bad_alloc();
  out.resize(size);
  return out;
}

}  // namespace

void refuse_picture(const std::string& path, const std::string& found, const std::string& expected) {
  throw std::runtime_error(path + ": found " + found + ", expected " + expected);
}

void check_picture_size(const std::string& path, int64_t width, int64_t height) {
  const std::string found = "a picture of " + std::to_string(width) + " x " + std::to_string(height) + " pixels";
  if (width < 1 || height < 1) refuse_picture(path, found, "one pixel at least");
  if (width > longest_side || height > longest_side)
    refuse_picture(path, found, "at most " + std::to_string(longest_side) + " on a side");
  if (width * height > most_pixels)
    refuse_picture(path, found, "at most " + std::to_string(most_pixels) + " pixels in all");
}

std::unique_ptr<Picture> open_picture(const std::string& path) {
  std::vector<unsigned char> bytes = bytes_of(path);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, png_signature.size()) == png_signature) return open_png(path, std::move(bytes));
  if (text.substr(0, jpeg_signature.size()) == jpeg_signature) return open_jpeg(path, std::move(bytes));
  refuse_picture(path, beginning(text), "a PNG or JPEG file");
}

std::string encode_png(int64_t width, int64_t height, int channels, const std::vector<unsigned char>& samples) {
  const auto row = static_cast<size_t>(width * channels);
  std::string rows;
  rows.reserve((row + 1) * static_cast<size_t>(height));
  for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
    rows += '\0';  // each row of a PNG begins with its filter type; type 0 is no filter
    rows.append(reinterpret_cast<const char*>(samples.data()) + y * row, row);
  }
  std::string header;
  add_number(header, static_cast<uint64_t>(width));
  add_number(header, static_cast<uint64_t>(height));
  constexpr char bits = 8, grey = 0, colour = 2;
  header += bits;
  header += channels == 1 ? grey : colour;
  header.append(3, '\0');  // PNG header: compression 0, filter method 0, not interlaced
  std::string out(png_signature);
  add_chunk(out, "IHDR", header);
  add_chunk(out, "IDAT", compressed(rows));
  add_chunk(out, "IEND", "");
  return out;
}

}  // namespace mr::io
