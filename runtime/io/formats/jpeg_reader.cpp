// Reads JPEG files by libjpeg, which reports errors by longjmp. A jump starts in libjpeg and ends in a function below
// that has called setjmp; only C frames are between the two. State that must survive a jump is in JpegState, which has
// no destructor. Making a JpegState loads the library and throws if it is missing, so noexcept functions take a state.
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <jpeglib.h>
#include <stdexcept>
// jpeglib.h must be included before this header, which depends on it
#include <jerror.h>

#include "kernels/core/shared_library.h"
#include "kernels/core/threads.h"
#include "runtime/io/formats/picture.h"
#include "runtime/io/safe_text.h"

namespace mr::io {
namespace {

struct Libjpeg : SharedLibrary {
  Libjpeg() : SharedLibrary(MR_LIBJPEG, "JPEG files are read by") {}
  MR_FUNCTION(jpeg_CreateDecompress);
  MR_FUNCTION(jpeg_destroy_decompress);
  MR_FUNCTION(jpeg_finish_decompress);
  MR_FUNCTION(jpeg_mem_src);
  MR_FUNCTION(jpeg_read_header);
  MR_FUNCTION(jpeg_read_scanlines);
  MR_FUNCTION(jpeg_start_decompress);
  MR_FUNCTION(jpeg_std_error);
};

const Libjpeg& libjpeg() {
  static const Libjpeg library;
  return library;
}

/// largest number of scans (decodings of the whole picture) of a progressive file; normal files have about ten, and
/// many would take very long
constexpr int most_scans = 500;

struct JpegState {
  const Libjpeg& lib = libjpeg();
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf jump;
  bool interrupted = false;
  char message[JMSG_LENGTH_MAX] = "";
};

JpegState& state_of(j_common_ptr info) { return *static_cast<JpegState*>(info->client_data); }

[[noreturn]] void on_error(j_common_ptr info) {
  JpegState& state = state_of(info);
  info->err->format_message(info, state.message);
  std::longjmp(state.jump, 1);
}

/// Turns libjpeg's warnings about missing or corrupt data into errors: libjpeg would fill in invented pixels.
void on_message(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
      on_error(info);
    default:
      break;
  }
}

void on_text(j_common_ptr) {}

void on_progress(j_common_ptr info) {
  JpegState& state = state_of(info);
  if (state.info.input_scan_number > most_scans) {
    std::snprintf(state.message, sizeof state.message, "more than %d scans", most_scans);
    std::longjmp(state.jump, 1);
  }
  if (cpu::take_interrupt()) {
    state.interrupted = true;
    std::longjmp(state.jump, 1);
  }
}

bool create(JpegState& state) noexcept {
  std::memset(&state.info, 0, sizeof state.info);
  state.info.err = state.lib.jpeg_std_error(&state.errors);
  state.info.client_data = &state;
  state.errors.error_exit = &on_error;
  state.errors.emit_message = &on_message;
  state.errors.output_message = &on_text;
  if (setjmp(state.jump) != 0) return false;
  state.lib.jpeg_CreateDecompress(&state.info, JPEG_LIB_VERSION, sizeof state.info);
  state.progress.progress_monitor = &on_progress;
  state.info.progress = &state.progress;
  return true;
}

bool read_header(JpegState& state, const std::vector<unsigned char>& bytes) noexcept {
  if (setjmp(state.jump) != 0) return false;
  state.lib.jpeg_mem_src(&state.info, bytes.data(), bytes.size());
  state.lib.jpeg_read_header(&state.info, TRUE);
  return true;
}

/// Starts decoding. Pixels have four components (CMYK) if the file has them, else red, green and blue.
bool start(JpegState& state) noexcept {
  if (setjmp(state.jump) != 0) return false;
  const bool inks = state.info.jpeg_color_space == JCS_CMYK || state.info.jpeg_color_space == JCS_YCCK;
  state.info.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  state.lib.jpeg_start_decompress(&state.info);
  return true;
}

bool read_row(JpegState& state, unsigned char* row) noexcept {
  if (setjmp(state.jump) != 0) return false;
  state.lib.jpeg_read_scanlines(&state.info, &row, 1);
  return true;
}

bool finish(JpegState& state) noexcept {
  if (setjmp(state.jump) != 0) return false;
  state.lib.jpeg_finish_decompress(&state.info);
  return true;
}

class Jpeg : public Picture {
 public:
  Jpeg(const std::string& path, std::vector<unsigned char> bytes) : path_(path), bytes_(std::move(bytes)) {
    if (!create(state_)) throw std::runtime_error(path_ + ": libjpeg: " + safe_text(state_.message, Breaks::escaped));
    try {
      need(read_header(state_, bytes_));
      width_ = state_.info.image_width;
      height_ = state_.info.image_height;
      check_picture_size(path_, width_, height_);
    } catch (...) {
      close();
      throw;
    }
  }
  ~Jpeg() override { close(); }

  void next_row(float* rgb) override {
    if (y_ == 0) {
      need(start(state_));
      row_.resize(static_cast<size_t>(width_) * static_cast<size_t>(state_.info.output_components));
    }
    need(read_row(state_, row_.data()));
    to_floats(rgb);
    if (++y_ == height_) need(finish(state_));
  }

 private:
  void need(bool done) const {
    if (done) return;
    if (state_.interrupted) throw cpu::Interrupted();
    refuse_picture(path_, "a damaged JPEG file (" + safe_text(state_.message, Breaks::escaped) + ")", "a whole one");
  }
  void close() { state_.lib.jpeg_destroy_decompress(&state_.info); }

  void to_floats(float* rgb) const {
    constexpr float most = 255;
    const int channels = state_.info.output_components;
    const bool inverted = state_.info.saw_Adobe_marker != 0;  // Adobe's programs store CMYK inverted
    for (int64_t x = 0; x < width_; ++x) {
      const unsigned char* const pixel = row_.data() + x * channels;
      for (int c = 0; c < 3; ++c) {
        float value = static_cast<float>(pixel[c]) / most;
        if (channels == 4) {
          const float ink = value, black = static_cast<float>(pixel[3]) / most;
          value = inverted ? ink * black : (1 - ink) * (1 - black);
        }
        rgb[3 * x + c] = value;
      }
    }
  }

  std::string path_;
  std::vector<unsigned char> bytes_, row_;
  JpegState state_;
  int64_t y_ = 0;
};

}  // namespace

std::unique_ptr<Picture> open_jpeg(const std::string& path, std::vector<unsigned char> bytes) {
  return std::make_unique<Jpeg>(path, std::move(bytes));
}

}  // namespace mr::io
