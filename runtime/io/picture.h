// Pictures in PNG and JPEG files. Nothing that a file says of itself is believed: what cannot be in so few bytes, or is
// larger than a photograph, is refused before memory is asked for, and rows are read one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mr::io {

class Picture {
 public:
  virtual ~Picture() = default;
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  int64_t width() const { return width_; }
  int64_t height() const { return height_; }
  /// The next row from the top: red, green and blue of each pixel from 0 to 1, [3 width]. What is transparent is over
  /// white. Throws std::runtime_error that names the file where it is damaged or ends.
  virtual void next_row(float* rgb) = 0;

 protected:
  Picture() = default;
  int64_t width_ = 0, height_ = 0;
};

/// A PNG or JPEG file, known by its first bytes, not by its name. Throws std::runtime_error that names the file: not
/// there, neither of these, damaged, more pixels or a longer side than the limits below.
std::unique_ptr<Picture> open_picture(const std::string& path);

constexpr int64_t most_pixels = int64_t{1} << 26, longest_side = 65'536;

/// For the two readers: `bytes` are all of the file.
std::unique_ptr<Picture> open_png(const std::string& path, std::vector<unsigned char> bytes);
std::unique_ptr<Picture> open_jpeg(const std::string& path, std::vector<unsigned char> bytes);
/// "PATH: found ..., expected ..."
[[noreturn]] void refuse_picture(const std::string& path, const std::string& found, const std::string& expected);
void check_picture_size(const std::string& path, int64_t width, int64_t height);

/// A PNG file's bytes, 8 bits a channel: `samples` are rows of pixels of `channels` (1: grey, 3: red, green and blue).
std::string encode_png(int64_t width, int64_t height, int channels, const std::vector<unsigned char>& samples);

}  // namespace mr::io
