#include "runtime/data/letor/letor_cache_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <type_traits>

#include "kernels/core/threads.h"
#include "runtime/io/files/checksum.h"
#include "runtime/io/files/new_file.h"

namespace mr {
namespace {

using Header = LetorCacheHeader;
static_assert(std::has_unique_object_representations_v<Header>);
constexpr int64_t header_bytes = sizeof(Header);

constexpr char magic[8] = {'m', 'r', 'l', 'e', 't', 'o', 'r', '\n'};
constexpr uint32_t version = 1;
constexpr uint32_t byte_order = 0x01020304;
constexpr int64_t largest_key = 1 << 16;

uint64_t checksum_of(const Header& header) {
  return io::xxh64({reinterpret_cast<const char*>(&header), offsetof(Header, header_checksum)});
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string_view bytes_of(const Tensor& x) {
  return {static_cast<const char*>(x.raw()), static_cast<size_t>(x.bytes())};
}

int64_t count(const auto& values) { return static_cast<int64_t>(values.size()); }

void append(const std::vector<std::string>& texts, std::vector<uint32_t>& lengths, std::string& all) {
  for (const std::string& text : texts) {
    if (text.size() > std::numeric_limits<uint32_t>::max())
      throw std::runtime_error("a name has 4 GiB or more, which a cache cannot hold");
    lengths.push_back(static_cast<uint32_t>(text.size()));
    all += text;
  }
}

std::string foreign(const std::string& path) {
  char found[sizeof magic] = {};
  const io::RegularFile file(path);
  file.read(0, found, std::min<int64_t>(sizeof found, file.size()));
  return std::memcmp(found, magic, sizeof magic) == 0 ? "" : "is not a cache of a LETOR file, so it is not replaced";
}

}  // namespace

std::optional<LetorCacheFile> LetorCacheFile::open(const std::string& path, const std::string& key) {
  std::error_code unknown;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, unknown))) return std::nullopt;
  try {
    LetorCacheFile file(path);
    file.read_header();
    file.read_key(key);
    return file;
  } catch (const BadCache&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw BadCache(error.what());
  }
}

void LetorCacheFile::bad(const std::string& text) const { throw BadCache(file_.path() + ": " + text); }

void LetorCacheFile::read(int64_t at, void* target, int64_t bytes) const {
  try {
    file_.read(at, target, bytes);
  } catch (const std::runtime_error& error) {
    throw BadCache(error.what());
  }
}

void LetorCacheFile::read_header() {
  Header& h = header_;
  read(0, &h, std::min(file_.size(), header_bytes));
  if (std::memcmp(h.magic, magic, sizeof magic) != 0) bad("is not a cache of a LETOR file");
  if (h.version != version)
    bad("has the format version " + std::to_string(h.version) + ", not " + std::to_string(version));
  if (file_.size() < header_bytes) bad("is shorter than its header");
  if (h.byte_order != byte_order) bad("was written on a machine with another byte order");
  if (h.header_checksum != checksum_of(h)) bad("the checksum of its header does not match");
  need_sizes();
  source_ = {{}, {h.size, h.modified, h.changed}, h.source_checksum, h.read_at};
}

/// Compares the sizes in the header with the size of the file. Memory is allocated by these sizes only afterwards.
void LetorCacheFile::need_sizes() const {
  const Header& h = header_;
  const int64_t size = file_.size();
  if (h.rows < 1 || h.width < 0 || h.width > size || (h.documents != 0 && h.documents != h.rows))
    bad("its header has " + std::to_string(h.rows) + " rows of " + std::to_string(h.width) + " features and " +
        std::to_string(h.documents) + " documents");
  int64_t left = size - header_bytes;
  const auto claim = [&](int64_t entries, int64_t bytes_of_each) {
    if (entries < 0 || (bytes_of_each > 0 && entries > left / bytes_of_each))
      bad("its header describes more than the " + std::to_string(size) + " bytes of the file");
    left -= entries * bytes_of_each;
  };
  claim(h.rows, h.width * int64_t{sizeof(float)});
  claim(h.rows, sizeof(float));
  claim(h.queries, sizeof(int64_t) + sizeof(uint32_t));
  claim(h.documents, sizeof(uint32_t));
  claim(h.key_bytes, 1);
  claim(h.text_bytes, 1);
  if (left != 0) bad("has " + std::to_string(left) + " bytes more than its header describes");
}

void LetorCacheFile::read_key(const std::string& key) {
  if (header_.key_bytes > largest_key)
    bad("has a name of its text file of " + std::to_string(header_.key_bytes) + " bytes, which is too long");
  source_.key.resize(static_cast<size_t>(header_.key_bytes));
  read(header_bytes, source_.key.data(), header_.key_bytes);
  if (source_.key != key) bad("was made from another text file or with other options");
}

uint64_t LetorCacheFile::read_section(int64_t& at, void* target, int64_t bytes) const {
  std::vector<uint64_t> blocks(static_cast<size_t>((bytes + io::checksum_block - 1) / io::checksum_block));
  cpu::parallel_each(static_cast<int64_t>(blocks.size()), 1, [&](size_t i) {
    const int64_t first = static_cast<int64_t>(i) * io::checksum_block;
    const int64_t length = std::min(io::checksum_block, bytes - first);
    char* const block = static_cast<char*>(target) + first;
    read(at + first, block, length);
    blocks[i] = io::xxh64({block, static_cast<size_t>(length)});
  });
  at += bytes;
  return io::checksum_of_blocks(blocks);
}

LetorFile LetorCacheFile::load() const {
  const Header& h = header_;
  LetorFile out;
  out.width = h.width;
  out.features = Tensor::empty({h.rows, h.width}, Dtype::float32);
  out.labels.resize(static_cast<size_t>(h.rows));
  out.sizes.resize(static_cast<size_t>(h.queries));
  std::vector<uint32_t> lengths(static_cast<size_t>(h.queries + h.documents));
  std::string texts(static_cast<size_t>(h.text_bytes), '\0');
  int64_t at = header_bytes + h.key_bytes;
  std::vector<uint64_t> sums{io::xxh64(source_.key)};
  const auto section = [&](void* target, size_t bytes) {
    sums.push_back(read_section(at, target, static_cast<int64_t>(bytes)));
  };
  section(out.features.raw(), bytes_of(out.features).size());
  section(out.labels.data(), bytes_of(out.labels).size());
  section(out.sizes.data(), bytes_of(out.sizes).size());
  section(lengths.data(), bytes_of(lengths).size());
  section(texts.data(), texts.size());
  if (io::checksum_of_blocks(sums) != h.payload_checksum) bad("the checksum of its content does not match");
  const auto is_no_size = [&](int64_t n) { return n < 0 || n > h.rows; };
  if (std::any_of(out.sizes.begin(), out.sizes.end(), is_no_size) ||
      std::accumulate(lengths.begin(), lengths.end(), int64_t{0}) != h.text_bytes ||
      std::accumulate(out.sizes.begin(), out.sizes.end(), int64_t{0}) != h.rows)
    bad("its sizes disagree with each other");
  const char* text = texts.data();
  for (size_t i = 0; i < lengths.size(); text += lengths[i++])
    (i < out.sizes.size() ? out.qids : out.documents).emplace_back(text, lengths[i]);
  return out;
}

void write_letor_cache(const std::string& path, const LetorSource& source, const LetorFile& file) {
  std::vector<uint32_t> lengths;
  std::string texts;
  append(file.qids, lengths, texts);
  append(file.documents, lengths, texts);
  const std::vector<std::string_view> parts = {bytes_of(file.features), bytes_of(file.labels), bytes_of(file.sizes),
                                               bytes_of(lengths), texts};
  std::vector<uint64_t> sums{io::xxh64(source.key)};
  for (const std::string_view part : parts) sums.push_back(io::checksum(part));
  Header h{};
  std::memcpy(h.magic, magic, sizeof magic);
  h.version = version, h.byte_order = byte_order;
  h.size = source.stamp.size, h.modified = source.stamp.modified, h.changed = source.stamp.changed;
  h.source_checksum = source.checksum, h.read_at = source.read_at;
  h.rows = count(file.labels), h.width = file.width;
  h.queries = count(file.sizes), h.documents = count(file.documents);
  h.key_bytes = count(source.key), h.text_bytes = count(texts);
  h.payload_checksum = io::checksum_of_blocks(sums);
  h.header_checksum = checksum_of(h);
  std::vector<std::string_view> all = {{reinterpret_cast<const char*>(&h), sizeof h}, source.key};
  all.insert(all.end(), parts.begin(), parts.end());
  io::make_folder_of(path);
  io::write_file(path, all, &foreign);
}

}  // namespace mr
