// Tests that LETOR files that several threads read in pieces give the same rows and errors as files that one thread
// reads as a whole.
#include <algorithm>

#include "kernels/core/threads.h"
#include "runtime/data/letor/letor.h"
#include "runtime/io/files/text_file.h"
#include "tests/support/data_files.h"
#include "tests/support/same_letor.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::LetorFile;
using mr::LetorOptions;
using mr::read_letor;
using mr::test::check_same;
using mr::test::Files;
using mr::test::says;

namespace {

constexpr int64_t whole = int64_t{1} << 40;

class Threads {
 public:
  explicit Threads(int n) : before_(mr::cpu::threads()) { mr::cpu::set_threads(n); }
  ~Threads() { mr::cpu::set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

std::string error_of(const std::string& path, int64_t piece_bytes, const LetorOptions& options = {}) {
  try {
    read_letor(path, options, piece_bytes);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

const char* const odd =
    "# head\r\n2 qid:a 1:0.5 2:-0 3:-0.0 # docid = X\r\n\n0 qid:a 2:1 5:7e-3\n \t\n1 qid:b\n1 qid:b 1:1 2:2 3:3#c\n"
    "# between\n3.0 qid:c 4:12345678901234567890 7:.5 8:5.\n0 qid:c 1:1 2:3 9:1e-60 # the last, without an end";

}  // namespace

TEST_CASE("read_letor returns the same rows for every piece size and number of threads") {
  const Files files;
  const std::string path = files.file("odd.txt", odd);
  const LetorFile expected = read_letor(path, {}, whole);
  CHECK(expected.labels == std::vector<float>{2, 0, 1, 1, 3, 0});
  CHECK(expected.sizes == std::vector<int64_t>{2, 2, 2});
  CHECK(expected.documents == std::vector<std::string>{"X", "", "", "c", "", "the last, without an end"});
  const std::vector<float> rows = expected.features.to_vector<float>();
  CHECK(std::vector<float>(rows.begin(), rows.begin() + 9) == std::vector<float>{0.5F, -0.0F, -0.0F, 0, 0, 0, 0, 0, 0});
  CHECK((std::signbit(rows[1]) && std::signbit(rows[2]) && !std::signbit(rows[3])));
  for (const int threads : {1, 2, 5}) {
    const Threads these(threads);
    for (int64_t bytes = 1; bytes < 60; ++bytes) {
      CAPTURE(threads, bytes);
      check_same(read_letor(path, {}, bytes), expected);
    }
  }
}

TEST_CASE("read_letor reads lines without qid over many pieces as one query") {
  const Files files;
  std::string text;
  for (int row = 0; row < 200; ++row) text += "1 1:" + std::to_string(row) + "\n";
  const LetorFile f = read_letor(files.file("q.txt", text), {.qid_optional = true}, 10);
  CHECK(f.sizes == std::vector<int64_t>{200});
  CHECK(f.features.to_vector<float>()[199] == 199);
}

TEST_CASE("read_letor reads a line longer than many pieces with gaps between feature ids") {
  const Files files;
  std::string text = "1 qid:1 1:1\n0 qid:1";
  for (int id = 2; id <= 60000; id += 2) text += " " + std::to_string(id) + ":" + std::to_string(id) + ".25";
  text += "\n1 qid:2 3:9\n";
  const LetorFile f = read_letor(files.file("long.txt", text), {}, 1000);
  const std::vector<float> x = f.features.to_vector<float>();
  REQUIRE(x.size() == 3 * 60000);
  int64_t wrong = 0;
  for (int id = 1; id <= 60000; ++id) {
    wrong += x[id - 1] != (id == 1 ? 1.0F : 0.0F);
    wrong += x[60000 + id - 1] != (id % 2 == 0 ? static_cast<float>(id) + 0.25F : 0.0F);
    wrong += x[120000 + id - 1] != (id == 3 ? 9.0F : 0.0F);
  }
  CHECK(wrong == 0);
}

TEST_CASE("read_letor reports the first bad line for every piece size and number of threads") {
  const Files files;
  const auto path_of = [&](const std::string& bad) {
    std::string text;
    for (int row = 0; row < 50; ++row) text += "0 qid:" + std::to_string(row / 5) + " 1:0.25 2:3\n";
    return files.file("q.txt", text + bad + "0 qid:x 1:wrong\npython\n0 qid:0 1:1\n");
  };
  const std::pair<const char*, const char*> cases[] = {
      {"0 qid:9 1:two 2:0\n", "q.txt:51:11: found 'two', expected a finite number (float32) for feature 1"},
      {"\n# c\n0 qid:9 2:0 1:0\r\n", "q.txt:53:13: found feature 1 after feature 2"},
      {"0 qid:3 1:0\n", "q.txt:51:3: found qid '3' again after other queries (it began at line 16)"},
      {"0 qid:3 1:two\n", "q.txt:51:3: found qid '3' again after other queries (it began at line 16)"},
      {"zero qid:3 1:1\n", "q.txt:51:1: found 'zero', expected a finite number (float32) for the label"},
      {"0 1:1\n", "q.txt:51:3: found '1:1', expected 'qid:'"},
      {"", "q.txt:51:11: found 'wrong', expected a finite number (float32) for feature 1"},
  };
  for (const auto& [bad, message] : cases) {
    const std::string path = path_of(bad);
    for (const int threads : {1, 2, 5}) {
      const Threads these(threads);
      for (const int64_t bytes : {int64_t{1}, int64_t{25}, int64_t{100}, int64_t{1000}, whole}) {
        CAPTURE(bad, threads, bytes);
        CHECK_THAT(error_of(path, bytes), Contains(message));
      }
    }
  }
}

TEST_CASE("read_letor reports empty and too wide files in the same way for every piece size") {
  const Files files;
  const std::string empty = files.file("empty.txt", ""), comments = files.file("c.txt", "# a\n# b\n\n# c");
  std::string text;
  for (int row = 0; row < 3000; ++row) text += "0 qid:1 1:1\n";
  const std::string wide = files.file("wide.txt", text + "0 qid:1 1000000:1\n0 qid:1 1000000:1\n");
  for (const int64_t bytes : {int64_t{1}, int64_t{5}, whole}) {
    CHECK_THAT(error_of(empty, bytes), says("empty.txt:1:1:", "no rows"));
    CHECK_THAT(error_of(comments, bytes), says("c.txt:5:1:", "no rows"));
    CHECK_THAT(error_of(wide, bytes), says("3002 rows", "1000000 features", "line 3001"));
  }
}

TEST_CASE("read_letor returns the same rows of real collections for every piece size") {
  const char* const name = GENERATE("mq2008/S4.txt.gz", "mslr-web-slice/vali.txt.gz",
                                    "parser-samples/mslr_crlf_1query.txt", "parser-samples/es_rocky_wfeatures.txt");
  const std::string path = mr::test::real_data(name);
  if (path.empty()) return;
  const LetorFile expected = read_letor(path, {}, whole);
  for (const int threads : {1, 2, 5}) {
    const Threads these(threads);
    for (const int64_t bytes : {int64_t{100}, int64_t{4096}, int64_t{1} << 20}) {
      check_same(read_letor(path, {}, bytes), expected);
    }
  }
}

TEST_CASE("read_letor reads the last number of a file that ends at a page boundary") {
  const Files files;
  for (const size_t size : {4095, 4096, 4097, 8192}) {
    std::string text = "0 qid:1 1:0.5\n0 qid:1 1:1.2345678";
    text.insert(0, "#" + std::string(size - text.size() - 2, 'x') + "\n");
    REQUIRE(text.size() == size);
    const LetorFile f = read_letor(files.file("page.txt", text), {});
    CHECK(f.features.to_vector<float>() == std::vector<float>{0.5F, 1.2345678F});
  }
}
