// Tables of smoothed distribution functions on disk: a safetensors file with a version and a checksum, which is made
// anew where it is damaged, older, newer or somebody else's.
#include <cmath>
#include <filesystem>
#include <sstream>

#include "runtime/io/safetensors.h"
#include "runtime/io/sha256.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/smooth_cdf.h"

namespace mr {
namespace {

/// To be raised whenever the numbers in a table could come out differently.
constexpr const char* format = "moonrank tables 2";

std::string_view bytes_of(const Tensor& x) {
  return {static_cast<const char*>(x.raw()), static_cast<size_t>(x.bytes())};
}

std::string checksum(const std::string& keys, const std::vector<Tensor>& tensors) {
  std::string all = keys;
  for (const Tensor& tensor : tensors) all += bytes_of(tensor);
  return io::sha256(all);
}

/// Writes all tables that are kept; how many.
int64_t save_tables(const std::string& path) {
  const auto tables = kept_tables();
  std::string keys;
  std::vector<double> places, knots;
  std::vector<int64_t> counts;
  for (const auto& [key, table] : tables) {
    keys += key + "\n";
    places.insert(places.end(), {table->first(), table->step()});
    counts.push_back(static_cast<int64_t>(table->knots().size()));
    knots.insert(knots.end(), table->knots().begin(), table->knots().end());
  }
  TensorFile file{{"counts", "knots", "places"}, {Tensor::from(counts), Tensor::from(knots), Tensor::from(places)}, {}};
  file.metadata = {{"format", format}, {"keys", keys}, {"sha256", checksum(keys, file.tensors)}};
  write_safetensors(path, file);
  return static_cast<int64_t>(tables.size());
}

/// Knots rise, slopes do not fall: what a table of ours is.
bool is_table(const std::vector<double>& knots, double first, double step) {
  bool good = knots.size() >= 2 && knots.size() % 2 == 0 && std::isfinite(first) && (step > 0 || knots.size() == 2);
  for (size_t k = 0; good && k < knots.size(); k += 2) {
    good = std::isfinite(knots[k]) && std::isfinite(knots[k + 1]) && knots[k + 1] >= 0 &&
           (k == 0 || knots[k] >= knots[k - 2]);
  }
  return good;
}

/// Keeps the tables of a file that read_safetensors found whole; why it cannot be, or nothing.
std::string kept_from(const TensorFile& file, int64_t& count) {
  const auto metadata = [&](const char* key) {
    const auto found = file.metadata.find(key);
    return found == file.metadata.end() ? std::string() : found->second;
  };
  if (metadata("format") != format) return "holds '" + metadata("format") + "', expected '" + format + "'";
  const auto is = [&](size_t i, Dtype dtype) { return file.tensors[i].dtype() == dtype; };
  if (file.names != std::vector<std::string>{"counts", "knots", "places"} || !is(0, Dtype::int64) ||
      !is(1, Dtype::float64) || !is(2, Dtype::float64))
    return "is damaged: other tensors than counts, knots and places";
  const std::string keys = metadata("keys");
  if (metadata("sha256") != checksum(keys, file.tensors)) return "is damaged: its checksum differs";
  const auto counts = file.tensors[0].to_vector<int64_t>();
  const auto knots = file.tensors[1].to_vector<double>(), places = file.tensors[2].to_vector<double>();
  std::istringstream lines(keys);
  std::string key;
  size_t at = 0;
  for (size_t t = 0; t < counts.size() && std::getline(lines, key); ++t) {
    const auto size = static_cast<size_t>(counts[t]);
    if (counts[t] < 0 || size > knots.size() - at || places.size() < 2 * t + 2) return "is damaged: sizes do not fit";
    std::vector<double> own(knots.begin() + static_cast<int64_t>(at), knots.begin() + static_cast<int64_t>(at + size));
    if (!is_table(own, places[2 * t], places[2 * t + 1])) return "is damaged: table " + std::to_string(t + 1);
    keep_table(key, std::make_shared<const LogitTable>(places[2 * t], places[2 * t + 1], std::move(own)));
    at += size;
    ++count;
  }
  return "";
}

/// How many tables were read, and why none could be, if so.
std::tuple<int64_t, std::optional<std::string>> load_tables(const std::string& path) {
  int64_t count = 0;
  try {
    const std::string problem = kept_from(read_safetensors(path), count);
    if (!problem.empty()) return {0, path + " " + problem};
  } catch (const std::exception& error) {
    return {0, error.what()};
  }
  return {count, std::nullopt};
}

int64_t count_tables() { return static_cast<int64_t>(kept_tables().size()); }

}  // namespace

using lua::op;
extern const lua::OpTable table_file_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&save_tables>("save_tables", "path", "Writes all tables of distributions that are kept; how many."),
        op<&load_tables>("load_tables", "path", "Reads such a file: how many tables, or 0 and why."),
        op<&count_tables>("count_tables", "", "How many tables of distributions are kept."),
    }};

}  // namespace mr
