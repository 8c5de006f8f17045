#include "runtime/data/csv.h"

#include <algorithm>

#include "runtime/io/files/text_file.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using mr::CsvReader;
using mr::CsvRecord;
using mr::test::Files;
using mr::test::says;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text, char delimiter = ',') {
  const Files files;
  CsvReader reader(files.file("t.csv", text), delimiter);
  Rows rows;
  for (CsvRecord record; reader.next(record);) rows.push_back(record.fields);
  return rows;
}

}  // namespace

TEST_CASE("CsvReader splits fields with every line end and delimiter") {
  const Rows expected{{"a", "b"}, {"1", "2"}};
  for (const char* const text :
       {"a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\n1,2", "a,b\r\n1,2", "a,b\r1,2\r", "\n\na,b\n\n1,2\n\n",
        "\xEF\xBB\xBF"
        "a,b\n1,2\n"}) {
    CHECK(rows_of(text) == expected);
  }
  CHECK(rows_of("").empty());
  CHECK(rows_of("\r\n\n").empty());
  CHECK(rows_of("a,,c\n,\n,") == Rows{{"a", "", "c"}, {"", ""}, {"", ""}});
  CHECK(rows_of("a b\tc,d\n", '\t') == Rows{{"a b", "c,d"}});
  CHECK(rows_of("1::2", ':') == Rows{{"1", "", "2"}});
}

TEST_CASE("CsvReader reads quoted fields with delimiters, quotes and line ends in them") {
  CHECK(rows_of("1,\"Monsters, Inc.\",x\n") == Rows{{"1", "Monsters, Inc.", "x"}});
  CHECK(rows_of("\"a \"\"b\"\" c\",\"\"\r\nd,e") == Rows{{"a \"b\" c", ""}, {"d", "e"}});
  CHECK(rows_of("\"two\nlines\",2\n3,4\n") == Rows{{"two\nlines", "2"}, {"3", "4"}});
  CHECK(rows_of("\"last\"") == Rows{{"last"}});
  CHECK(rows_of("5 \"inches\",2") == Rows{{"5 \"inches\"", "2"}});
  CHECK(rows_of("\"long first record\",\"with many\",fields\nx\n") ==
        Rows{{"long first record", "with many", "fields"}, {"x"}});
}

TEST_CASE("CsvReader reports the line of each record and the column of each field") {
  const Files files;
  CsvReader reader(files.file("t.csv", "a,bb,c\r\n\r\n\"x\ny\",2,3\n4,5,6\n"));
  CsvRecord record;
  REQUIRE(reader.next(record));
  CHECK(record.line == 1);
  CHECK(record.columns == std::vector<int64_t>{1, 3, 6});
  REQUIRE(reader.next(record));
  CHECK(record.line == 3);
  REQUIRE(reader.next(record));
  CHECK(record.line == 5);
  CHECK(record.columns == std::vector<int64_t>{1, 3, 5});
  CHECK_FALSE(reader.next(record));
  CHECK_FALSE(reader.next(record));
}

TEST_CASE("CsvReader names line and column if a quote is not closed") {
  CHECK_THROWS_WITH(rows_of("a,b\n1,\"open\n2,3\n"), says("t.csv:2:3:", "quote"));
  CHECK_THROWS_WITH(rows_of("a,b\n\"1\"x,2\n"), says("t.csv:2:4:", "quote"));
}

TEST_CASE("CsvReader reads the titles of MovieLens' movies") {
  const std::string path = mr::test::real_data("ml-latest-small/movies.csv.gz");
  if (path.empty()) return;
  const std::string text = mr::read_text_file(path);
  CsvReader reader(path);
  int64_t movies = -1, with_comma = 0, doubled = 0, other_letters = 0;
  for (CsvRecord record; reader.next(record); ++movies) {
    REQUIRE(record.fields.size() == 3);
    const std::string& title = record.fields[1];
    with_comma += title.find(',') != std::string::npos;
    doubled += title.find('"') != std::string::npos;
    other_letters +=
        std::any_of(title.begin(), title.end(), [](char c) { return static_cast<unsigned char>(c) > 127; });
  }
  CHECK(movies == 9742);
  // of the 9,742 movie titles, 2,080 are quoted: 2,079 have a comma, and one has a doubled quote: "11'09""01"
  CHECK(with_comma == 2079);
  CHECK(doubled == 1);
  CHECK(other_letters == 293);
}
