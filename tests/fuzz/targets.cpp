#include "tests/fuzz/targets.h"

#include <cstring>
#include <numeric>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "runtime/bounds/samples/sample_file.h"
#include "runtime/data/csv.h"
#include "runtime/data/interactions/ratings.h"
#include "runtime/data/letor/letor.h"
#include "runtime/data/letor/letor_cache_file.h"
#include "runtime/data/trec.h"
#include "runtime/io/files/text_file.h"
#include "runtime/io/formats/json.h"
#include "runtime/io/formats/npy.h"
#include "runtime/io/formats/safetensors.h"
#include "runtime/ranking/metric.h"
#include "tests/fuzz/binary_targets.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/lua_targets.h"
#include "tests/fuzz/reading.h"
#include "tests/fuzz/store_targets.h"

namespace mr::fuzz {
namespace {

int64_t sum(const std::vector<int64_t>& sizes) { return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}); }

void letor(std::string_view bytes) {
  const auto [bits, text] = split(bytes);
  const LetorOptions options{.features = (bits & 1) != 0 ? 5 : 0,
                             .any_order = (bits & 2) != 0,
                             .null = static_cast<Null>((bits >> 2) % 3),
                             .qid_optional = (bits & 16) != 0};
  read_file(text, [&, bits = bits](const std::string& path) {
    // pieces of 16 bytes, so that lines are cut by the borders of pieces
    const LetorFile file = read_letor(path, options, (bits & 32) != 0 ? 16 : letor_piece);
    const auto rows = static_cast<int64_t>(file.labels.size());
    need(sum(file.sizes) == rows && file.sizes.size() == file.qids.size(), "letor: sizes");
    need(file.features.entries() == rows * file.width, "letor: features");
    need(file.documents.empty() || static_cast<int64_t>(file.documents.size()) == rows, "letor: documents");
  });
}

void csv(std::string_view bytes) {
  const auto [bits, text] = split(bytes);
  read_file(text, [&, bits = bits](const std::string& path) {
    CsvReader reader(path, (bits & 1) != 0 ? ';' : ',');
    CsvRecord record;
    int64_t line = 0;
    while (reader.next(record)) {
      need(!record.fields.empty() && record.line > line, "csv: records");
      line = record.line;
    }
  });
}

void ratings(std::string_view bytes) {
  const auto parts = split(bytes);
  const unsigned bits = parts.first;
  const std::string_view text = parts.second;
  RatingColumns columns{
      .rating_required = false, .header = (bits & 1) != 0, .duplicates = static_cast<Duplicates>((bits >> 1) % 5)};
  if (!columns.header)
    columns.user = "1", columns.item = "2", columns.rating = "3", columns.time = (bits & 16) != 0 ? "4" : "";
  columns.time_required = (bits & 64) != 0;
  // the text after a form feed is a second file
  const size_t end = (bits & 32) != 0 ? std::min(text.find('\f'), text.size()) : text.size();
  const MemoryFile second(text.substr(std::min(end + 1, text.size())));
  read_file(text.substr(0, end), [&](const std::string& path) {
    const bool two = end < text.size();
    const Ratings read = two ? read_rating_files({path, second.path()}, columns) : read_ratings(path, columns);
    need(read.file.size() == (two ? read.user.size() : 0), "ratings: files");
    need(read.user.size() == read.item.size() && read.user.size() == read.value.size(), "ratings: rows");
    need(read.time.empty() || read.time.size() == read.user.size(), "ratings: times");
    for (const int64_t u : read.user) need(u >= 1 && u <= static_cast<int64_t>(read.user_ids.size()), "ratings: users");
    for (const int64_t i : read.item) need(i >= 1 && i <= static_cast<int64_t>(read.item_ids.size()), "ratings: items");
  });
}

void libraries(std::string_view bytes) {
  read_file(bytes, [](const std::string& path) {
    const Ratings read = read_libraries(path);
    need(!read.user.empty() && read.user.size() == read.item.size(), "libraries: rows");
    std::set<std::pair<int64_t, int64_t>> pairs;
    for (size_t i = 0; i < read.user.size(); ++i)
      need(pairs.emplace(read.user[i], read.item[i]).second, "libraries: an item twice");
  });
}

void check_documents(const DocumentRows& rows) {
  need(sum(rows.sizes) == static_cast<int64_t>(rows.values.size()) && rows.values.size() == rows.documents.size(),
       "trec: rows");
  need(rows.sizes.size() == rows.ids.size(), "trec: queries");
}

void trec_run(std::string_view bytes) {
  read_file(bytes, [](const std::string& path) { check_documents(read_trec_run(path)); });
}

void trec_qrels(std::string_view bytes) {
  read_file(bytes, [](const std::string& path) { check_documents(read_trec_qrels(path)); });
}

void scores(std::string_view bytes) {
  const auto [bits, text] = split(bytes);
  const ScoreColumns columns =
      (bits & 1) != 0 ? ScoreColumns{} : ScoreColumns{.query = "1", .document = "2", .score = "3", .header = false};
  read_file(text, [&](const std::string& path) { check_documents(read_scores(path, columns)); });
}

void safetensors(std::string_view bytes) {
  read_file(bytes, [bytes](const std::string& path) {
    const TensorFile file = read_safetensors(path);
    need(file.names.size() == file.tensors.size(), "safetensors: names");
    uint64_t entries = 0, header = 0;  // a tensor has at least one byte per entry, so entries bound bytes from below
    for (const Tensor& x : file.tensors) entries += static_cast<uint64_t>(x.entries());
    std::memcpy(&header, bytes.data(), sizeof header);
    need(sizeof header + header + entries <= bytes.size(), "safetensors: bytes of two tensors, or of none");
  });
}

void npy(std::string_view bytes) {
  read_file(bytes, [bytes](const std::string& path) {
    need(static_cast<size_t>(io::read_npy(path).entries()) < bytes.size(), "npy: more entries than bytes");
  });
}

void npz(std::string_view bytes) {
  read_file(bytes, [](const std::string& path) {
    const io::NamedTensors found = io::read_npz(path);
    need(found.names.size() == found.tensors.size(), "npz: names");
  });
}

int depth_of(const nlohmann::json& value) {
  int deepest = 0;
  if (value.is_structured()) {
    for (const nlohmann::json& each : value) deepest = std::max(deepest, depth_of(each));
  }
  return value.is_structured() ? deepest + 1 : 0;
}

void json(std::string_view bytes) {
  try {
    // type io::Json, not its base class nlohmann::json, whose converting constructor fails on it
    const io::Json value = io::parse_json(bytes);
    need(depth_of(value) <= io::deepest_json, "json: deeper than the limit");
    const std::string text = value.dump();
    need(io::parse_json(text).dump() == text, "json: its own text reads back otherwise");
  } catch (const std::runtime_error&) {
  } catch (const nlohmann::json::type_error& error) {
    constexpr int no_utf8 = 316;  // nlohmann's error number for text that is not UTF-8, which dump() cannot write
    need(error.id == no_utf8, "json: a value that cannot be written");
  }
}

void packed_text(std::string_view bytes) {
  read_file(bytes, [](const std::string& path) { read_text_file(path, int64_t{1} << 24); });
}

void letor_cache(std::string_view bytes) {
  read_file(with_cache_checksums(std::string(bytes)), [](const std::string& path) {
    const auto opened = LetorCacheFile::open(path, cache_key);
    if (!opened) return;
    const LetorFile file = opened->load();
    for (const int64_t n : file.sizes) need(n >= 0, "letor_cache: a list of less than no rows");
    need(sum(file.sizes) == static_cast<int64_t>(file.labels.size()), "letor_cache: sizes");
    need(file.qids.size() == file.sizes.size(), "letor_cache: ids");
  });
}

void samples(std::string_view bytes) {
  read_file(with_sample_checksums(std::string(bytes)), [](const std::string& path) {
    const auto found = read_sample_file(path, sample_key);
    if (found) need(found->cdf(0.5) >= 0 && found->cdf(0.5) <= 1, "samples: a share");
  });
}

void metric_name(std::string_view bytes) {
  static const MetricRegistry registry;
  try {
    const Metric metric = registry.parse(std::string(bytes));
    need(registry.parse(metric.name).name == metric.name, "metric: its own name reads back otherwise");
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  }
}

std::map<std::string, Target> all_targets() {
  std::map<std::string, Target> all = {{"letor", &letor},
                                       {"csv", &csv},
                                       {"ratings", &ratings},
                                       {"libraries", &libraries},
                                       {"trec_run", &trec_run},
                                       {"trec_qrels", &trec_qrels},
                                       {"scores", &scores},
                                       {"safetensors", &safetensors},
                                       {"npy", &npy},
                                       {"npz", &npz},
                                       {"json", &json},
                                       {"packed_text", &packed_text},
                                       {"letor_cache", &letor_cache},
                                       {"samples", &samples},
                                       {"metric_name", &metric_name}};
  all.merge(binary_targets());
  all["store"] = &store;
  all.merge(lua_targets());
  return all;
}

}  // namespace

const std::map<std::string, Target>& targets() {
  static const std::map<std::string, Target> all = all_targets();
  return all;
}

}  // namespace mr::fuzz
