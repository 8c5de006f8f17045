// Tests of tree models from untrusted files: a model that is accepted is safe to predict with, even if its text was
// changed.
#include <cmath>
#include <iostream>
#include <random>

#include <catch2/catch.hpp>

#include "runtime/models/xgboost.h"

namespace mr {
namespace {

const TreeShape shape{.features = 3, .classes = 0, .objective = "reg:squarederror"};

bool can_grow() {
  try {
    xgboost();
    return true;
  } catch (const std::exception& error) {
    std::cout << "SKIPPED: " << error.what() << '\n';
    return false;
  }
}

std::vector<float> made_up(size_t rows) {
  std::mt19937 random(1);
  std::vector<float> x(rows * 3);
  for (float& each : x) each = static_cast<float>(random()) * 0x1p-32F;
  return x;
}

void make_matrix(TreeMatrix& matrix, const std::vector<float>& x) {
  const Xgboost& library = xgboost();
  library.check(library.matrix_create(x.data(), x.size() / 3, 3, NAN, &matrix.handle, 1));
}

/// Returns a model of a few trees as XGBoost's JSON. Some nodes of the trees are pruned.
std::string grown() {
  const Xgboost& library = xgboost();
  const std::vector<float> x = made_up(60);
  std::vector<float> y;
  for (size_t i = 0; i < 60; ++i) y.push_back(x[3 * i] > 0.5F ? 1 + x[3 * i + 1] : x[3 * i + 2]);
  TreeMatrix matrix(60, 3);
  make_matrix(matrix, x);
  library.check(library.matrix_floats(matrix.handle, "label", y.data(), y.size()));
  TreeBooster booster;
  void* const handles[] = {matrix.handle};
  library.check(library.create(handles, 1, &booster.handle));
  const char* const parameters[][2] = {{"objective", "reg:squarederror"},
                                       {"gamma", "0.05"},
                                       {"tree_method", "exact"},
                                       {"nthread", "1"},
                                       {"max_depth", "4"}};
  for (const auto& each : parameters) library.check(library.set(booster.handle, each[0], each[1]));
  for (int i = 0; i < 3; ++i) library.check(library.update(booster.handle, i, matrix.handle));
  uint64_t size = 0;
  const char* bytes = nullptr;
  library.check(library.save(booster.handle, R"({"format": "json"})", &size, &bytes));
  return {bytes, size};
}

/// Loads a model from text, computes predictions and feature importances, and returns the predictions.
std::vector<float> scores_of(const std::string& text) {
  const Xgboost& library = xgboost();
  TreeBooster booster;
  library.check(library.create(nullptr, 0, &booster.handle));
  library.check(library.load(booster.handle, text.data(), text.size()));
  TreeMatrix matrix(40, 3);
  make_matrix(matrix, made_up(40));
  const uint64_t* sizes = nullptr;
  uint64_t dims = 0, count = 0;
  const float* scores = nullptr;
  library.check(library.predict(
      booster.handle, matrix.handle,
      R"({"type": 1, "training": false, "iteration_begin": 0, "iteration_end": 0, "strict_shape": true})", &sizes,
      &dims, &scores));
  std::vector<float> found(scores, scores + 40);
  const char** names = nullptr;
  library.check(
      library.importance(booster.handle, R"({"importance_type": "gain"})", &count, &names, &dims, &sizes, &scores));
  return found;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const size_t at = text.find(what);
  INFO(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("checked_trees keeps the scores of valid trees") {
  if (!can_grow()) return;
  const std::string text = grown();
  CHECK(text.find("\"num_deleted\":\"0\"") == std::string::npos);
  const std::string checked = checked_trees(text, shape);
  CHECK(scores_of(checked) == scores_of(text));
  CHECK(checked_trees(checked, shape) == checked);
}

TEST_CASE("checked_trees rejects trees with indices, types or counts out of range") {
  if (!can_grow()) return;
  const std::string text = checked_trees(grown(), shape);
  const auto refused = [&](const std::string& what, const std::string& by) {
    INFO(what << " -> " << by);
    CHECK_THROWS_AS(checked_trees(replaced(text, what, by), shape), std::runtime_error);
  };
  for (const char* child : {"1000000,", "0,", "2,", "-1,", "-7,", "1.5,", "", "\"1\",", "18446744073709551615,"})
    refused("\"left_children\":[1,", std::string("\"left_children\":[") + child);
  for (const char* feature : {"3,", "-1,", "4294967295,", "18446744073709551615,", "null,"})
    refused("\"split_indices\":[0,", std::string("\"split_indices\":[") + feature);
  refused("\"split_type\":[0,", "\"split_type\":[1,");
  refused("\"categories\":[]", "\"categories\":[1]");
  refused("\"tree_info\":[0,", "\"tree_info\":[1,");
  refused("\"num_parallel_tree\":\"1\"", "\"num_parallel_tree\":\"0\"");
  refused("\"num_parallel_tree\":\"1\"", "\"num_parallel_tree\":\"2\"");
  refused("\"num_feature\":\"3\"", "\"num_feature\":\"4\"");
  refused("\"num_class\":\"0\"", "\"num_class\":\"7\"");
  refused("\"num_nodes\":\"", "\"num_nodes\":\"9");
  refused("\"name\":\"gbtree\"", "\"name\":\"gblinear\"");
  refused("\"base_score\":\"5E-1\"", "\"base_score\":\"nan\"");
  refused("\"base_score\":\"5E-1\"", "\"base_score\":0.5");
  refused("{\"learner\"", "{\"other\"");
  for (const char* other : {"", "[]", "null", "{\"learner\": []}", "{\"learner\": {\"learner_model_param\": 1}}"})
    CHECK_THROWS_AS(checked_trees(other, shape), std::runtime_error);
  CHECK_THROWS_AS(checked_trees(std::string(100000, '['), shape), std::runtime_error);
}

TEST_CASE("checked_trees rejects trees with random changes or returns trees that predict without NaN") {
  if (!can_grow()) return;
  const std::string text = grown();
  std::mt19937 random(7);
  const std::string drawn = "0123456789-.,[]{}\":eEtn";
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string changed = text;
    for (uint32_t i = 0, n = 1 + random() % 3; i < n; ++i)
      changed[random() % changed.size()] = drawn[random() % drawn.size()];
    if (round % 50 == 0) changed.resize(random() % changed.size());
    try {
      const std::string checked = checked_trees(changed, shape);
      for (const float score : scores_of(checked)) CHECK_FALSE(std::isnan(score));
      ++accepted;
    } catch (const std::runtime_error&) {
    }
  }
  CHECK(accepted > 100);
}

}  // namespace mr
