#include <set>

#include "runtime/data/letor/letor.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::FoldPaths;
using mr::letor_fold_paths;
using mr::test::Files;
using mr::test::says;
using Words = std::vector<std::string>;

namespace {

Words names(const Words& paths) {
  Words out;
  for (const std::string& path : paths) out.push_back(std::filesystem::path(path).filename().string());
  return out;
}

const std::string header = "fold\ttrain\tvali\ttest\n";

}  // namespace

TEST_CASE("letor_fold_paths reads folds from folds.tsv") {
  const Files files;
  for (const char* const part : {"S1.txt", "S2.txt.gz", "S3", "S4"}) files.file(part, "0 qid:1 1:1\n");
  files.file("folds.tsv", header + "Fold1\tS1,S2\tS3\tS4\nFold2\tS3\tS1\tS2");
  const auto folds = letor_fold_paths(files.folder());
  REQUIRE(folds.size() == 2);
  CHECK(names(folds[0].train) == Words{"S1.txt", "S2.txt.gz"});
  CHECK(names(folds[0].valid) == Words{"S3"});
  CHECK(names(folds[1].test) == Words{"S2.txt.gz"});
  files.file("folds.tsv", header + "Fold1\tS1\tS9\tS3\n");
  CHECK_THROWS_WITH(letor_fold_paths(files.folder()), Contains("'S9'"));
  for (const char* const shared : {"S1,S2\tS3\tS1", "S1,S2\tS1\tS3", "S1\tS2\tS2", "S1,S1\tS2\tS3"}) {
    files.file("folds.tsv", header + "Fold1\tS1\tS2\tS3\nFold2\t" + shared + "\n");
    CHECK_THROWS_WITH(letor_fold_paths(files.folder()), says("folds.tsv:3:1:", "twice"));
  }
  files.file("folds.tsv", header + "Fold1\tS1\tS2\n");
  CHECK_THROWS_WITH(letor_fold_paths(files.folder()), says("folds.tsv:2:1:", "3 fields"));
  for (const std::string& bad : {std::string(), std::string("Fold1\tS1\tS2\tS3\n")}) {
    files.file("folds.tsv", bad);
    CHECK_THROWS_WITH(letor_fold_paths(files.folder()), says("folds.tsv:1:1:", "header"));
  }
  files.file("folds.tsv", header);
  CHECK_THROWS_WITH(letor_fold_paths(files.folder()), says("folds.tsv:2:1:", "no folds"));
}

TEST_CASE("letor_fold_paths finds folds in folders Fold1, Fold2 and in one folder that is a fold") {
  const Files files;
  for (const char* const fold : {"Fold1", "Fold2"}) {
    for (const char* const part : {"train.txt", "vali.txt.gz", "test.txt"})
      files.file(std::string(fold) + "/" + part, "x");
  }
  CHECK(letor_fold_paths(files.folder()).size() == 2);
  const auto one = letor_fold_paths(files.folder() + "/Fold2");
  REQUIRE(one.size() == 1);
  CHECK(names(one[0].valid) == Words{"vali.txt.gz"});
  std::filesystem::remove(files.folder() + "/Fold2/vali.txt.gz");
  CHECK(letor_fold_paths(files.folder())[1].valid.empty());
  std::filesystem::remove(files.folder() + "/Fold2/test.txt");
  CHECK_THROWS_WITH(letor_fold_paths(files.folder()), Contains("'test'"));
}

TEST_CASE("letor_fold_paths rotates partitions P1 to P5 if there is no table") {
  const Files files;
  for (int i = 1; i <= 5; ++i) files.file("P" + std::to_string(i) + ".txt", "x");
  const auto published = letor_fold_paths(files.folder());
  REQUIRE(published.size() == 5);
  CHECK(names(published[0].test) == Words{"P1.txt"});
  CHECK(names(published[0].train) == Words{"P2.txt", "P3.txt", "P4.txt", "P5.txt"});
  CHECK(published[0].valid.empty());
  CHECK(names(published[2].train) == Words{"P1.txt", "P2.txt", "P4.txt", "P5.txt"});
  const Files empty;
  CHECK_THROWS_WITH(letor_fold_paths(empty.folder()), says("no folds", "folds.tsv", "Fold1"));
  CHECK_THROWS_WITH(letor_fold_paths(empty.folder() + "/none"), Contains("/none: no such folder"));
}

TEST_CASE("letor_fold_paths gives MQ2008's folds.tsv the folds of LETOR's rotation") {
  const std::string folder = mr::test::real_data("mq2008");
  if (folder.empty()) return;
  const auto by_table = letor_fold_paths(folder);
  const Files files;
  for (int i = 1; i <= 5; ++i) files.file("S" + std::to_string(i) + ".txt.gz", "x");
  const auto by_rotation = letor_fold_paths(files.folder());
  REQUIRE(by_table.size() == 5);
  REQUIRE(by_rotation.size() == 5);
  for (size_t k = 0; k < 5; ++k) {
    CHECK(names(by_table[k].train) == names(by_rotation[k].train));
    CHECK(names(by_table[k].valid) == names(by_rotation[k].valid));
    CHECK(names(by_table[k].test) == names(by_rotation[k].test));
  }
}

TEST_CASE("read_letor finds as many queries and rows in real collections as their READMEs state") {
  struct Known {
    const char* folder;
    size_t folds, queries, rows;
  };
  const Known known = GENERATE(Known{"mq2008", 5, 784, 15211}, Known{"clueweb09-ltr", 5, 61, 26646},
                               Known{"mslr-web-slice", 1, 102, 10363});
  const std::string folder = mr::test::real_data(known.folder);
  if (folder.empty()) return;
  const auto folds = letor_fold_paths(folder);
  REQUIRE(folds.size() == known.folds);
  size_t rows = 0;
  std::set<std::string> queries;
  for (const Words& paths : {folds[0].train, folds[0].valid, folds[0].test}) {
    for (const std::string& path : paths) {
      const mr::LetorFile file = mr::read_letor(path, {});
      rows += file.labels.size();
      for (const std::string& qid : file.qids) CHECK(queries.insert(qid).second);
    }
  }
  CHECK(rows == known.rows);
  CHECK(queries.size() == known.queries);
}
