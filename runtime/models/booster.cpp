// Boosted trees by XGBoost, for Lua: data, boosting rounds by XGBoost's objectives or by given gradients, scores,
// importances, and trees as tensors.
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/io/files/checksum.h"
#include "runtime/models/xgboost.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

/// Returns XGBoost's handle of the booster. Waits first for a boosting round that is still being grown after Ctrl-C.
void* settled(const Booster& booster) {
  booster->growing.settle();
  return booster->handle;
}

Tensor host_floats(const Tensor& x) { return x.data().to(Device::cpu).to(Dtype::float32); }

/// Passes grades, list sizes and list weights to XGBoost. Empty lists are skipped, because XGBoost recognizes lists by
/// their rows.
void add_lists(const TreeMatrix& matrix, const Lists& lists) {
  const Xgboost& library = xgboost();
  if (lists.rows() != matrix.rows)
    throw ArgumentError("lists",
                        std::to_string(lists.rows()) + " rows, but features have " + std::to_string(matrix.rows));
  const Span<const float> grades = lists.relevance(Device::cpu).span<const float>();
  library.check(library.matrix_floats(matrix.handle, "label", grades.data, static_cast<uint64_t>(lists.rows())));
  std::vector<unsigned> sizes;
  std::vector<float> weights;
  for (int64_t l = 0; l < lists.count(); ++l) {
    const int64_t size = lists.offsets()[l + 1] - lists.offsets()[l];
    if (size == 0) continue;
    sizes.push_back(static_cast<unsigned>(size));
    if (!lists.list_weights().empty()) weights.push_back(static_cast<float>(lists.list_weights()[l]));
  }
  library.check(library.matrix_counts(matrix.handle, "group", sizes.data(), sizes.size()));
  if (!weights.empty()) library.check(library.matrix_floats(matrix.handle, "weight", weights.data(), weights.size()));
}

/// Limits the threads: OpenMP ends the program if the system refuses a thread.
void check_threads(int64_t threads) {
  constexpr int64_t most = 1024;
  if (threads < 0 || threads > most)
    throw ArgumentError("threads", std::to_string(threads) + ", expected 0 to " + std::to_string(most));
}

TreeData tree_data(const Tensor& features, const std::optional<Lists>& lists, int64_t threads) {
  const Xgboost& library = xgboost();
  if (features.dims() != 2) throw ArgumentError("features", "expected a tensor with two dimensions, rows and columns");
  check_threads(threads);
  const Tensor here = host_floats(features);
  auto matrix = std::make_shared<TreeMatrix>(features.size(0), features.size(1));
  library.check(library.matrix_create(here.span<float>().data, static_cast<uint64_t>(matrix->rows),
                                      static_cast<uint64_t>(matrix->columns), std::numeric_limits<float>::quiet_NaN(),
                                      &matrix->handle, static_cast<int>(threads)));
  if (lists) add_lists(*matrix, *lists);
  return matrix;
}

void set_all(const Booster& booster, const std::vector<std::string>& names, const std::vector<std::string>& values) {
  check::as_many("values", values.size(), "name", names.size());
  for (size_t i = 0; i < names.size(); ++i)
    xgboost().check(xgboost().set(settled(booster), names[i].c_str(), values[i].c_str()));
}

Booster make_booster(const TreeData& data, const std::vector<std::string>& names,
                     const std::vector<std::string>& values) {
  auto booster = std::make_shared<TreeBooster>();
  void* const handles[] = {data->handle};
  xgboost().check(xgboost().create(handles, 1, &booster->handle));
  // Sets the number of features now. Otherwise XGBoost would count features when it first scores, when the data may be
  // freed.
  xgboost().check(xgboost().set(booster->handle, "num_feature", std::to_string(data->columns).c_str()));
  set_all(booster, names, values);
  return booster;
}

int64_t rounds_of(const Booster& booster) {
  int rounds = 0;
  xgboost().check(xgboost().rounds(settled(booster), &rounds));
  return rounds;
}

void update(const Booster& booster, const TreeData& data, int64_t round) {
  booster->growing.run(
      [=] { xgboost().check(xgboost().update(booster->handle, static_cast<int>(round), data->handle)); });
}

std::vector<float> derivatives(const char* name, const Tensor& x, int64_t rows) {
  std::vector<float> values = host_floats(x).to_vector<float>();
  if (static_cast<int64_t>(values.size()) != rows)
    throw ArgumentError(
        name, std::to_string(values.size()) + " entries, expected one for each of " + std::to_string(rows) + " rows");
  for (const float value : values) {
    if (!std::isfinite(value))
      throw std::runtime_error(std::string("the ") + name + " of a row is " + std::to_string(value) +
                               ", expected a finite number");
  }
  return values;
}

void boost(const Booster& booster, const TreeData& data, const Tensor& gradient, const Tensor& hessian) {
  auto first = derivatives("gradient", gradient, data->rows);
  auto second = derivatives("hessian", hessian, data->rows);
  booster->growing.run([=]() mutable {
    xgboost().check(xgboost().boost(booster->handle, data->handle, first.data(), second.data(), first.size()));
  });
}

/// Computes scores by the first `rounds` boosting rounds (0: all).
Tensor scores_of(const Booster& booster, const TreeData& data, int64_t rounds, bool transformed) {
  const std::string config = R"({"type": )" + std::string(transformed ? "0" : "1") +
                             R"(, "training": false, "iteration_begin": 0, "iteration_end": )" +
                             std::to_string(rounds) + R"(, "strict_shape": true})";
  const uint64_t *shape = nullptr, rows = static_cast<uint64_t>(data->rows);
  uint64_t dims = 0;
  const float* values = nullptr;
  xgboost().check(xgboost().predict(settled(booster), data->handle, config.c_str(), &shape, &dims, &values));
  if (dims < 1 || shape[0] != rows) throw std::runtime_error("XGBoost returned scores for a wrong number of rows");
  int64_t columns = 1;
  for (uint64_t d = 1; d < dims; ++d) columns *= static_cast<int64_t>(shape[d]);
  const Shape wanted = columns == 1 ? Shape{data->rows} : Shape{data->rows, columns};
  return Tensor::from_bytes(values, wanted, Dtype::float32, Device::cpu);
}

std::string text_of(const TreeBooster& booster) {
  booster.growing.settle();
  uint64_t size = 0;
  const char* bytes = nullptr;
  xgboost().check(xgboost().save(booster.handle, R"({"format": "json"})", &size, &bytes));
  return {bytes, static_cast<size_t>(size)};
}

/// Returns a booster with the first boosting rounds only, or with all.
std::shared_ptr<TreeBooster> first_rounds(const Booster& booster, int64_t rounds) {
  auto part = std::make_shared<TreeBooster>();
  xgboost().check(xgboost().slice(settled(booster), 0, static_cast<int>(rounds), 1, &part->handle));
  return part;
}

/// Returns the first boosting rounds as an int64 tensor: number of bytes, checksum, and the bytes of XGBoost's JSON.
Tensor to_tensor(const Booster& booster, int64_t rounds) {
  const std::string text = text_of(rounds < rounds_of(booster) ? *first_rounds(booster, rounds) : *booster);
  std::vector<int64_t> words(2 + (text.size() + 7) / 8, 0);
  words[0] = static_cast<int64_t>(text.size());
  words[1] = static_cast<int64_t>(io::checksum(text));
  std::memcpy(words.data() + 2, text.data(), text.size());
  return Tensor::from(words);
}

Booster read_booster(const Tensor& tensor, int64_t features, int64_t classes, const std::string& objective,
                     int64_t threads) {
  const Xgboost& library = xgboost();
  check_threads(threads);
  if (tensor.dtype() != Dtype::int64 || tensor.dims() != 1)
    throw std::runtime_error("its trees are not an int64 vector");
  const std::vector<int64_t> words = tensor.to_vector<int64_t>();
  const auto most = static_cast<int64_t>(words.size()) * 8 - 16;
  if (most < 0 || words[0] < 0 || words[0] > most || most - words[0] >= 8)
    throw std::runtime_error("its trees are damaged: the tensor has another length than its first number says");
  const std::string text(reinterpret_cast<const char*>(words.data() + 2), static_cast<size_t>(words[0]));
  if (static_cast<int64_t>(io::checksum(text)) != words[1])
    throw std::runtime_error("its trees are damaged: the checksum does not match");
  const std::string checked = checked_trees(text, {features, classes, objective});
  auto booster = std::make_shared<TreeBooster>();
  library.check(library.create(nullptr, 0, &booster->handle));
  library.check(library.load(settled(booster), checked.data(), checked.size()));
  library.check(library.set(settled(booster), "nthread", std::to_string(threads).c_str()));
  return booster;
}

/// Returns the features that the first boosting rounds use, counted from 1, and their importances.
std::tuple<std::vector<int64_t>, std::vector<double>> importance_of(const Booster& booster, const std::string& kind,
                                                                    int64_t rounds) {
  const Booster part = rounds < rounds_of(booster) ? first_rounds(booster, rounds) : booster;
  const std::string config = R"({"importance_type": ")" + kind + "\"}";
  uint64_t count = 0, dims = 0;
  const char** names = nullptr;
  const uint64_t* shape = nullptr;
  const float* scores = nullptr;
  xgboost().check(xgboost().importance(settled(part), config.c_str(), &count, &names, &dims, &shape, &scores));
  std::tuple<std::vector<int64_t>, std::vector<double>> found;
  for (uint64_t i = 0; i < count; ++i) {
    // XGBoost names features "f0", "f1", ...; the result counts from 1
    std::get<0>(found).push_back(std::stoll(names[i] + 1) + 1);
    std::get<1>(found).push_back(scores[i]);
  }
  return found;
}

std::string xgboost_version() { return xgboost().version(); }

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable booster_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&xgboost_version>("xgboost_version", "",
                             "Version of XGBoost's library. Raises an error if the library is missing."),
        op<&tree_data>("tree_data", "features, lists?, threads",
                       "Feature rows for trees, float32 with NaN for missing values, with the grades of lists."),
        op<&make_booster>("booster", "data, names, values", "A booster without trees for these data, with parameters."),
        op<&read_booster>("read_booster", "tensor, features, classes, objective, threads",
                          "Restores trees from the tensor of :to_tensor. They are checked before XGBoost reads them."),
    }};
extern const lua::OpTable booster_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Booster>,
    {
        op<&set_all>("set", "self, names, values", "Sets parameters."),
        once<&update>("update", "self, data, round", "Adds a round of trees by XGBoost's objective."),
        once<&boost>("boost", "self, data, gradient, hessian",
                     "Adds a round of trees by the given derivatives, one of each per row."),
        op<&scores_of>("scores", "self, data, rounds, transformed",
                       "Scores [rows] or [rows, classes] by the first rounds (0: all), with or without the objective's "
                       "transformation."),
        op<&to_tensor>("to_tensor", "self, rounds", "The trees of the first rounds as an int64 vector."),
        op<&importance_of>("importance", "self, kind, rounds",
                           "Features that the first rounds use, from 1, with their gain, cover or weight."),
    }};
extern const lua::OpTable booster_getters{
    lua::OpTable::getters, &lua::push_metatable<Booster>, {op<&rounds_of>("rounds", "self", "Number of rounds.")}};

}  // namespace mr
