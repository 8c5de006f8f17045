#include "runtime/data/letor/letor_cache.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>

#include "runtime/data/letor/letor_cache_file.h"
#include "runtime/io/files/checksum.h"
#include "runtime/io/files/text_file.h"
#include "tests/support/data_files.h"
#include "tests/support/same_letor.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::LetorCacheHeader;
using mr::LetorFile;
using mr::LetorOptions;
using mr::LetorSource;
using mr::test::check_same;
using mr::test::Files;
using mr::test::says;

namespace fs = std::filesystem;

namespace {

constexpr int64_t far_future = std::numeric_limits<int64_t>::max();

std::string bytes_of(const std::string& path) { return mr::read_text_file(path); }

void overwrite(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

struct Cached {
  LetorFile file;
  std::string problem;
};

/// A LETOR text file and a folder for its binary cache.
struct Place {
  Files files;
  std::string folder = files.folder() + "/deep/cache";
  LetorOptions options;
  std::string text_path = files.file("q.txt", "2 qid:a 1:0.5 2:-0 3:7 #docid = X\n0 qid:a 3:2\n1 qid:b 1:9 # Y\n");
  LetorFile expected = mr::read_letor(text_path, {});

  Cached read() const {
    Cached out;
    out.file = mr::read_letor_cached(text_path, options, folder, out.problem);
    return out;
  }
  std::string path() const { return mr::letor_cache_path(text_path, options, folder); }
  std::string key() const {  // the key of the text file as the cache file stores it
    const std::string all = bytes_of(path());
    LetorCacheHeader h{};
    std::memcpy(&h, all.data(), sizeof h);
    return all.substr(sizeof h, static_cast<size_t>(h.key_bytes));
  }
  /// Returns the description of the text file (key, time stamp, checksum) that a cache must contain to be accepted.
  LetorSource source() const {
    const mr::io::RegularFile text(text_path, 1 << 20);
    return {key(), text.stamp(), text.checksum(), far_future};
  }
  /// Returns rows with other labels than the text file. If a reader returns these labels, it has read the cache and not
  /// the text.
  LetorFile other() const {
    LetorFile file = mr::read_letor(text_path, {});
    file.labels = {4, 3, 0};
    return file;
  }
  void check_rebuilt(const std::string& why) const {
    const Cached now = read();
    check_same(now.file, expected);
    CHECK_THAT(now.problem, Contains(path() + ": ") && Contains(why) && Contains("again"));
    CHECK(read().problem.empty());
  }
  void check_left_alone(const std::string& bytes) const {
    const Cached now = read();
    check_same(now.file, expected);
    CHECK_THAT(now.problem, Contains(path() + ": ") && says("LETOR", "replaced"));
    CHECK(bytes_of(path()) == bytes);
  }
};

std::string with_header(std::string bytes, const std::function<void(LetorCacheHeader&)>& change) {
  LetorCacheHeader h{};
  std::memcpy(&h, bytes.data(), sizeof h);
  change(h);
  h.header_checksum = mr::io::xxh64({reinterpret_cast<const char*>(&h), offsetof(LetorCacheHeader, header_checksum)});
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

}  // namespace

TEST_CASE("read_letor_cached returns the same data from the text file and from its cache") {
  const Place place;
  const Cached first = place.read();
  check_same(first.file, place.expected);
  CHECK(first.problem.empty());
  REQUIRE(fs::is_regular_file(place.path()));
  const Cached second = place.read();
  check_same(second.file, place.expected);
  CHECK(second.problem.empty());
  CHECK(std::distance(fs::directory_iterator(place.folder), fs::directory_iterator()) == 1);  // nothing temporary
}

TEST_CASE("read_letor_cached returns the same data as read_letor for real collections") {
  const Files files;
  const char* const name =
      GENERATE("mq2008/S4.txt.gz", "mslr-web-slice/vali.txt.gz", "parser-samples/es_rocky_wfeatures_sorted.txt");
  const std::string path = mr::test::real_data(name);
  if (path.empty()) return;
  std::string problem;
  const LetorFile expected = mr::read_letor(path, {});
  for (int time = 0; time < 3; ++time) {
    check_same(mr::read_letor_cached(path, {}, files.folder(), problem), expected);
    CHECK(problem.empty());
  }
}

TEST_CASE("read_letor_cached skips reading the text if the file's size and times are unchanged") {
  const Place place;
  place.read();
  LetorSource source = place.source();
  source.checksum ^= 1;  // a wrong checksum: the cache must be used without computing the checksum of the text file
  mr::write_letor_cache(place.path(), source, place.other());
  check_same(place.read().file, place.other());
  // The cache says that the text file was read right after it changed. Time stamps then do not prove that the file is
  // unchanged, so the checksum is compared, and this cache is refused.
  source.read_at = source.stamp.changed + 1;
  mr::write_letor_cache(place.path(), source, place.other());
  check_same(place.read().file, place.expected);
}

TEST_CASE("read_letor_cached keeps the cache and updates its times if only the text file's times changed") {
  const Place place;
  place.read();
  LetorSource source = place.source();
  source.stamp.modified -= 5;
  mr::write_letor_cache(place.path(), source, place.other());
  const Cached got = place.read();
  check_same(got.file, place.other());
  CHECK(got.problem.empty());
  LetorCacheHeader h{};
  std::memcpy(&h, bytes_of(place.path()).data(), sizeof h);
  CHECK(h.modified == source.stamp.modified + 5);
}

TEST_CASE("read_letor_cached reads the text again without a warning if its content changed") {
  const Place place;
  place.read();
  const auto time = fs::last_write_time(place.text_path);
  for (const std::string& text : {std::string("2 qid:a 1:0.5 2:-0 3:8 #docid = X\n0 qid:a 3:2\n1 qid:b 1:9 # Y\n"),
                                  std::string("1 qid:a 1:1\n")}) {
    overwrite(place.text_path, text);
    fs::last_write_time(place.text_path, time);  // the old time stamp, as programs that copy files set it
    const Cached got = place.read();
    check_same(got.file, mr::read_letor(place.text_path, {}));
    CHECK(got.problem.empty());
    check_same(place.read().file, got.file);
  }
  overwrite(place.text_path, "1 qid:a 1:x\n");
  CHECK_THROWS_WITH(place.read(), Contains("q.txt:1:11: found 'x'"));
  fs::remove(place.text_path);
  CHECK_THROWS_WITH(place.read(), Contains("q.txt: cannot read"));
}

TEST_CASE("read_letor_cached keeps a separate cache for each set of options") {
  Place place;
  place.read();
  for (const LetorOptions& options :
       {LetorOptions{.features = 5}, LetorOptions{.any_order = true}, LetorOptions{.null = mr::Null::zero},
        LetorOptions{.null = mr::Null::missing}, LetorOptions{.qid_optional = true}}) {
    const std::string before = place.path();
    place.options = options;
    CHECK(place.path() != before);
    check_same(place.read().file, mr::read_letor(place.text_path, options));
    check_same(place.read().file, mr::read_letor(place.text_path, options));
  }
}

TEST_CASE("read_letor_cached writes a cache again if any byte is changed or missing, but not a foreign file") {
  const Place place;
  place.read();
  constexpr size_t mark = sizeof(LetorCacheHeader::magic);
  const std::string good = bytes_of(place.path());
  for (size_t at = 0; at < good.size(); ++at) {
    CAPTURE(at);
    std::string bad = good;
    bad[at] ^= 16;
    overwrite(place.path(), bad);
    at < mark ? place.check_left_alone(bad) : place.check_rebuilt("");
  }
  for (size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    overwrite(place.path(), good.substr(0, size));
    size > 0 && size < mark ? place.check_left_alone(good.substr(0, size)) : place.check_rebuilt("");
  }
  overwrite(place.path(), good + "x");
  place.check_rebuilt("1 bytes more");
}

TEST_CASE("read_letor_cached writes a cache again if its header is inconsistent") {
  const Place place;
  place.read();
  const std::string good = bytes_of(place.path());
  const auto refused = [&](const std::string& why, const std::function<void(LetorCacheHeader&)>& change) {
    CAPTURE(why);
    overwrite(place.path(), with_header(good, change));
    place.check_rebuilt(why);
  };
  refused("has the format version 0, not 1", [](auto& h) { h.version = 0; });
  refused("has the format version 2, not 1", [](auto& h) { h.version = 2; });
  refused("another byte order", [](auto& h) { h.byte_order = 0x04030201; });
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  for (const int64_t n : {int64_t{1} << 40, huge, int64_t{-1}, huge / 4 + 2}) {
    refused("", [n](auto& h) { h.rows = n; });
    refused("", [n](auto& h) { h.rows = h.documents = n; });
    refused("its header has 3 rows of", [n](auto& h) { h.width = n; });
    refused("describes more than the", [n](auto& h) { h.queries = n; });
    refused("its header has 3 rows of", [n](auto& h) { h.documents = n; });
    refused("describes more than the", [n](auto& h) { h.key_bytes = n; });
    refused("describes more than the", [n](auto& h) { h.text_bytes = n; });
  }
  refused("its header has 0 rows", [](auto& h) { h.rows = 0; });
  refused("the checksum of its content does not match", [](auto& h) { h.payload_checksum ^= 1; });
  // the content keeps its number of bytes but is divided into other arrays
  refused("the checksum of its content does not match", [](auto& h) { --h.queries, h.text_bytes += 12; });
  refused("was made from another text file or with other options", [](auto& h) { --h.key_bytes, ++h.text_bytes; });
}

TEST_CASE("read_letor_cached writes a cache of other options again and leaves foreign files alone") {
  Place place;
  place.read();
  const std::string good = bytes_of(place.path()), own = place.path();
  place.options.features = 4;
  place.read();
  const std::string of_others = bytes_of(place.path());
  place.options = {};
  overwrite(own, of_others);
  place.check_rebuilt("other options");
  overwrite(own, "1 qid:1 1:1\n");
  place.check_left_alone("1 qid:1 1:1\n");
}

TEST_CASE("read_letor_cached refuses a cache whose list sizes disagree even if its checksums match") {
  const Place place;
  place.read();
  LetorFile odd = place.other();
  odd.sizes = {2, 2};
  mr::write_letor_cache(place.path(), place.source(), odd);
  place.check_rebuilt("sizes");
}

TEST_CASE("read_letor_cached reads the text if the cache cannot be written") {
  Place place;
  place.folder = place.files.file("no-folder", "a file");
  const Cached got = place.read();
  check_same(got.file, place.expected);
  CHECK_THAT(got.problem, Contains("no-folder/letor-") && Contains("cannot "));
  place.folder = place.files.folder() + "/cache";
  fs::create_directories(place.path());
  CHECK_THAT(place.read().problem, Contains(": cannot write: "));
  check_same(place.read().file, place.expected);
}
