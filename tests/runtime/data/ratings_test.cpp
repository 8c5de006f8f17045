#include "runtime/data/interactions/ratings.h"

#include <algorithm>
#include <map>

#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::RatingColumns;
using mr::Ratings;
using mr::test::Files;
using mr::test::says;
using Ints = std::vector<int64_t>;
using Words = std::vector<std::string>;

namespace {

Ratings read(const std::string& text, const RatingColumns& columns = {}) {
  const Files files;
  return mr::read_ratings(files.file("r.csv", text), columns);
}

const RatingColumns plain{"user", "item", "rating", true, true, ','};

}  // namespace

TEST_CASE("read_ratings numbers integer ids by value without gaps") {
  const Ratings r = read("userId,movieId,rating,timestamp\r\n10,1000,4.5,1\r\n9,20,0.5,2\r\n10,20,5,3\r\n-3,7,1,4\r\n");
  CHECK(r.user == Ints{3, 2, 3, 1});
  CHECK(r.item == Ints{3, 2, 2, 1});
  CHECK(r.value == std::vector<float>{4.5F, 0.5F, 5.0F, 1.0F});
  CHECK(r.user_ids == Words{"-3", "9", "10"});
  CHECK(r.item_ids == Words{"7", "20", "1000"});
}

TEST_CASE("read_ratings numbers other ids in order of appearance") {
  const Ratings r = read("item,user,rating\nz,10,1\na,9,2\nz,9,3", plain);
  CHECK(r.item == Ints{1, 2, 1});
  CHECK(r.item_ids == Words{"z", "a"});
  CHECK(r.user == Ints{2, 1, 1});
  CHECK(r.user_ids == Words{"9", "10"});
  // if one user id is not an integer, or is too large for one, all user ids are read as text
  CHECK(read("user,item\n3,1\n2,1\n1.5,1\n", {"user", "item", "", true, true, ','}).user_ids == Words{"3", "2", "1.5"});
  CHECK(read("user,item\n99999999999999999999,1\n2,1\n", {"user", "item", "", true, true, ','}).user_ids[1] == "2");
  CHECK(read("user,item\n7,1\n07,1\n", {"user", "item", "", true, true, ','}).user_ids == Words{"7", "07"});
}

TEST_CASE("read_ratings finds columns by name or number, and works without a rating column") {
  const std::string rated = "user,item,rating\n1,2,4.5\n", unrated = "user,item\n1,2\n";
  CHECK(read(rated, plain).value == std::vector<float>{4.5F});
  CHECK_THROWS_WITH(read(rated, {"1", "2", "3", true, true, ','}), Contains("'1'"));
  CHECK(read(rated, {"user", "item", "", true, true, ','}).value == std::vector<float>{1.0F});
  CHECK(read(unrated, {"user", "item", "rating", false, true, ','}).value == std::vector<float>{1.0F});
  CHECK_THROWS_WITH(read(unrated, plain), says("r.csv:1:1:", "'user', 'item'", "'rating'"));
  CHECK_THROWS_WITH(read("u;i\n1;2\n", plain), says("'u;i'", "delimiter ','", "'user'"));
  CHECK_THROWS_WITH(read("u\ti\n1\t2\n", {"user", "item", "", true, true, '\t'}), Contains("(delimiter '\\t')"));
  CHECK_THROWS_WITH(read("a,b,c,d,e,f,g,h,i,j,k,l,m,n\n", plain), says("'k', 'l'", "2 more"));
  const Ratings bare = read("5\t6\t3\t88\n6\t6\t2\t89\n", {"1", "2", "3", true, false, '\t'});
  CHECK(bare.value == std::vector<float>{3.0F, 2.0F});
  CHECK(bare.user_ids == Words{"5", "6"});
  CHECK_THROWS_WITH(read("5,6\n", {"1", "3", "", true, false, ','}), says("2 columns", "delimiter"));
  CHECK_THROWS_WITH(read("5,6\n", {"1", "item", "", true, false, ','}), Contains("'item'"));
  CHECK_THROWS_WITH(read(rated, {"0", "2", "3", true, true, ','}), Contains("'0'"));
  CHECK_THROWS_WITH(read("user,item,user\n1,2,3\n", {"user", "item", "", true, true, ','}),
                    says("r.csv:1:11:", "second", "'user'"));
  CHECK(read("user,user\n1,2\n", {"1", "2", "", true, false, ','}).user_ids == Words{"user", "1"});
  CHECK(read("rating,item,user,rating\n1,2,3,4\n", {"user", "item", "", true, true, ','}).user_ids == Words{"3"});
  CHECK_THROWS_WITH(read("rating,item,user,rating\n1,2,3,4\n", {"user", "item", "rating", false, true, ','}),
                    says("second", "'rating'"));
  // if the file has a header, the column "1" is the column with that name, not the first one
  CHECK(read("2,1,x\n10,20,3\n", {"1", "2", "x", true, true, ','}).user_ids == Words{"20"});
}

TEST_CASE("read_ratings names line and column of a malformed rating") {
  const std::string head = "userId,movieId,rating\n1,1,5\n";
  const auto message = [&](const std::string& line) {
    try {
      read(head + line);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message("1,2,five\n"), says("r.csv:3:5:", "'five'", "rating"));
  CHECK_THAT(message("1,2,\n"), Contains("r.csv:3:5: found ''"));
  CHECK_THAT(message("1,2,nan\n"), Contains("r.csv:3:5: found 'nan'"));
  CHECK_THAT(message("1,2,1e39\n"), Contains("r.csv:3:5: found '1e39'"));
  CHECK_THAT(message(",2,5\n"), says("r.csv:3:1:", "user"));
  CHECK_THAT(message("1,,5\n"), says("r.csv:3:3:", "item"));
  CHECK_THAT(message("1,2\n"), says("r.csv:3:1:", "2 fields"));
  CHECK_THAT(message("1,2,3,4\n"), says("r.csv:3:1:", "4 fields"));
  CHECK_THAT(message("\n2,1,4\n1,1,3\n"), says("r.csv:5:1:", "user '1'", "item '1'", "line 2"));
  CHECK_THROWS_WITH(read(""), says("r.csv:1:1:", "empty"));
  CHECK_THROWS_WITH(read("userId,movieId,rating\n"), says("r.csv:2:1:", "no rows"));
}

TEST_CASE("read_pairs reads ids and names of items") {
  const Files files;
  const auto pairs = mr::read_pairs(
      files.file("m.csv", "movieId,title,genres\r\n7,\"Monsters, Inc.\",x\r\n5,\"A \"\"B\"\"\",y"), "movieId", "title");
  CHECK(pairs == std::vector<std::pair<std::string, std::string>>{{"7", "Monsters, Inc."}, {"5", "A \"B\""}});
  CHECK_THROWS_WITH(mr::read_pairs(files.file("n.csv", ""), "a", "b"), says("n.csv:1:1:", "empty"));
}

TEST_CASE("read_ratings counts the ratings of MovieLens as its README does") {
  const std::string path = mr::test::real_data("ml-latest-small/ratings.csv.gz");
  if (path.empty()) return;
  const Ratings r = mr::read_ratings(path, {});
  CHECK(r.value.size() == 100836);
  CHECK(r.user_ids.size() == 610);
  CHECK(r.item_ids.size() == 9724);
  CHECK(r.item_ids.back() == "193609");
  CHECK(std::is_sorted(r.user.begin(), r.user.end()));
  std::map<float, int64_t> counts;
  for (const float v : r.value) ++counts[v];
  CHECK(counts == std::map<float, int64_t>{{0.5F, 1370},
                                           {1.0F, 2811},
                                           {1.5F, 1791},
                                           {2.0F, 7551},
                                           {2.5F, 5550},
                                           {3.0F, 20047},
                                           {3.5F, 13136},
                                           {4.0F, 26818},
                                           {4.5F, 8551},
                                           {5.0F, 13211}});
}
