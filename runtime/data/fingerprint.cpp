// Data fingerprints: SHA-256 checksums of the content of tensors and lists. They do not depend on the device or the
// number of threads.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/io/files/sha256.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

constexpr int64_t piece = 1 << 20;

/// Returns the SHA-256 digests of consecutive parts of 1 MiB, joined as text. The parts are hashed in parallel.
std::string digests(const void* bytes, int64_t count) {
  constexpr size_t digits = 64;
  const int64_t pieces = (count + piece - 1) / piece;
  std::string all(static_cast<size_t>(pieces) * digits, '0');
  cpu::parallel_each(pieces, 1, [&](int64_t i) {
    const auto size = static_cast<size_t>(std::min(piece, count - i * piece));
    const std::string each = io::sha256({static_cast<const char*>(bytes) + i * piece, size});
    std::copy(each.begin(), each.end(), all.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(i) * digits));
  });
  return all;
}

std::string of_tensor(const Tensor& tensor) {
  std::string text = std::string(name_of(tensor.dtype())) + " " + tensor.shape().text();
  const void* here = tensor.device() == Device::cpu ? tensor.raw() : tensor.host_bytes();
  if (here != nullptr) return io::sha256(text + digests(here, tensor.bytes()));
  std::vector<char> copy(static_cast<size_t>(tensor.bytes()));
  tensor.copy_to_host(copy.data());
  return io::sha256(text + digests(copy.data(), tensor.bytes()));
}

template <class T>
std::string of_vector(const std::vector<T>& values) {
  return std::to_string(values.size()) + " " + digests(values.data(), static_cast<int64_t>(values.size() * sizeof(T)));
}

/// Hashes each text together with its length, so that different lists of texts give different inputs.
template <class Texts>
std::string of_texts(const Texts& texts) {
  std::string all;
  for (size_t i = 0; i < texts.size(); ++i) all.append(std::to_string(texts[i].size())).append(":").append(texts[i]);
  return std::to_string(texts.size()) + " " + digests(all.data(), static_cast<int64_t>(all.size()));
}

std::string of_names(const std::vector<std::string>& texts) { return io::sha256(of_texts(texts)); }

std::string of_lists(const Lists& lists) {
  std::string all = of_vector(lists.sizes()) + "\n" + of_vector(lists.relevance()) + "\n" + of_texts(lists.ids()) +
                    "\n" + of_texts(lists.documents());
  // Weights are hashed only if there are some. So lists without weights keep the fingerprint that older versions of the
  // program gave them.
  if (!lists.row_weights().empty()) all += "\nweights " + of_vector(lists.row_weights());
  if (!lists.list_weights().empty()) all += "\nlist weights " + of_vector(lists.list_weights());
  return io::sha256(all);
}

}  // namespace

using lua::op;
extern const lua::OpTable fingerprint_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&of_tensor>("fingerprint_of_tensor", "tensor", "SHA-256 of type, shape and entries, in hexadecimal."),
        op<&of_lists>("fingerprint_of_lists", "lists", "SHA-256 of sizes, grades and names, in hexadecimal."),
        op<&of_names>("fingerprint_of_texts", "texts", "SHA-256 of texts, in hexadecimal."),
    }};

}  // namespace mr
