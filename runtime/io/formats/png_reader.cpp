// Reads PNG files by libpng, which reports errors by longjmp. A jump starts in libpng and ends in a function below that
// has called setjmp; only C frames are between the two. State that must survive a jump is in PngState, which has no
// destructor. Making a PngState loads the library and throws if it is missing, so noexcept functions take a state.
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <limits>
#include <png.h>

#include "kernels/core/shared_library.h"
#include "kernels/core/threads.h"
#include "runtime/io/files/unpack_limit.h"
#include "runtime/io/formats/picture.h"
#include "runtime/io/safe_text.h"

namespace mr::io {
namespace {

struct Libpng : SharedLibrary {
  Libpng() : SharedLibrary(MR_LIBPNG, "PNG files are read by") {}
  MR_FUNCTION(png_create_read_struct);
  MR_FUNCTION(png_create_info_struct);
  MR_FUNCTION(png_destroy_read_struct);
  MR_FUNCTION(png_get_error_ptr);
  MR_FUNCTION(png_get_io_ptr);
  MR_FUNCTION(png_get_channels);
  MR_FUNCTION(png_get_bit_depth);
  MR_FUNCTION(png_get_rowbytes);
  MR_FUNCTION(png_error);
  MR_FUNCTION(png_read_end);
  MR_FUNCTION(png_read_info);
  MR_FUNCTION(png_read_row);
  MR_FUNCTION(png_read_update_info);
  MR_FUNCTION(png_set_expand);
  MR_FUNCTION(png_set_gray_to_rgb);
  MR_FUNCTION(png_set_interlace_handling);
  MR_FUNCTION(png_set_keep_unknown_chunks);
  MR_FUNCTION(png_set_read_fn);
  MR_FUNCTION(png_set_user_limits);
};

const Libpng& libpng() {
  static const Libpng library;
  return library;
}

struct PngState {
  const Libpng& lib = libpng();
  png_structp png = nullptr;
  png_infop info = nullptr;
  const unsigned char* bytes = nullptr;
  size_t size = 0, at = 0;
  bool ended = false;  // true if libpng asked for more bytes than the file has
  std::jmp_buf jump;
  char message[128] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  auto* const state = static_cast<PngState*>(libpng().png_get_error_ptr(png));
  std::snprintf(state->message, sizeof state->message, "%s", text);
  std::longjmp(state->jump, 1);
}

void on_warning(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep target, size_t wanted) {
  auto* const state = static_cast<PngState*>(libpng().png_get_io_ptr(png));
  if (wanted > state->size - state->at) {
    state->ended = true;
    libpng().png_error(png, "it ends");
  }
  std::memcpy(target, state->bytes + state->at, wanted);
  state->at += wanted;
}

/// Reads the header and sets the conversion of rows: 3 channels or 4 (with alpha), with 8 or 16 bits. Returns the
/// number of interlacing passes, or 0 on error.
int begin(PngState& state) noexcept {
  if (setjmp(state.jump) != 0) return 0;
  const Libpng& lib = state.lib;
  lib.png_set_read_fn(state.png, &state, &read_bytes);
  lib.png_set_user_limits(state.png, longest_side, longest_side);
  lib.png_set_keep_unknown_chunks(state.png, PNG_HANDLE_CHUNK_NEVER, nullptr,
                                  -1);  // -1: libpng drops texts, colour profiles and other extra chunks
  lib.png_read_info(state.png, state.info);
  lib.png_set_expand(state.png);
  lib.png_set_gray_to_rgb(state.png);
  const int passes = lib.png_set_interlace_handling(state.png);
  lib.png_read_update_info(state.png, state.info);
  return passes;
}

bool read_row(PngState& state, unsigned char* row) noexcept {
  if (setjmp(state.jump) != 0) return false;
  state.lib.png_read_row(state.png, row, nullptr);
  return true;
}

bool read_end(PngState& state) noexcept {
  if (setjmp(state.jump) != 0) return false;
  state.lib.png_read_end(state.png, nullptr);
  return true;
}

uint32_t number_at(const std::vector<unsigned char>& bytes, size_t at) {
  return uint32_t{bytes[at]} << 24 | uint32_t{bytes[at + 1]} << 16 | uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

class Png : public Picture {
 public:
  Png(const std::string& path, std::vector<unsigned char> bytes) : path_(path), bytes_(std::move(bytes)) {
    check_header();
    state_.bytes = bytes_.data();
    state_.size = bytes_.size();
    state_.png = state_.lib.png_create_read_struct(PNG_LIBPNG_VER_STRING, &state_, &on_error, &on_warning);
    if (state_.png == nullptr) throw std::bad_alloc();
    state_.info = state_.lib.png_create_info_struct(state_.png);
    passes_ = state_.info != nullptr ? begin(state_) : 0;
    if (passes_ == 0) {
      const std::string why = reason();
      close();
      refuse_picture(path_, "a damaged PNG file (" + why + ")", "a whole one");
    }
    channels_ = state_.lib.png_get_channels(state_.png, state_.info);
    wide_ = state_.lib.png_get_bit_depth(state_.png, state_.info) == 16;
    row_bytes_ = state_.lib.png_get_rowbytes(state_.png, state_.info);
  }
  ~Png() override { close(); }

  void next_row(float* rgb) override {
    if (passes_ > 1 && samples_.empty()) read_interlaced();
    unsigned char* row = samples_.data() + static_cast<size_t>(y_) * row_bytes_;
    if (passes_ == 1) {
      samples_.resize(row_bytes_);
      row = samples_.data();
      need(read_row(state_, row));
    }
    to_floats(row, rgb);
    if (++y_ == height_) need(read_end(state_));
  }

 private:
  /// Checks the signature and the IHDR chunk: width, height, bit depth, colour type.
  void check_header() {
    constexpr size_t header = 8 + 8 + 13;
    if (bytes_.size() < header || std::memcmp(bytes_.data() + 12, "IHDR", 4) != 0)
      refuse_picture(path_, "a PNG file of " + std::to_string(bytes_.size()) + " bytes without a header",
                     "a whole one");
    width_ = number_at(bytes_, 16);
    height_ = number_at(bytes_, 20);
    check_picture_size(path_, width_, height_);
    constexpr int channels_of[] = {1, 0, 3, 1, 2, 0, 4, 0};
    const int64_t bits = int64_t{bytes_[24]} * channels_of[bytes_[25] & 7];
    const UnpackLimit limit(static_cast<int64_t>(bytes_.size()), std::numeric_limits<int64_t>::max());
    if (height_ * (width_ * bits / 8) > limit.bytes()) {
      refuse_picture(
          path_,
          std::to_string(width_) + " x " + std::to_string(height_) + " pixels in a PNG file that " + limit.text(),
          "a picture that is not made to exhaust memory");
    }
  }

  void read_interlaced() {
    samples_.resize(row_bytes_ * static_cast<size_t>(height_));
    for (int pass = 0; pass < passes_; ++pass) {
      for (int64_t y = 0; y < height_; ++y) {
        cpu::check_interrupt();
        need(read_row(state_, samples_.data() + static_cast<size_t>(y) * row_bytes_));
      }
    }
  }

  std::string reason() const {
    return state_.ended ? "it ends after " + std::to_string(bytes_.size()) + " bytes"
                        : safe_text(state_.message, Breaks::escaped);
  }
  void need(bool done) const {
    if (!done) refuse_picture(path_, "a damaged PNG file (" + reason() + ")", "a whole one");
  }
  void close() { state_.lib.png_destroy_read_struct(&state_.png, &state_.info, nullptr); }

  float sample(const unsigned char* row, int64_t i) const {
    constexpr float most = 255, most_wide = 65535;
    if (!wide_) return static_cast<float>(row[i]) / most;
    return static_cast<float>(row[2 * i] << 8 | row[2 * i + 1]) / most_wide;
  }

  void to_floats(const unsigned char* row, float* rgb) const {
    for (int64_t x = 0; x < width_; ++x) {
      const float alpha = channels_ == 4 ? sample(row, 4 * x + 3) : 1.0F;
      for (int64_t c = 0; c < 3; ++c)
        rgb[3 * x + c] = channels_ == 4 ? alpha * sample(row, 4 * x + c) + (1 - alpha) : sample(row, 3 * x + c);
    }
  }

  std::string path_;
  std::vector<unsigned char> bytes_, samples_;
  PngState state_;
  int passes_ = 0, channels_ = 0;
  bool wide_ = false;
  size_t row_bytes_ = 0;
  int64_t y_ = 0;
};

}  // namespace

std::unique_ptr<Picture> open_png(const std::string& path, std::vector<unsigned char> bytes) {
  return std::make_unique<Png>(path, std::move(bytes));
}

}  // namespace mr::io
