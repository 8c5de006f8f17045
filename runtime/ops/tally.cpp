#include "runtime/ops/tally.h"

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "kernels/device/gpu.h"
#include "kernels/tensor/rows.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {

Tally::Tally(Device device) : words_(1, device), notes_(words_.span().data->found) { words_.clear(); }

Tally::~Tally() {
  if (words_.device() == Device::cuda) cuda::gpu().close_notes(notes_);
}

void Tally::open() {
  words_.clear();
  if (words_.device() == Device::cuda) cuda::gpu().open_notes(notes_);
}

void Tally::add(const Tensor& value, double factor) {
  const Tensor here = value.to(words_.device());
  with_real(value.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(here.device())
        .add_loss(1, {.value = here.span<const Real>(), .factor = factor, .total = &words_.span().data->sum});
  });
}

double Tally::close() {
  if (words_.device() == Device::cuda) cuda::gpu().close_notes(notes_);
  const Words words = words_.to_vector()[0];
  const std::vector<std::string>& checks = notes_.checks();
  for (size_t i = 0; i < checks.size(); ++i) {
    const int64_t found = words.found[i];
    if (found == 0) continue;
    throw std::runtime_error(checks[i] + " has NaN at entry " + std::to_string(NoteNan<float>::most - found + 1) +
                             " in a batch of this epoch");
  }
  return words.sum;
}

std::optional<double> Tally::so_far() const {
  return words_.device() == Device::cpu ? std::optional(words_.span()[0].sum) : std::nullopt;
}

bool Tally::note_nan(const char* operation, const char* name, const Tensor& x) {
  if (x.device() != Device::cuda) return false;
  NanNotes* const notes = cuda::gpu().notes();
  int64_t* const found = notes == nullptr ? nullptr : notes->word_of(std::string(operation) + ": " + name);
  if (found == nullptr) return false;
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device()).note_nan(x.entries(), {x.span<const Real>(), found});
  });
  return true;
}

namespace {

using SharedTally = std::shared_ptr<Tally>;

SharedTally tally_of(const std::string& device) { return std::make_shared<Tally>(to_device(device)); }
void open_of(SharedTally& tally) { tally->open(); }
void add_of(SharedTally& tally, const std::variant<Tensor, double>& given, double factor) {
  const auto* const number = std::get_if<double>(&given);
  const Tensor value = number != nullptr ? Tensor::full({1}, *number, Dtype::float64) : std::get<Tensor>(given);
  check::floating("value", value);
  if (value.entries() != 1)
    throw ArgumentError("value",
                        "has shape " + value.shape().text() + ", expected a number or a tensor with one entry");
  tally->add(value, factor);
}
double close_of(SharedTally& tally) { return tally->close(); }
std::optional<double> so_far_of(const SharedTally& tally) { return tally->so_far(); }

}  // namespace

template <>
inline constexpr const char* lua::class_name<SharedTally> = "mr.Tally";

using lua::once;
using lua::op;
extern const lua::OpTable tally_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&tally_of>("tally", "device",
                   "Accumulates values over a pass over the data, which are read with one wait at its end.")}};
extern const lua::OpTable tally_methods{
    lua::OpTable::methods,
    &lua::push_metatable<SharedTally>,
    {once<&open_of>("open", "self",
                    "Resets the sum. Until `finish`, NaN checks on the GPU report to this tally and do not wait."),
     once<&add_of>("add", "self, value, factor",
                   "Adds factor times value, a number or a tensor with one entry, to the sum."),
     once<&close_of>("finish", "self", "Returns the sum; raises an error if a check found NaN.")}};
extern const lua::OpTable tally_getters{
    lua::OpTable::getters,
    &lua::push_metatable<SharedTally>,
    {op<&so_far_of>("so_far", "self", "The sum so far. nil on the GPU, which would have to be waited for.")}};

}  // namespace mr
