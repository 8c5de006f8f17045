#include "runtime/data/trec.h"

#include "tests/support/data_files.h"

using Catch::Contains;
using mr::DocumentRows;
using mr::Lists;
using mr::test::Files;

namespace {

Lists lists_of(DocumentRows rows) {
  return {std::move(rows.sizes), std::move(rows.values), std::move(rows.ids), std::move(rows.documents)};
}

}  // namespace

TEST_CASE("read_trec_run reads plain and gzipped files with any blanks and line ends") {
  const Files files;
  const std::string text =
      "\xEF\xBB\xBF"
      " b\tQ0  x 1 1e-3 t \r\na Q0 y 7 -2 t\n\n\t\nb Q0 y 9 +4 t";
  for (const std::string& path : {files.file("r", text), files.file("r.gz", mr::test::gzip(text))}) {
    const DocumentRows rows = mr::read_trec_run(path);
    CHECK(rows.ids == std::vector<std::string>{"b", "a"});
    CHECK(rows.sizes == std::vector<int64_t>{2, 1});
    CHECK(rows.documents == mr::Names{"x", "y", "y"});
    CHECK(rows.values == std::vector<float>{1e-3F, 4, -2});
  }
}

TEST_CASE("read_trec_qrels drops rows with a grade below 0 and keeps their query") {
  const Files files;
  const DocumentRows rows = mr::read_trec_qrels(files.file("q", "1 0 a -2\n2 0 a 0\n2 0 b 3\n"));
  CHECK(rows.ids == std::vector<std::string>{"1", "2"});
  CHECK(rows.sizes == std::vector<int64_t>{0, 2});
  CHECK(rows.values == std::vector<float>{0, 3});
}

TEST_CASE("read_trec_run reads a truncated file or names the place of the error") {
  const Files files;
  const std::string text = "1 Q0 a 1 2.5 t\n1 Q0 b 2 1e38 t\n2 Q0 \xFF\x01 1 -0 t\n";
  size_t read = 0;
  for (size_t end = 0; end <= text.size(); ++end) {
    const std::string path = files.file("part", text.substr(0, end));
    try {
      read += mr::read_trec_run(path).values.size();
    } catch (const std::runtime_error& error) {
      CHECK_THAT(error.what(), Contains(path + ":"));
    }
  }
  CHECK(read > 0);
  // unusual files: zero bytes, one very long line, only blanks
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("zero", std::string(100, '\0'))), Contains(":1:1: found 1 fields"));
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("long", std::string(1 << 20, 'x'))), Contains("found 1 fields"));
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("blank", std::string(1 << 20, ' '))), Contains("no rows"));
}

// Large files are read in several pieces by all threads.
TEST_CASE("read_trec_run reads a large file as it reads small ones") {
  const Files files;
  constexpr int64_t rows = 60000;
  std::vector<std::string> lines;
  for (int64_t i = 0; i < rows; ++i) {
    // first half: 7 consecutive rows per query; second half: rows of 1,000 queries alternate
    const int64_t query = i < rows / 2 ? i / 7 : i % 1000;
    const std::string number = std::to_string(i);
    lines.push_back("q" + std::to_string(query) + " Q0 document" + number + " 1 " + number + " t\n");
    if (i % 1000 == 0) lines.back() += "\n";
  }
  const auto text = [&] {
    std::string all;
    for (const std::string& line : lines) all += line;
    return all;
  };
  const DocumentRows read = mr::read_trec_run(files.file("large", text()));
  CHECK(read.ids.size() == (rows / 2 + 6) / 7);
  CHECK(read.documents.size() == rows);
  size_t at = 0, wrong = 0;
  for (size_t q = 0; q < read.ids.size(); ++q) {
    wrong += read.ids[q] != "q" + std::to_string(q);
    for (int64_t k = 0; k < read.sizes[q]; ++k, ++at) {
      const auto i = static_cast<int64_t>(read.values[at]);
      const auto expected = k < 7 && i < rows / 2 ? static_cast<int64_t>(q) * 7 + k : i;
      wrong += i != expected || read.documents[at] != "document" + std::to_string(i);
      wrong += i >= rows / 2 && i % 1000 != static_cast<int64_t>(q);
      wrong += k > 0 && read.values[at] <= read.values[at - 1];
    }
  }
  CHECK(wrong == 0);

  // line numbers include blank lines, and the first error of the file is reported
  lines[40000] = "q Q0 d 1 x t\n";
  lines[50000] = "q Q0\n";
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("wrong", text())), Contains(":40041:10: ") && Contains("x"));
  lines[40000] = "q Q0 d 1 1 t\n";
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("short", text())), Contains(":50050:1: found 2 fields"));
  lines[50000] = lines[3];
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("twice", text())),
                    Contains(":50050:1: ") && Contains("document3") && Contains("first at line 5"));
}

TEST_CASE("read_trec_run separates words at any blanks and at nothing else") {
  const Files files;
  const std::string long_name(5000, 'n'), control = "a\x01\x1F\x7F\xA0z", zero("d\0d", 3);
  const std::string text = "q Q0 " + long_name + " 1 1.25 t\nq\vQ0\f" + control + " 1\t-2 t\r\n  q  Q0 " + zero +
                           " 1 0.1e1   t\n\r\n" + "q Q0 last 1 12345678.5 " + long_name;
  const DocumentRows rows = mr::read_trec_run(files.file("r", text));
  CHECK(rows.ids == std::vector<std::string>{"q"});
  CHECK(rows.documents == mr::Names{long_name, control, zero, "last"});
  CHECK(rows.values == std::vector<float>{1.25F, -2, 1, 12345678.5F});
  for (const char* const line : {"q Q0 d 1 1 t more\n", "q Q0 d 1 1 t more", "q Q0 d 1 1 t \t more\n"}) {
    CHECK_THROWS_WITH(mr::read_trec_run(files.file("more", text + "\n" + line)), Contains(":6:1: found more than 6"));
  }
  CHECK_THROWS_WITH(mr::read_trec_run(files.file("less", text + "\nq Q0 d 1 1")), Contains(":6:1: found 5 fields"));
}

TEST_CASE("read_trec_qrels reads grades of up to 2^24") {
  const Files files;
  const DocumentRows rows = mr::read_trec_qrels(files.file("q", "1 0 a 0003\n1 0 b 9999999\n1 0 c 16777216\n1 0 d 7"));
  CHECK(rows.values == std::vector<float>{3, 9999999, 16777216, 7});
  for (const std::string word : {"16777217", "1.5", "+1", "1x", "x", "00000000000000000000000000000x"}) {
    CHECK_THROWS_WITH(mr::read_trec_qrels(files.file("bad", "1 0 a 1\n1 0 b " + word + "\n")),
                      Contains(":2:7: found '" + word + "'"));
  }
}

// Rows of a query in several places, a grade below 0, blank lines and a repetition: the error names both lines.
TEST_CASE("a document that occurs again is reported with its lines if queries alternate") {
  const Files files;
  const std::string text = "a 0 x 1\nb 0 x 1\n\na 0 y 1\na 0 n -1\na 0 z 1\nb 0 y 1\n";
  CHECK(mr::read_trec_qrels(files.file("q", text)).documents == mr::Names{"x", "y", "z", "x", "y"});
  CHECK_THROWS_WITH(mr::read_trec_qrels(files.file("again", text + "b 0 z 1\na 0 z 1\n")),
                    Contains(":9:1: ") && Contains("'z' of query 'a'") && Contains("first at line 6"));
}

TEST_CASE("judge matches the rows of a run with the judgments of the qrels") {
  const Files files;
  const Lists run = lists_of(mr::read_trec_run(files.file("r", "1 Q0 b 1 2 t\n1 Q0 u 1 3 t\n3 Q0 a 1 1 t\n")));
  const Lists qrels = lists_of(mr::read_trec_qrels(files.file("q", "2 0 a 1\n1 0 a 1\n1 0 b 2\n3 0 z -1\n")));
  const mr::JudgedRun judged = mr::judge(run, qrels, {"1", "2", "3"});
  CHECK(judged.lists.sizes() == std::vector<int64_t>{2, 0, 1});
  CHECK(judged.lists.documents() == mr::Names{"b", "u", "a"});
  CHECK(judged.lists.relevance() == std::vector<float>{2, 0, 0});
  CHECK(judged.judgments.sizes() == std::vector<int64_t>{2, 1, 0});
  CHECK(judged.judgments.relevance() == std::vector<float>{1, 2, 1});
  CHECK(judged.retrieved == 1);
  CHECK(mr::places_of_judged(judged.lists, judged.judgments) == std::vector<int64_t>{0, 1, 0});
  const mr::JudgedRun of_all = mr::judge(run, qrels, {"1", "3"});
  CHECK(of_all.lists.documents() == mr::Names{"b", "u", "a"});
  CHECK(of_all.lists.ids() == std::vector<std::string>{"1", "3"});
  CHECK(of_all.lists.relevance() == std::vector<float>{2, 0, 0});
  CHECK(judged.found == std::vector<int64_t>{0, -1, 1});
  CHECK(mr::judge(run, qrels, {}).lists.count() == 0);
  CHECK_THROWS_WITH(mr::judge(run, qrels, {"4"}), Contains("'4'"));
  CHECK_THROWS_WITH(mr::judge(run, Lists({1}, {1}), {}), Contains("document"));
  CHECK_THROWS_WITH(mr::judge(run, Lists({1, 1}, {1, 1}, {"1", "1"}, {"a", "b"}), {}), Contains("'1' occurs twice"));
  CHECK_THROWS_WITH(mr::judge(Lists({2}, {1, 1}, {"1"}, {"a", "a"}), qrels, {"1"}), Contains("'a' of query '1'"));
}
