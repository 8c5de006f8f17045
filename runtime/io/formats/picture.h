// Reads untrusted PNG and JPEG files. A size in a header that the file's bytes cannot hold, or that is larger than a
// photograph, is an error before memory is allocated. Rows are decoded one by one.
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
  /// Decodes the next row from the top: red, green and blue of each pixel from 0 to 1, [3 width]. Transparent pixels
  /// are blended with white. Throws std::runtime_error that names the file if it is damaged or truncated.
  virtual void next_row(float* rgb) = 0;

 protected:
  Picture() = default;
  int64_t width_ = 0, height_ = 0;
};

/// Opens a PNG or JPEG file, recognized by its first bytes. Throws std::runtime_error that names the file if the file
/// is missing, damaged, of another format, or has more than `most_pixels` pixels or a side above `longest_side`.
std::unique_ptr<Picture> open_picture(const std::string& path);

constexpr int64_t most_pixels = int64_t{1} << 26, longest_side = 65'536;

/// `open_png` and `open_jpeg` open a PNG or a JPEG file whose content is `bytes`. `open_picture` calls one of them.
/// `path` is only for error messages.
std::unique_ptr<Picture> open_png(const std::string& path, std::vector<unsigned char> bytes);
std::unique_ptr<Picture> open_jpeg(const std::string& path, std::vector<unsigned char> bytes);
/// Throws std::runtime_error with the message "PATH: found FOUND, expected EXPECTED".
[[noreturn]] void refuse_picture(const std::string& path, const std::string& found, const std::string& expected);
void check_picture_size(const std::string& path, int64_t width, int64_t height);

/// Returns the bytes of a PNG file with 8 bits per channel. `samples` are rows of pixels with `channels` values (1:
/// grey, 3: red, green and blue).
std::string encode_png(int64_t width, int64_t height, int channels, const std::vector<unsigned char>& samples);

}  // namespace mr::io
