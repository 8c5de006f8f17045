#include "runtime/bounds/samples/sample_file.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/io/files/checksum.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/regular_file.h"

namespace mr {
namespace {

constexpr char magic[8] = {'m', 'r', 's', 'a', 'm', 'p', 'l', '1'};
constexpr uint32_t byte_order = 0x01020304;
constexpr size_t key_digits = 64;

/// A value that was sampled several times: its index among the distinct values, and how often it occurs.
struct Repeated {
  uint32_t index, count;
};

struct Header {
  char magic[8];
  uint32_t byte_order, repeated;
  char key[key_digits];
  int64_t distinct, total;
  double mean, sd;
  uint64_t payload_checksum;  // checksum of all bytes of the file after the header
  uint64_t header_checksum;   // checksum of all bytes of the file's header before this checksum
};
static_assert(std::is_trivially_copyable_v<Header> && sizeof(Header) == 128);
constexpr int64_t header_bytes = sizeof(Header);

uint64_t checksum_of(const Header& header) {
  return io::xxh64({reinterpret_cast<const char*>(&header), offsetof(Header, header_checksum)});
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

uint64_t checksum_of(const std::vector<double>& distinct, const std::vector<Repeated>& repeated) {
  return io::xxh64(bytes_of(repeated), io::xxh64(bytes_of(distinct)));
}

std::vector<Repeated> repeated_in(const std::vector<uint32_t>& before) {
  std::vector<Repeated> out;
  for (size_t i = 0; i + 1 < before.size(); ++i) {
    const uint32_t count = before[i + 1] - before[i];
    if (count > 1) out.push_back({static_cast<uint32_t>(i), count});
  }
  return out;
}

/// Returns true if the header of a sample file is intact, has this key, and states sizes that match the file. Memory
/// for the values is allocated only after this check.
bool fits(const Header& h, int64_t size, const std::string& key) {
  if (std::memcmp(h.magic, magic, sizeof magic) != 0 || h.byte_order != byte_order) return false;
  if (h.header_checksum != checksum_of(h) || key.compare(0, key.npos, h.key, key_digits) != 0) return false;
  if (h.distinct < 1 || h.distinct > size || h.repeated > h.distinct || h.total < h.distinct) return false;
  return size == header_bytes + h.distinct * int64_t{sizeof(double)} + int64_t{h.repeated} * int64_t{sizeof(Repeated)};
}

bool ascending(const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || (i > 0 && values[i] <= values[i - 1])) return false;
  }
  return true;
}

/// Turns the counts of repeated samples into `before`: for each distinct value, how many samples are smaller. Returns
/// false if the counts disagree with the header.
bool counts_into(std::vector<uint32_t>& before, const std::vector<Repeated>& repeated, const Header& h) {
  if (repeated.empty()) return h.total == h.distinct;
  before.assign(static_cast<size_t>(h.distinct) + 1, 1);
  for (const Repeated& each : repeated) {
    if (each.index >= h.distinct) return false;
    before[each.index] = each.count;
  }
  uint64_t sum = 0;
  for (uint32_t& count : before) {
    const uint32_t own = count;
    count = static_cast<uint32_t>(sum);
    sum += own;
  }
  // The sum is one too large: `before` has one entry more than there are distinct values, and this entry was counted as
  // 1.
  return sum - 1 == static_cast<uint64_t>(h.total);
}

std::optional<Distribution> read(const io::RegularFile& file, const std::string& key) {
  Header h{};
  if (file.size() < header_bytes) return std::nullopt;
  file.read(0, &h, header_bytes);
  if (!fits(h, file.size(), key)) return std::nullopt;
  CountedValues out{.total = h.total, .mean = h.mean, .sd = h.sd};
  out.distinct.resize(static_cast<size_t>(h.distinct));
  std::vector<Repeated> repeated(h.repeated);
  const auto bytes = static_cast<int64_t>(bytes_of(out.distinct).size());
  file.read(header_bytes, out.distinct.data(), bytes);
  file.read(header_bytes + bytes, repeated.data(), static_cast<int64_t>(bytes_of(repeated).size()));
  if (checksum_of(out.distinct, repeated) != h.payload_checksum || !ascending(out.distinct)) return std::nullopt;
  if (!counts_into(out.before, repeated, h)) return std::nullopt;
  return Distribution(std::move(out));
}

std::string foreign(const std::string& path) {
  return is_sample_file(path) ? "" : "is not a file of samples, so it is not replaced";
}

}  // namespace

std::optional<Distribution> read_sample_file(const std::string& path, const std::string& key) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  try {
    return read(io::RegularFile(path), key);
  } catch (const cpu::Interrupted&) {
    throw;
  } catch (const std::runtime_error&) {
    return std::nullopt;  // the sample file is unreadable, truncated, or was deleted meanwhile
  }
}

void write_sample_file(const std::string& path, const std::string& key, const Distribution& distribution) {
  const CountedValues& values = distribution.counted();
  const std::vector<Repeated> repeated = repeated_in(values.before);
  Header h{};
  std::memcpy(h.magic, magic, sizeof magic);
  std::memcpy(h.key, key.data(), key_digits);
  h.byte_order = byte_order, h.repeated = static_cast<uint32_t>(repeated.size());
  h.distinct = static_cast<int64_t>(values.distinct.size()), h.total = values.total;
  h.mean = values.mean, h.sd = values.sd;
  h.payload_checksum = checksum_of(values.distinct, repeated);
  h.header_checksum = checksum_of(h);
  io::write_file(path, {{reinterpret_cast<const char*>(&h), sizeof h}, bytes_of(values.distinct), bytes_of(repeated)},
                 &foreign);
}

int64_t sample_file_bytes(const Distribution& distribution) {
  const CountedValues& values = distribution.counted();
  const size_t repeated = values.before.empty() ? 0 : values.distinct.size();
  return header_bytes + static_cast<int64_t>(values.distinct.size() * sizeof(double) + repeated * sizeof(Repeated));
}

bool is_sample_file(const std::string& path) {
  const io::RegularFile file(path);
  char found[sizeof magic] = {};
  file.read(0, found, std::min<int64_t>(sizeof found, file.size()));
  // compares the magic bytes without the last one, which is the version
  return std::memcmp(found, magic, sizeof magic - 1) == 0;
}

}  // namespace mr
