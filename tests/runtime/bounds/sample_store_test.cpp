// Tests of the files that cache sampled distributions: they are read back bit for bit, a damaged file is never used,
// and the least recently used files are removed first.
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <thread>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "runtime/bounds/samples/sample_file.h"
#include "runtime/bounds/samples/sample_folder.h"
#include "runtime/bounds/samples/sampling.h"
#include "runtime/bounds/samples/sort_numbers.h"
#include "runtime/io/files/sha256.h"
#include "tests/support/command.h"

using namespace mr;
namespace fs = std::filesystem;

namespace {

MetricSampling of(const char* metric, int64_t n, int64_t p, int64_t samples = 1000, int64_t seed = 1, double beta = 0) {
  return {to_metric(metric), {n, p, {}, beta}, samples, seed};
}

/// Returns a distribution of made-up samples. If `steps` is small, many samples are equal.
Distribution made_up(uint64_t steps, int64_t count = 3000) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::sqrt(static_cast<double>(bounded(philox(random_key(2, "v"), i).low(), steps))));
  return Distribution(values);
}

bool same(const Distribution& a, const Distribution& b) {
  return a.values() == b.values() && a.counted().before == b.counted().before &&
         a.counted().total == b.counted().total && a.mean() == b.mean() && a.sd() == b.sd();
}

void overwrite(const fs::path& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

const std::string key = io::sha256("a key");

}  // namespace

TEST_CASE("sort_numbers orders values like std::sort for every spread of values") {
  std::vector<std::vector<double>> kinds{{}, {1}, std::vector<double>(1000, 0.3), {0, 1e300, -1e300, 1e-300}};
  const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  for (const int64_t count : {10, 255, 256, 5000}) {
    for (int form = 0; form < 6; ++form) {
      std::vector<double> x;
      for (int64_t i = 0; i < count; ++i) {
        const double u = uniform(random_key(1, "sorted"), i);
        x.push_back(form == 0   ? u - 0.5
                    : form == 1 ? std::floor(20 * u)
                    : form == 2 ? std::exp(200 * u)
                    : form == 3 ? (u - 0.5) * 2 * huge
                    : form == 4 ? std::floor(20 * u) * tiny
                                : 1e9 + u * 1e-6);
      }
      kinds.push_back(x);
    }
  }
  for (std::vector<double>& found : kinds) {
    std::vector<double> expected = found;
    std::sort(expected.begin(), expected.end());
    sort_numbers(found);
    CHECK(found == expected);
  }
}

TEST_CASE("MetricSampling::draw_together gives each metric the values that it draws alone") {
  for (const int64_t n : {2, 41, 130}) {
    std::vector<MetricSampling> all;
    for (const char* const metric :
         {"ndcg", "ap", "nrbp_loss", "rr", "nrbp(0.2)", "rbp(0.5)", "nrbp(0.7)", "rr", "ap", "ndcg"})
      all.push_back(of(metric, n, n / 2, 333));
    const std::vector<std::vector<double>> found = MetricSampling::draw_together(all);
    REQUIRE(found.size() == all.size());
    for (size_t m = 0; m < all.size(); ++m) {
      CHECK(all[0].goes_with(all[m]));
      CHECK(found[m] == all[m].draw(Device::cpu));
    }
  }
}

TEST_CASE("MetricSampling::key differs if metric, list shape, sample count, seed or beta differ") {
  const std::vector<MetricSampling> all{of("ndcg", 40, 20),
                                        of("ap", 40, 20),
                                        of("nrbp(0.9)", 40, 20),
                                        of("nrbp(0.8)", 40, 20),
                                        of("ndcg", 41, 20),
                                        of("ndcg", 40, 21),
                                        of("ndcg", 40, 20, 1001),
                                        of("ndcg", 40, 20, 1000, 2),
                                        of("ndcg", 40, 20, 1000, 1, 0.5),
                                        {to_metric("ndcg"), {4, 2, {2, 1, 0, 0}}, 1000, 1},
                                        {to_metric("ndcg"), {4, 2, {3, 1, 0, 0}}, 1000, 1}};
  for (size_t a = 0; a < all.size(); ++a) {
    for (size_t b = 0; b < all.size(); ++b) {
      CHECK((all[a].key() == all[b].key()) == (a == b));
      if (a != b) CHECK(all[a].goes_with(all[b]) == (a < 4 && b < 4));
    }
  }
  CHECK(of("nrbp(0.95)", 40, 20).key() == of("nrbp", 40, 20).key());
}

TEST_CASE("a sample file is read back bit for bit and rejected if any byte of it is wrong") {
  const test::TemporaryFolder folder;
  const fs::path path = folder.path() / "a file";
  for (const uint64_t steps : {uint64_t{1}, uint64_t{7}, uint64_t{2000}, uint64_t{1} << 31}) {
    const Distribution d = made_up(steps);
    CHECK(!read_sample_file(path.string(), key));
    write_sample_file(path.string(), key, d);
    const auto found = read_sample_file(path.string(), key);
    REQUIRE(found);
    CHECK(same(*found, d));
    CHECK(!read_sample_file(path.string(), io::sha256("another")));
    const std::string whole = test::read_text(path);
    for (size_t i = 0; i < whole.size(); i += i < 200 ? 1 : 97) {
      std::string wrong = whole;
      wrong[i] = static_cast<char>(wrong[i] ^ 4);
      overwrite(path, wrong);
      if (read_sample_file(path.string(), key)) FAIL("read with byte " << i << " changed");
    }
    for (const std::string& wrong :
         {std::string(), whole.substr(0, 50), whole.substr(0, whole.size() - 1), whole + "x"}) {
      overwrite(path, wrong);
      CHECK(!read_sample_file(path.string(), key));
    }
    overwrite(path, whole.substr(0, 40));
    write_sample_file(path.string(), key, d);  // a damaged file of samples is replaced
    CHECK(read_sample_file(path.string(), key));
    fs::remove(path);
  }
  overwrite(path, "somebody's notes");
  CHECK_THROWS_WITH(write_sample_file(path.string(), key, made_up(7)), Catch::Matchers::Contains("replaced"));
  CHECK(test::read_text(path) == "somebody's notes");
}

TEST_CASE("MetricSampling::drew rejects samples whose values were altered") {
  const std::vector<MetricSampling> all{of("ndcg", 40, 20, 20000),
                                        of("rr", 9, 2, 20000),
                                        of("ap", 41, 3, 20000, 2, 0.5),
                                        of("nrbp_loss", 12, 5, 100),
                                        {to_metric("ndcg"), {6, 3, {4, 3, 2, 1, 0.5, 0}}, 20000, 1}};
  int believed = 0;
  for (size_t m = 0; m < all.size(); ++m) {
    const std::vector<double> values = all[m].draw(Device::cpu);
    REQUIRE(all[m].drew(Distribution(values)));
    for (int i = 0; i < 40; ++i) {
      const double u = uniform(random_key(static_cast<uint64_t>(m), "forged"), static_cast<uint64_t>(i));
      std::vector<double> forged = values;
      for (size_t v = 0; v < forged.size(); ++v) {
        if (i % 5 == 0) forged[v] += 1e-6 * (1 + u);
        if (i % 5 == 1) forged[v] *= 1 + 1e-3 * u + 1e-6;
        if (i % 5 == 2 && v % 3 == 0) forged[v] = u;
        if (i % 5 == 3) forged[v] = forged[static_cast<size_t>(u * 100)];
      }
      if (i % 5 == 4) forged.resize(forged.size() / 2);
      if (all[m].drew(Distribution(forged))) ++believed;
    }
    CountedValues other_mean = Distribution(values).counted();
    other_mean.mean += 0.01;
    CHECK(!all[m].drew(Distribution(other_mean)));
    CHECK(!all[m].drew(Distribution(all[(m + 1) % all.size()].draw(Device::cpu))));
  }
  CHECK(believed == 0);
}

TEST_CASE("SampleFolder removes the least recently used samples first and never other programs' files") {
  const test::TemporaryFolder base;
  const fs::path path = base.path() / "samples";
  const Distribution d = made_up(uint64_t{1} << 31, 10000);  // 80 kB
  SampleFolder folder(path, 1'000'000);                      // room for 12
  const auto name = [](int i) { return io::sha256(std::to_string(i)); };
  const auto age = [&](int i, int hours) {
    fs::last_write_time(path / (name(i) + ".samples"), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  for (int i = 0; i < 10; ++i) folder.keep(name(i), d);
  overwrite(path / "notes.samples", std::string(2'000'000, 'x'));
  overwrite(path / ".moonrank-0123.tmp", "of a writer that was killed");
  fs::last_write_time(path / ".moonrank-0123.tmp", fs::file_time_type::clock::now() - std::chrono::hours(3));
  fs::last_write_time(path / "notes.samples", fs::file_time_type::clock::now() - std::chrono::hours(1000));
  for (int i = 0; i < 10; ++i) age(i, 100 - i);
  REQUIRE(folder.find(name(0)));  // reading this file makes it the most recently used one
  for (int i = 10; i < 16; ++i) folder.keep(name(i), d);
  CHECK(folder.has(name(0)));
  CHECK(folder.has(name(15)));
  CHECK(!folder.has(name(1)));
  CHECK(!folder.has(name(2)));
  CHECK(folder.has(name(9)));
  CHECK(fs::exists(path / "notes.samples"));
  CHECK(!fs::exists(path / ".moonrank-0123.tmp"));
  int64_t sum = 0;
  for (const auto& file : fs::directory_iterator(path)) {
    if (file.is_regular_file() && file.path().filename() != "notes.samples")
      sum += static_cast<int64_t>(file.file_size());
  }
  CHECK(sum <= 1'000'000);
  SampleFolder closed(path, 0);
  CHECK(!closed.is_open());
  folder.keep("larger", made_up(uint64_t{1} << 31, 200000));
  CHECK(!folder.has("larger"));
}

TEST_CASE("SampleFolder stays within its size limit if threads keep samples at the same time") {
  const test::TemporaryFolder base;
  const Distribution d = made_up(uint64_t{1} << 31, 10000);
  for (int round = 0; round < 5; ++round) {
    const fs::path path = base.path() / std::to_string(round);
    SampleFolder folder(path, 1'000'000);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&folder, &d, t] {
        for (int i = 0; i < 4; ++i) folder.keep(io::sha256(std::to_string(8 * i + t)), d);
      });
    }
    for (std::thread& thread : threads) thread.join();
    int64_t sum = 0;
    for (const auto& file : fs::directory_iterator(path)) sum += static_cast<int64_t>(file.file_size());
    CHECK(sum > 0);
    CHECK(sum <= 1'000'000);
  }
}

TEST_CASE("SampleFolder::take_turn lets only one caller at a time draw the same rankings") {
  const test::TemporaryFolder base;
  const SampleFolder one(base.path() / "samples", 1000), other(base.path() / "samples", 1000);
  const std::string a(64, 'a'), b(64, 'b');
  {
    const SampleFolder::Turn turn = one.take_turn(a);
    CHECK(turn.mine);
    CHECK(!other.take_turn(a).mine);
    CHECK(other.take_turn(b).mine);
  }
  CHECK(other.take_turn(a).mine);
  overwrite(base.path() / "a file", "in place of a folder");
  CHECK(SampleFolder(base.path() / "a file", 1000).take_turn(a).mine);
}
