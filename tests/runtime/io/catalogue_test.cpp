// Tests of `moonrank data get` against a server on loopback, and of the files that are left after a failed download.
#include "runtime/io/downloads/catalogue.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include <catch2/catch.hpp>

#include "runtime/io/downloads/fetch.h"
#include "runtime/io/files/sha256.h"
#include "tests/support/http_server.h"
#include "tests/support/says.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/zip.h"

namespace fs = std::filesystem;
using Catch::Contains;
using mr::test::HttpServer;
using mr::test::make_zip;
using mr::test::says;

namespace {

const std::string ratings = "userId,movieId\n1,2\n";
const std::string readme =
    "Tiny\n====\n\nabout\n\nUsage License\n=============\n\nfor tests only\n\nMore\n====\n\nnot shown\n";

mr::io::DataSet tiny_set(const std::string& url) {
  return {"tiny",
          "a tiny set",
          url,
          "tiny-set",
          {{"ratings.csv", mr::io::sha256(ratings)}, {"README.txt", mr::io::sha256(readme)}},
          "tests only",
          "README.txt",
          {"Usage License"},
          100'000};
}

std::string get(const mr::io::DataSet& set, const fs::path& folder) {
  std::ostringstream out;
  mr::io::data_get(set, folder, out);
  return out.str();
}

}  // namespace

TEST_CASE("data_get downloads and verifies a data set and prints its terms of use") {
  const HttpServer server(
      {{"/tiny.zip", make_zip({{"tiny-set/ratings.csv", ratings}, {"tiny-set/README.txt", readme}})}});
  const mr::test::TemporaryFolder home;
  const fs::path folder = home.path() / "share" / "moonrank";
  const mr::io::DataSet set = tiny_set(server.url("/tiny.zip"));
  CHECK(mr::io::data_set_state(set, folder) == "not there");

  const std::string said = get(set, folder);
  CHECK_THAT(said, Contains("tiny is now in " + (folder / "tiny-set").string()));
  CHECK_THAT(said,
             Contains("tests only") && Contains("for tests only") && !Contains("not shown") && !Contains("about"));
  CHECK(mr::io::sha256_of_file(folder / "tiny-set/ratings.csv") == mr::io::sha256(ratings));
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 1);
  CHECK(mr::io::data_set_state(set, folder).empty());

  CHECK_THAT(get(set, folder), Contains("is complete") && Contains("for tests only"));
  std::ostringstream list;
  mr::io::data_list({set}, {home.path() / "elsewhere", folder, home.path()}, list);
  CHECK_THAT(list.str(), Contains("tiny  a tiny set\n    in " + (folder / "tiny-set").string()));

  // a compressed file counts as present if its uncompressed content is right
  REQUIRE(std::system(("gzip '" + (folder / "tiny-set/ratings.csv").string() + "'").c_str()) == 0);
  CHECK(mr::io::data_set_state(set, folder).empty());

  std::ofstream(folder / "tiny-set/ratings.csv") << "changed";
  CHECK_THROWS_WITH(get(set, folder), says("ratings.csv", "SHA-256"));
}

TEST_CASE("data_get keeps only files that have a checksum in the catalogue") {
  const HttpServer server({{"/tiny.zip", make_zip({{"tiny-set/ratings.csv", ratings},
                                                   {"tiny-set/README.txt", readme},
                                                   {"tiny-set/ratings.csv.gz", "not ours"},
                                                   {"tiny-set/init.lua", "os.exit(1)"},
                                                   {"tiny-set/deep/er.csv", "x"},
                                                   {"other/ratings.csv", ratings}})}});
  const mr::test::TemporaryFolder home;
  get(tiny_set(server.url("/tiny.zip")), home.path());
  std::vector<std::string> kept;
  for (const auto& entry : fs::recursive_directory_iterator(home.path()))
    kept.push_back(fs::relative(entry.path(), home.path()).string());
  std::sort(kept.begin(), kept.end());
  CHECK(kept == std::vector<std::string>{"tiny-set", "tiny-set/README.txt", "tiny-set/ratings.csv"});
}

TEST_CASE("every data set of the catalogue has a checksum for its terms") {
  for (const mr::io::DataSet& set : mr::io::catalogue()) {
    CHECK((set.terms_file.empty() || std::any_of(set.files.begin(), set.files.end(),
                                                 [&](const auto& file) { return file.path == set.terms_file; })));
  }
}

TEST_CASE("data_get leaves no files behind if the download or a checksum is wrong") {
  const std::string good = make_zip({{"tiny-set/ratings.csv", ratings}, {"tiny-set/README.txt", readme}});
  const HttpServer server({{"/changed.zip", make_zip({{"tiny-set/ratings.csv", ratings + "3,4\n"}})},
                           {"/terms.zip", make_zip({{"tiny-set/ratings.csv", ratings}, {"tiny-set/README.txt", "x"}})},
                           {"/missing.zip", make_zip({{"tiny-set/other.csv", ratings}})},
                           {"/evil.zip", make_zip({{"tiny-set/ratings.csv", ratings}, {"../evil", "x"}})},
                           {"/short.zip", good.substr(0, good.size() - 40)},
                           {"/large.zip", make_zip({{"tiny-set/ratings.csv", std::string(200'000, 'x')}})},
                           {"/page.zip", "<html></html>"}});
  const std::pair<const char*, const char*> cases[] = {
      {"/changed.zip", "ratings.csv has SHA-256 "},
      {"/terms.zip", "README.txt has SHA-256 "},
      {"/missing.zip", "ratings.csv is missing"},
      {"/evil.zip", "leads out of the folder"},
      {"/short.zip", "archive.zip: "},
      {"/large.zip", "more than the limit of 100000 bytes"},
      {"/page.zip", "archive.zip: "},
      {"/nothing.zip", "/nothing.zip: The requested URL returned error: 404"}};
  for (const auto& [path, words] : cases) {
    const mr::test::TemporaryFolder home;
    CHECK_THROWS_WITH(get(tiny_set(server.url(path)), home.path()), Contains(words));
    CHECK(fs::is_empty(home.path()));
  }
}

TEST_CASE("fetch explains why a download failed") {
  const mr::test::TemporaryFolder folder;
  const fs::path target = folder.path() / "file";
  std::string gone;
  {
    const HttpServer server({});
    gone = server.url("/x");
  }
  CHECK_THROWS_WITH(mr::io::fetch(gone, target, 1000), Contains("cannot fetch " + gone + ": ") && Contains("onnect"));
  CHECK_THROWS_WITH(mr::io::fetch("file:///etc/hostname", target, 1000), Contains("rotocol"));
  const mr::test::ScopedVariable path("PATH", folder.path().string());
  CHECK_THROWS_WITH(mr::io::fetch(gone, target, 1000), Contains("apt install curl"));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("fetch limits the size of a download") {
  const HttpServer server({{"/x", std::string(2000, 'x')}});
  const mr::test::TemporaryFolder folder;
  CHECK_THROWS_WITH(mr::io::fetch(server.url("/x"), folder.path() / "file", 1999), Contains("cannot fetch "));
  CHECK(fs::is_empty(folder.path()));
  mr::io::fetch(server.url("/x"), folder.path() / "file", 2000);
  CHECK(fs::file_size(folder.path() / "file") == 2000);
}

TEST_CASE("catalogue_entry lists the known data sets if the name is unknown") {
  CHECK(mr::io::catalogue_entry("movielens").folder == "ml-latest-small");
  CHECK_THROWS_WITH(mr::io::catalogue_entry("movielen"), says("'movielen'", "movielens"));
}
