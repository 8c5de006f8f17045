#include "kernels/device/gpu.h"

#include <stdexcept>

namespace mr::cuda {

Gpu::Gpu()
    : driver_(open_driver(*this, reason_)),
      pool_([this](int64_t bytes) { return driver_->take(bytes); }, [this](void* data) { driver_->give_back(data); }),
      recordings_(pool_) {}

std::string Gpu::name() const {
  require_alive();
  return driver_->about().name;
}

void* Gpu::allocate(int64_t bytes) {
  require_alive();
  if (bytes <= 0) return nullptr;
  void* const data = pool_.allocate(driver_->bytes_for(bytes));
  driver_->handed_out(data, bytes);
  return data;
}

void Gpu::release(void* data) noexcept {
  if (data == nullptr) return;
  driver_->taken_back(data);
  pool_.release(data);
}

const void* Gpu::constant(const void* table, int64_t bytes) {
  if (const auto at = constants_.find(table); at != constants_.end()) return at->second;
  // A constant table that is uploaded during a recording is written only when the recording runs. Other code must not
  // read it before, so it is listed separately.
  auto& kept = recordings_.is_open() ? recorded_constants_ : constants_;
  const auto [at, is_new] = kept.try_emplace(table, nullptr);
  if (is_new) {
    try {
      at->second = allocate(bytes);
      copy_to_device(at->second, table, bytes);
    } catch (...) {
      release(at->second);
      kept.erase(at);
      throw;
    }
  }
  return at->second;
}

void Gpu::copy_to_device(void* to, const void* from, int64_t bytes) {
  if (bytes <= 0) return;
  require_alive();
  if (recordings_.is_open()) return driver_->upload_recorded(to, from, bytes);
  waits_ += driver_->upload(to, from, bytes);
}

void Gpu::copy_to_host(void* to, const void* from, int64_t bytes) {
  recordings_.refuse_while_open();
  require_alive();
  if (bytes > 0) driver_->download(to, from, bytes);
  synchronize();
}

void Gpu::copy_on_device(void* to, const void* from, int64_t bytes) {
  if (bytes <= 0) return;
  require_alive();
  driver_->copy(to, from, bytes);
}

void Gpu::fill_zero(void* data, int64_t bytes) {
  if (bytes <= 0) return;
  require_alive();
  driver_->fill_zero(data, bytes);
}

template <class Real>
void Gpu::matmul(const Product<Real>& product) {
  const int64_t entries = product.m * product.n;
  if (entries == 0) return;
  if (product.k == 0) return fill_zero(product.c, entries * static_cast<int64_t>(sizeof(Real)));
  require_alive();
  note_launch("matmul");
  driver_->matmul(product);
}
template void Gpu::matmul(const Product<float>& product);
template void Gpu::matmul(const Product<double>& product);

void Gpu::synchronize() {
  recordings_.refuse_while_open();
  require_alive();
  ++waits_;
  driver_->wait();
  failures_.clear_launches();
}

void Gpu::begin_capture() {
  synchronize();
  recordings_.begin(driver());
}

std::unique_ptr<Capture> Gpu::end_capture() {
  // Forgets the constant tables that were uploaded in this recording, because they are written only when the recording
  // runs. Their memory stays reserved for the recording (memory_pool.h).
  for (const auto& [table, data] : recorded_constants_) release(data);
  recorded_constants_.clear();
  return recordings_.end(driver());
}

Driver& Gpu::driver() const {
  if (!available()) throw std::runtime_error(reason_);
  return *driver_;
}

void Gpu::require_alive() const {
  static_cast<void>(driver());
  failures_.require_not_lost();
}

void Gpu::note_failure(const std::string& cause) {
  if (recordings_.is_open() ? driver_->recording_works() : driver_->queue_works()) return;
  failures_.lose(cause);
}

void Gpu::fail(const std::string& what, const char* expression, const char* file, int line) {
  std::string text = "CUDA: " + what + " in " + expression + " (" + file + ":" + std::to_string(line) + ")";
  text += failures_.suspects();
  note_failure(text);
  throw std::runtime_error(text);
}

Gpu& gpu() {
  static Gpu* const the_gpu = std::make_unique<Gpu>().release();
  return *the_gpu;
}

}  // namespace mr::cuda
