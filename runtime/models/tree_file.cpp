// Trees from an untrusted file. XGBoost follows the indices of a saved tree without looking, so each is looked at here;
// what surrounds the trees is written anew, not copied.
#include <charconv>
#include <climits>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/io/json.h"
#include "runtime/models/xgboost.h"

namespace mr {
namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("its trees are not XGBoost's: " + what); }

const json& part(const json& of, const char* name) {
  if (!of.is_object() || !of.contains(name)) fail(std::string("no '") + name + "'");
  return of[name];
}

/// XGBoost writes parameters as texts.
template <class T>
T number(const json& of, const char* name) {
  const json& text = part(of, name);
  T value{};
  if (!text.is_string()) fail(std::string("'") + name + "' is no text");
  const auto& digits = text.get_ref<const std::string&>();
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
    fail(std::string("'") + name + "' is no number");
  return value;
}

void expect(const char* name, int64_t found, int64_t expected) {
  if (found != expected)
    fail(std::string("'") + name + "' is " + std::to_string(found) + ", expected " + std::to_string(expected));
}

const json& array(const json& of, const char* name, size_t size) {
  const json& found = part(of, name);
  if (!found.is_array()) fail(std::string("'") + name + "' is no array");
  expect(name, static_cast<int64_t>(found.size()), static_cast<int64_t>(size));
  return found;
}

/// Integers from `least` to `most`.
std::vector<int64_t> integers(const json& of, const char* name, size_t size, int64_t least, int64_t most) {
  std::vector<int64_t> values;
  values.reserve(size);
  for (const json& each : array(of, name, size)) {
    if (!each.is_number_integer() || (each.is_number_unsigned() && each.get<uint64_t>() > UINT_MAX) ||
        each.get<int64_t>() < least || each.get<int64_t>() > most)
      fail(std::string("an entry of '") + name + "' is none from " + std::to_string(least) + " to " +
           std::to_string(most));
    values.push_back(each.get<int64_t>());
  }
  return values;
}

/// The nodes of a tree that can be reached from its root, in the order of being met. Pruning leaves others behind.
class ReachedNodes {
 public:
  ReachedNodes(const json& tree, size_t size) : size_(size) {
    const auto last = static_cast<int64_t>(size) - 1;
    const auto left = integers(tree, "left_children", size, -1, last);
    const auto right = integers(tree, "right_children", size, -1, last);
    std::vector<bool> met(size, false);
    meet(0, INT_MAX, met);
    for (size_t i = 0; i < old_.size(); ++i) {
      const int64_t l = left[old_[i]], r = right[old_[i]];
      if ((l < 0) != (r < 0)) fail("a node has one child");
      left_.push_back(l < 0 ? -1 : static_cast<int64_t>(old_.size()));
      right_.push_back(l < 0 ? -1 : static_cast<int64_t>(old_.size()) + 1);
      if (l < 0) continue;
      for (const int64_t child : {l, r}) meet(child, static_cast<int64_t>(i), met);
    }
  }

  size_t count() const { return old_.size(); }
  void put_links(json& made) const {
    made["left_children"] = left_;
    made["right_children"] = right_;
    made["parents"] = parents_;
  }
  bool splits(size_t i) const { return left_[i] >= 0; }
  /// Integers of those that split, in a range; 0 of leaves.
  std::vector<int64_t> of_splits(const json& tree, const char* name, int64_t most) const {
    const auto all = integers(tree, name, size_, INT_MIN, UINT_MAX);
    std::vector<int64_t> values;
    for (size_t i = 0; i < count(); ++i) {
      const int64_t value = splits(i) ? all[old_[i]] : 0;
      if (value < 0 || value > most)
        fail(std::string("'") + name + "' of a node is " + std::to_string(value) + ", expected 0 to " +
             std::to_string(most));
      values.push_back(value);
    }
    return values;
  }
  /// Numbers that float32 can hold, written so that XGBoost reads them as such.
  json floats(const json& tree, const char* name) const {
    const json& all = array(tree, name, size_);
    json values = json::array();
    for (const int64_t node : old_) {
      const json& each = all[static_cast<size_t>(node)];
      if (!each.is_number() || !(std::abs(each.get<double>()) <= 3.4028235e38))
        fail(std::string("an entry of '") + name + "' is no float32");
      values.push_back(each.get<double>());
    }
    return values;
  }

 private:
  void meet(int64_t node, int64_t parent, std::vector<bool>& met) {
    if (met[static_cast<size_t>(node)]) fail("a node is met twice");
    met[static_cast<size_t>(node)] = true;
    old_.push_back(node);
    parents_.push_back(parent);
  }

  size_t size_;
  std::vector<int64_t> old_, left_, right_, parents_;
};

json checked_tree(const json& tree, int64_t id, const TreeShape& shape) {
  const json& parameters = part(tree, "tree_param");
  const auto size = static_cast<size_t>(number<uint32_t>(parameters, "num_nodes"));
  expect("num_feature", number<int64_t>(parameters, "num_feature"), shape.features);
  if (size == 0 || size > INT_MAX || size != part(tree, "left_children").size()) fail("'num_nodes' is not as many");
  const ReachedNodes nodes(tree, size);
  json made = {{"id", id},
               {"split_indices", nodes.of_splits(tree, "split_indices", shape.features - 1)},
               {"split_type", nodes.of_splits(tree, "split_type", 0)},
               {"default_left", nodes.of_splits(tree, "default_left", 1)}};
  nodes.put_links(made);
  for (const char* name : {"base_weights", "loss_changes", "split_conditions", "sum_hessian"})
    made[name] = nodes.floats(tree, name);
  for (const char* name : {"categories", "categories_nodes", "categories_segments", "categories_sizes"})
    made[name] = array(tree, name, 0);
  made["tree_param"] = {{"num_deleted", "0"},
                        {"num_feature", std::to_string(shape.features)},
                        {"num_nodes", std::to_string(nodes.count())},
                        {"size_leaf_vector", "0"}};
  return made;
}

json objective_of(const TreeShape& shape) {
  json made = {{"name", shape.objective}};
  if (shape.objective == "multi:softprob") {
    made["softmax_multiclass_param"] = {{"num_class", std::to_string(shape.classes)}};
  } else if (shape.objective.rfind("rank:", 0) == 0) {
    made["lambda_rank_param"] = {{"fix_list_weight", "0"}, {"num_pairsample", "1"}};
  } else {
    made["reg_loss_param"] = {{"scale_pos_weight", "1"}};
  }
  return made;
}

json checked_model(const json& model, const TreeShape& shape) {
  const json& trees = part(model, "trees");
  if (!trees.is_array() || trees.size() > INT_MAX) fail("'trees' is no array");
  const json& parameters = part(model, "gbtree_model_param");
  const auto parallel = number<int64_t>(parameters, "num_parallel_tree");
  const int64_t groups = std::max<int64_t>(1, shape.classes), count = static_cast<int64_t>(trees.size());
  if (parallel < 1 || parallel > INT_MAX || count % (parallel * groups) != 0)
    fail("'num_parallel_tree' does not divide the number of trees");
  json made = {{"gbtree_model_param",
                {{"num_parallel_tree", std::to_string(parallel)},
                 {"num_trees", std::to_string(count)},
                 {"size_leaf_vector", "0"}}},
               {"tree_info", integers(model, "tree_info", trees.size(), 0, groups - 1)},
               {"trees", json::array()}};
  for (const json& tree : trees)
    made["trees"].push_back(checked_tree(tree, static_cast<int64_t>(made["trees"].size()), shape));
  return made;
}

}  // namespace

std::string checked_trees(const std::string& text, const TreeShape& shape) {
  const io::Json whole = io::parse_json(text);
  const json& learner = part(whole, "learner");
  const json& parameters = part(learner, "learner_model_param");
  const json& booster = part(learner, "gradient_booster");
  expect("num_feature", number<int64_t>(parameters, "num_feature"), shape.features);
  expect("num_class", number<int64_t>(parameters, "num_class"), shape.classes);
  const auto base = number<double>(parameters, "base_score");
  if (!(std::abs(base) <= 1e30)) fail("'base_score' is no finite number");
  if (shape.objective == "binary:logistic" && !(base > 0 && base < 1)) fail("'base_score' is no probability");
  if (part(booster, "name") != "gbtree") fail("its booster is not 'gbtree'");
  const json made = {
      {"version", {1, 7, 4}},
      {"learner",
       {{"attributes", json::object()},
        {"feature_names", json::array()},
        {"feature_types", json::array()},
        {"gradient_booster", {{"name", "gbtree"}, {"model", checked_model(part(booster, "model"), shape)}}},
        {"learner_model_param",
         {{"base_score", part(parameters, "base_score")},
          {"boost_from_average", "1"},
          {"num_class", std::to_string(shape.classes)},
          {"num_feature", std::to_string(shape.features)},
          {"num_target", "1"}}},
        {"objective", objective_of(shape)}}}};
  return made.dump();
}

}  // namespace mr
