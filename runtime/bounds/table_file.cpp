// Tables of smoothed distribution functions on disk: a safetensors file with a format version and a checksum. A file
// that is damaged or of another version is made again. A file of another format is not replaced.
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>

#include "kernels/core/numerics.h"
#include "runtime/bounds/smooth_cdf.h"
#include "runtime/io/regular_file.h"
#include "runtime/io/safetensors.h"
#include "runtime/io/sha256.h"
#include "runtime/io/text_file.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

/// The version of the file's layout. The numerics version is stored, too.
constexpr const char* format = "moonrank tables 2";

std::string_view bytes_of(const Tensor& x) {
  return {static_cast<const char*>(x.raw()), static_cast<size_t>(x.bytes())};
}

std::string checksum(const std::string& keys, const std::vector<Tensor>& tensors) {
  std::string all = keys;
  for (const Tensor& tensor : tensors) all += bytes_of(tensor);
  return io::sha256(all);
}

/// Writes all cached exact tables; returns their number.
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
  file.metadata = {
      {format_key, format}, {"keys", keys}, {"sha256", checksum(keys, file.tensors)}, {"numerics", numerics()}};
  write_safetensors(path, file);
  return static_cast<int64_t>(tables.size());
}

/// True if knots rise and slopes are nonnegative, as in every table that this program makes.
bool is_table(const std::vector<double>& knots, double first, double step) {
  bool good = knots.size() >= 2 && knots.size() % 2 == 0 && std::isfinite(first) && std::isfinite(step) &&
              (step > 0 || knots.size() == 2);
  for (size_t k = 0; good && k < knots.size(); k += 2) {
    good = std::isfinite(knots[k]) && std::isfinite(knots[k + 1]) && knots[k + 1] >= 0 &&
           (k == 0 || knots[k] >= knots[k - 2]);
  }
  return good;
}

/// A file's tables by key, all checked. Throws if the file is wrong.
class TableFile {
 public:
  explicit TableFile(const std::string& path) : path_(path) {
    TensorFile file = read_safetensors(path);
    if (file.metadata[format_key] != format)
      throw std::runtime_error(path + " holds " + mr::quoted(file.metadata[format_key]) + ", expected '" + format +
                               "'");
    if (file.metadata["numerics"] != numerics())
      throw std::runtime_error(path + " holds tables of another numerics version, " +
                               mr::quoted(file.metadata["numerics"]) + ", expected '" + numerics() + "'");
    const auto is = [&](size_t i, Dtype dtype) { return file.tensors[i].dtype() == dtype; };
    if (file.names != std::vector<std::string>{"counts", "knots", "places"} || !is(0, Dtype::int64) ||
        !is(1, Dtype::float64) || !is(2, Dtype::float64))
      damaged("expected exactly the tensors counts, knots and places");
    const std::string keys = file.metadata["keys"];
    if (file.metadata["sha256"] != checksum(keys, file.tensors)) damaged("its checksum does not match");
    read(lines_of(keys), file.tensors[0].to_vector<int64_t>(), file.tensors[1].to_vector<double>(),
         file.tensors[2].to_vector<double>());
  }

  std::vector<std::pair<std::string, std::shared_ptr<const LogitTable>>> tables;

 private:
  [[noreturn]] void damaged(const std::string& why) const { throw std::runtime_error(path_ + " is damaged: " + why); }

  static std::vector<std::string> lines_of(const std::string& keys) {
    std::vector<std::string> lines;
    std::istringstream text(keys);
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  void read(const std::vector<std::string>& keys, const std::vector<int64_t>& counts, const std::vector<double>& knots,
            const std::vector<double>& places) {
    if (counts.size() != keys.size() || places.size() != 2 * keys.size())
      damaged("counts, places and keys disagree about the number of tables");
    if (std::set<std::string>(keys.begin(), keys.end()).size() != keys.size()) damaged("it holds a table twice");
    auto next = knots.begin();
    for (size_t t = 0; t < keys.size(); ++t) {
      if (counts[t] < 0 || counts[t] > knots.end() - next)
        damaged("the sizes of its tables do not add up to the number of knots");
      std::vector<double> own(next, next + counts[t]);
      next += counts[t];
      if (!is_table(own, places[2 * t], places[2 * t + 1])) damaged("invalid table " + std::to_string(t + 1));
      tables.emplace_back(keys[t],
                          std::make_shared<const LogitTable>(places[2 * t], places[2 * t + 1], std::move(own)));
    }
    if (next != knots.end()) damaged("the sizes of its tables do not add up to the number of knots");
  }

  const std::string& path_;
};

/// Returns the number of tables that were read and, if none could be, the reason. Tables are kept only after the whole
/// file was checked. Throws if the file is not a table file, which must not be replaced.
std::tuple<int64_t, std::optional<std::string>> load_tables(const std::string& path) {
  io::need_regular(path);
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (failed) throw std::runtime_error(path + ": cannot read: " + failed.message());
  if (size == 0) return {0, std::nullopt};
  if (const std::string why = foreign_to(format, path); !why.empty()) throw std::runtime_error(path + ": " + why);
  try {
    const TableFile read(path);
    for (const auto& [key, table] : read.tables) keep_table(key, table);
    return {static_cast<int64_t>(read.tables.size()), std::nullopt};
  } catch (const std::runtime_error& error) {
    return {0, error.what()};
  }
}

int64_t count_tables() { return static_cast<int64_t>(kept_tables().size()); }

}  // namespace

using lua::op;
extern const lua::OpTable table_file_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&save_tables>("save_tables", "path",
                         "Writes all cached tables of exact distributions; returns their number."),
        op<&load_tables>("load_tables", "path",
                         "Reads a file of tables. Returns their number, or 0 and the reason. Raises an error for a "
                         "file of another format."),
        op<&count_tables>("count_tables", "", "Number of cached tables of exact distributions."),
        op<&rejected_tables>(
            "rejected_tables", "",
            "Number of tables from files that did not match their shapes' moments and were computed again."),
        op<&distribution_seconds>("distribution_seconds", "",
                                  "Seconds that this process has spent computing distributions."),
    }};

}  // namespace mr
