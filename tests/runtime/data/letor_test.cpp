#include "runtime/data/letor/letor.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "runtime/io/files/text_file.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::LetorFile;
using mr::LetorOptions;
using mr::read_letor;
using mr::test::Files;
using mr::test::says;
using Floats = std::vector<float>;
using Sizes = std::vector<int64_t>;
using Words = std::vector<std::string>;

namespace {

LetorFile read(const std::string& text, const LetorOptions& options = {}) {
  const Files files;
  return read_letor(files.file("q.txt", text), options);
}

Floats features_of(const LetorFile& file) { return file.features.to_vector<float>(); }

// Reference reader for LETOR files, with C++ streams and strtof. It is slow and does not check its input.
LetorFile slow_read(const std::string& path, int64_t width) {
  LetorFile out;
  Floats features;
  out.width = width;
  std::istringstream text(mr::read_text_file(path));
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    out.labels.push_back(std::strtof(word.c_str(), nullptr));
    features.resize(features.size() + width, 0.0F);
    float* const row = features.data() + features.size() - width;
    while (words >> word) {
      const size_t colon = word.find(':');
      const std::string key = word.substr(0, colon), value = word.substr(colon + 1);
      if (key != "qid") {
        row[std::stol(key) - 1] = std::strtof(value.c_str(), nullptr);
      } else if (out.qids.empty() || out.qids.back() != value) {
        out.qids.push_back(value);
        out.sizes.push_back(1);
      } else {
        ++out.sizes.back();
      }
    }
  }
  out.features = mr::Tensor::from(features).viewed({static_cast<int64_t>(out.labels.size()), width});
  return out;
}

int64_t rows_of(const LetorFile& file) { return static_cast<int64_t>(file.labels.size()); }

}  // namespace

TEST_CASE("read_letor accepts comments, tabs, blank lines, CRLF, a byte order mark and gzip") {
  const std::string expected_lines = "2 qid:a 1:0.5 2:1e-3 3:-2\n0 qid:a 1:1 2:2 3:3\n1 qid:b 1:4 2:5 3:6\n";
  std::string crlf, tabs = expected_lines;
  for (const char c : expected_lines) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  std::replace(tabs.begin(), tabs.end(), ' ', '\t');
  const std::string loose =
      "# head\n  2.0   qid:a\t1:0.5 2:1e-3   3:-2  \n\n\t\n0 qid:a 1:1 2:2 3:3\n# between\n1 qid:b 1:+4 2:5 3:6";
  for (const std::string& text :
       {expected_lines, crlf, tabs, loose, "\xEF\xBB\xBF" + expected_lines, mr::test::gzip(crlf)}) {
    const LetorFile f = read(text);
    CHECK(f.labels == Floats{2, 0, 1});
    CHECK(f.qids == Words{"a", "b"});
    CHECK(f.sizes == Sizes{2, 1});
    CHECK(f.width == 3);
    CHECK(features_of(f) == Floats{0.5F, 1e-3F, -2, 1, 2, 3, 4, 5, 6});
    CHECK(f.documents.empty());
  }
}

TEST_CASE("read_letor reads features that a line does not name as 0") {
  const LetorFile f = read("1 qid:1 3:7\n0 qid:1\n0 qid:1 1:2 4:0\n");
  CHECK(f.width == 4);
  CHECK(features_of(f) == Floats{0, 0, 7, 0, 0, 0, 0, 0, 2, 0, 0, 0});
  CHECK(features_of(read("1 qid:1 2:7\n", {.features = 3})) == Floats{0, 7, 0});
  CHECK(read("1 qid:1\n").width == 0);
}

TEST_CASE("read_letor reads long rows with any numbers and blanks between features") {
  constexpr int width = 1100;  // ids of four digits, too
  const char* const numbers[] = {"0.5", "-1.25", "17", "1e-2", "123456.75", "-.5", "+3", "0.000123", "12345678.5"};
  const char* const blanks[] = {" ", "\t", "  ", " \t "};
  std::string text;
  Floats expected;
  for (int row = 0; row < 30; ++row) {
    text += std::to_string(row % 3) + " qid:1";
    for (int id = 1; id <= width; ++id) {
      const bool is_named = row % 4 != 1 || id % 50 != 49;
      const std::string number = numbers[(id * 7 + row) % 9];
      if (is_named) text += blanks[row % 5 == 2 ? id % 4 : 0] + std::to_string(id) + ":" + number;
      expected.push_back(is_named ? std::strtof(number.c_str(), nullptr) : 0);
    }
    text += row % 4 == 0 ? "\n" : row % 4 == 1 ? "\r\n" : row % 4 == 2 ? " # docid = d\n" : "#docid = d 1:2\n";
  }
  const LetorFile file = read(text);
  CHECK(file.width == width);
  CHECK(features_of(file) == expected);
  CHECK(features_of(read(text.substr(0, text.size() - 2))) == expected);  // without the last line end
  CHECK_THROWS_WITH(read("1 qid:1 1:2 2:3\v3:4\n"), Contains(":1:"));
  CHECK_THROWS_WITH(read("1 qid:1 1:2 2:3x 3:4\n"), Contains(":1:"));
}

TEST_CASE("read_letor reads document names from comments") {
  const LetorFile f = read(
      "1 qid:1 1:1 #docid = GX-1 inc = 1\n1 qid:1 1:1 # docid=GX-2\n1 qid:1 1:1 #  7555\trambo \r\n1 qid:1 1:1\n"
      "1 qid:1 1:1 # docid of what\n1 qid:1 1:1 #docid = \n");
  CHECK(f.documents == Words{"GX-1", "GX-2", "7555\trambo", "", "docid of what", ""});
}

TEST_CASE("read_letor accepts any feature order, NULL and lines without qid only with their options") {
  const std::string wild = "1 qid:1 3:7 1:2 3:8\n";
  CHECK_THROWS_WITH(read(wild), says("q.txt:1:13:", "feature 1", "feature 3") && Contains("order = \"any\""));
  CHECK(features_of(read(wild, {.any_order = true})) == Floats{2, 0, 8});
  const std::string null = "1 qid:1 1:NULL 2:3\n";
  CHECK_THROWS_WITH(read(null), says("q.txt:1:11:", "'NULL'", "null = 0"));
  CHECK(features_of(read(null, {.null = mr::Null::zero})) == Floats{0, 3});
  const Floats missing = features_of(read(null, {.null = mr::Null::missing}));
  CHECK((missing.size() == 2 && std::isnan(missing[0]) && missing[1] == 3));
  const std::string bare = "1 1:5\n0 1:6\n";
  CHECK_THROWS_WITH(read(bare), says("q.txt:1:3:", "'1:5'", "'qid:'") && Contains("qid = \"optional\""));
  CHECK(read(bare, {.qid_optional = true}).sizes == Sizes{2});
  CHECK_THROWS_WITH(read("1 qid:1 4:1\n", {.features = 3}), says("q.txt:1:9:", "feature 4", "at most 3"));
}

TEST_CASE("read_letor names line and column of a malformed line") {
  const auto message = [](const std::string& line) {
    try {
      read("0 qid:1 1:0 2:0\n" + line);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message("0 qid:1 1:0 2 3:0\n"), says("q.txt:2:13:", "'2'", "colon"));
  CHECK_THAT(message("0 qid:1 2:0 1:0\n"), says("q.txt:2:13:", "feature 1", "feature 2"));
  CHECK_THAT(message("0 qid:1 1:0 1:0\n"), says("q.txt:2:13:", "feature 1"));
  CHECK_THAT(message("0 qid:1 0:1\n"), says("q.txt:2:9:", "'0'", "1000000"));
  CHECK_THAT(message("0 qid:1 -1:1\n"), says("q.txt:2:9:", "'-1:1'"));
  CHECK_THAT(message("0 qid:1 1000001:1\n"), Contains("q.txt:2:9: found"));
  CHECK_THAT(message("0 qid:1 99999999999999999999:1\n"), Contains("q.txt:2:9: found"));
  CHECK_THAT(message("0 qid:1 a:1\n"), says("q.txt:2:9:", "'a:1'"));
  CHECK_THAT(message("0 qid:1 :1\n"), says("q.txt:2:9:", "''"));
  for (const char* const number : {"x", "", "inf", "-inf", "nan", "1e39", "1,5", "1:2", "+-1", "0x1"}) {
    CHECK_THAT(message("0 qid:1 1:" + std::string(number) + " 2:1\n"),
               says("q.txt:2:11:", "'" + std::string(number) + "'", "feature 1"));
  }
  CHECK_THAT(message("python qid:1 1:0\n"), says("q.txt:2:1:", "'python'", "label"));
  CHECK_THAT(message("-1 qid:1 1:0\n"), says("q.txt:2:1:", "label", "'-1'"));
  CHECK_THAT(message("0 1:0\n"), says("q.txt:2:3:", "'1:0'", "'qid:'"));
  CHECK_THAT(message("0\n"), says("q.txt:2:2:", "end of the line", "'qid:'"));
  CHECK_THAT(message("0 qid: 1:0\n"), says("q.txt:2:3:", "'qid:'"));
  CHECK_THAT(message("0 qid:2 1:0\n0 qid:1 1:0\n"), says("q.txt:3:3:", "'1'", "line 1"));
  for (const char* const empty : {"", "\n\n", "# only\n# comments\n"}) {
    CHECK_THROWS_WITH(read(empty), Contains("no rows"));
  }
}

TEST_CASE("read_letor refuses a feature id that would exhaust memory") {
  std::string text;
  for (int row = 0; row < 3000; ++row) text += "0 qid:1 1:1\n";
  text += "0 qid:1 1000000:1\n";
  CHECK_THROWS_WITH(read(text), says("3001 rows", "1000000 features", "line 3001"));
}

TEST_CASE("read_letor agrees with a simple stream reader on real collections") {
  struct Known {
    const char* path;
    int64_t queries, rows, width;
  };
  const Known known =
      GENERATE(Known{"mq2008/S4.txt.gz", 157, 2707, 46}, Known{"mslr-web-slice/vali.txt.gz", 18, 1734, 136},
               Known{"clueweb09-ltr/P1.txt.gz", 12, 5309, 42}, Known{"parser-samples/mslr_crlf_1query.txt", 1, -1, 136},
               Known{"parser-samples/svmlight_classification_qid.txt", 3, 4, 33},
               Known{"parser-samples/ranklib_rambo_tabs.txt", 3, -1, 2});
  const std::string path = mr::test::real_data(known.path);
  if (path.empty()) return;
  const LetorFile fast = read_letor(path, {}), slow = slow_read(path, known.width);
  CHECK(static_cast<int64_t>(fast.sizes.size()) == known.queries);
  if (known.rows > 0) CHECK(rows_of(fast) == known.rows);
  CHECK(fast.width == known.width);
  CHECK(fast.labels == slow.labels);
  CHECK(fast.qids == slow.qids);
  CHECK(fast.sizes == slow.sizes);
  CHECK(features_of(fast) == features_of(slow));
}

TEST_CASE("read_letor reads the same features from MQ2008 with and without zeros, qids and comments") {
  const std::string full = mr::test::real_data("mq2008/S4.txt.gz");
  const std::string sparse = mr::test::real_data("parser-samples/mq2008_S4_noqid_sparse.txt.gz");
  if (full.empty() || sparse.empty()) return;
  const LetorFile a = read_letor(full, {}), b = read_letor(sparse, {.features = 46, .qid_optional = true});
  CHECK(a.labels == b.labels);
  CHECK(features_of(a) == features_of(b));
  CHECK(b.sizes == Sizes{2707});
  CHECK(a.documents.size() == 2707);
  CHECK(a.documents[0].substr(0, 2) == "GX");
}

TEST_CASE("read_letor reads or refuses sample files of other LETOR and SVMlight programs") {
  const std::string folder = mr::test::real_data("parser-samples");
  if (folder.empty()) return;
  const auto path = [&](const char* name) { return folder + "/" + name; };
  CHECK_THROWS_WITH(read_letor(path("mq_agg_null_3queries.txt"), {}), Contains("found 'NULL'"));
  const LetorFile aggregated = read_letor(path("mq_agg_null_3queries.txt"), {.null = mr::Null::zero});
  CHECK(aggregated.sizes.size() == 3);
  const Floats ranks = features_of(aggregated);
  CHECK(ranks.size() == 2520);
  CHECK(std::count(ranks.begin(), ranks.end(), 0.0F) >= 910);
  CHECK_THROWS_WITH(read_letor(path("tfr_train.txt"), {}), Contains("ascending"));
  CHECK(rows_of(read_letor(path("tfr_train.txt"), {.any_order = true})) == 119);
  CHECK(rows_of(read_letor(path("tfr_test.txt"), {.any_order = true})) == 36);
  CHECK_THROWS_WITH(read_letor(path("svmlight_invalid.txt"), {.qid_optional = true}),
                    says("svmlight_invalid.txt:1:1:", "'python'"));
  CHECK(rows_of(read_letor(path("svmlight_classification.txt"), {.qid_optional = true})) == 3);
  CHECK(read_letor(path("es_rocky_wfeatures_sorted.txt"), {}).sizes.size() == 1);
  CHECK(rows_of(read_letor(path("lightgbm_rank.train.gz"), {.qid_optional = true})) == 3005);
  CHECK(read_letor(path("mq2008_S4_crlf_5queries.txt"), {}).sizes.size() == 5);
}
