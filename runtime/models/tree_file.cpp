// Reads XGBoost trees from an untrusted file. XGBoost does not check the indices of a saved tree, so this file checks
// all of them. Only the trees are copied; everything around them is written anew.
#include <charconv>
#include <climits>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/io/formats/json.h"
#include "runtime/models/xgboost.h"

namespace mr {
namespace {

using io::json_object, io::json_text;
using nlohmann::json;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("its trees are not valid XGBoost trees: " + what);
}

const json& part(const json& of, const char* name) {
  if (!of.is_object() || !of.contains(name)) fail(std::string("no '") + name + "'");
  return of[name];
}

/// Returns a parameter of the JSON text as a number. XGBoost writes such parameters as strings.
template <class T>
T number(const json& of, const char* name) {
  const json& text = part(of, name);
  T value{};
  if (!text.is_string()) fail(std::string("'") + name + "' is not a string");
  const auto& digits = text.get_ref<const std::string&>();
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size())
    fail(std::string("'") + name + "' is not a number");
  return value;
}

void expect(const char* name, int64_t found, int64_t expected) {
  if (found != expected)
    fail(std::string("'") + name + "' is " + std::to_string(found) + ", expected " + std::to_string(expected) +
         ", as elsewhere in the file");
}

const json& array(const json& of, const char* name, size_t size) {
  const json& found = part(of, name);
  if (!found.is_array()) fail(std::string("'") + name + "' is not an array");
  expect(name, static_cast<int64_t>(found.size()), static_cast<int64_t>(size));
  return found;
}

/// Reads an array of integers from `least` to `most`.
std::vector<int64_t> integers(const json& of, const char* name, size_t size, int64_t least, int64_t most) {
  std::vector<int64_t> values;
  values.reserve(size);
  for (const json& each : array(of, name, size)) {
    if (!each.is_number_integer() || (each.is_number_unsigned() && each.get<uint64_t>() > UINT_MAX) ||
        each.get<int64_t>() < least || each.get<int64_t>() > most)
      fail(std::string("an entry of '") + name + "' is not an integer from " + std::to_string(least) + " to " +
           std::to_string(most));
    values.push_back(each.get<int64_t>());
  }
  return values;
}

std::string text_of(int64_t value) { return std::to_string(value); }
std::string text_of(double value) { return json_text(value); }

template <class T>
std::string array_of(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? "," : "") + text_of(value);
  return text + "]";
}

std::string quoted(int64_t value) { return json_text(std::to_string(value)); }

/// Finds the nodes of a tree that are reachable from its root, in breadth-first order. Pruning leaves unreachable
/// nodes.
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
      if ((l < 0) != (r < 0)) fail("a node has only one child");
      left_.push_back(l < 0 ? -1 : static_cast<int64_t>(old_.size()));
      right_.push_back(l < 0 ? -1 : static_cast<int64_t>(old_.size()) + 1);
      if (l < 0) continue;
      for (const int64_t child : {l, r}) meet(child, static_cast<int64_t>(i), met);
    }
  }

  size_t count() const { return old_.size(); }
  void put_links(std::map<std::string, std::string>& made) const {
    made["left_children"] = array_of(left_);
    made["right_children"] = array_of(right_);
    made["parents"] = array_of(parents_);
  }
  bool splits(size_t i) const { return left_[i] >= 0; }
  /// Reads an integer for each node: for nodes that split it must be from 0 to `most`, for leaves 0 is returned.
  std::string of_splits(const json& tree, const char* name, int64_t most) const {
    const auto all = integers(tree, name, size_, INT_MIN, UINT_MAX);
    std::vector<int64_t> values;
    for (size_t i = 0; i < count(); ++i) {
      const int64_t value = splits(i) ? all[old_[i]] : 0;
      if (value < 0 || value > most)
        fail(std::string("'") + name + "' of a node is " + std::to_string(value) + ", expected 0 to " +
             std::to_string(most));
      values.push_back(value);
    }
    return array_of(values);
  }
  /// Reads an array of float32 numbers, one for each node, and returns it as JSON text from which XGBoost reads the
  /// same values.
  std::string floats(const json& tree, const char* name) const {
    const json& all = array(tree, name, size_);
    std::vector<double> values;
    for (const int64_t node : old_) {
      const json& each = all[static_cast<size_t>(node)];
      if (!each.is_number() || !(std::abs(each.get<double>()) <= 3.4028235e38))
        fail(std::string("an entry of '") + name + "' is not a float32 number");
      values.push_back(each.get<double>());
    }
    return array_of(values);
  }

 private:
  void meet(int64_t node, int64_t parent, std::vector<bool>& met) {
    if (met[static_cast<size_t>(node)]) fail("a node has two parents");
    met[static_cast<size_t>(node)] = true;
    old_.push_back(node);
    parents_.push_back(parent);
  }

  size_t size_;
  std::vector<int64_t> old_, left_, right_, parents_;
};

std::string checked_tree(const json& tree, int64_t id, const TreeShape& shape) {
  const json& parameters = part(tree, "tree_param");
  const auto size = static_cast<size_t>(number<uint32_t>(parameters, "num_nodes"));
  expect("num_feature", number<int64_t>(parameters, "num_feature"), shape.features);
  if (size == 0 || size > INT_MAX || size != part(tree, "left_children").size())
    fail("'num_nodes' is not the number of nodes");
  const ReachedNodes nodes(tree, size);
  std::map<std::string, std::string> made = {
      {"id", text_of(id)},
      {"split_indices", nodes.of_splits(tree, "split_indices", shape.features - 1)},
      {"split_type", nodes.of_splits(tree, "split_type", 0)},
      {"default_left", nodes.of_splits(tree, "default_left", 1)}};
  nodes.put_links(made);
  for (const char* name : {"base_weights", "loss_changes", "split_conditions", "sum_hessian"})
    made[name] = nodes.floats(tree, name);
  for (const char* name : {"categories", "categories_nodes", "categories_segments", "categories_sizes"})
    made[name] = array(tree, name, 0).dump();
  made["tree_param"] = json_object({{"num_deleted", quoted(0)},
                                    {"num_feature", quoted(shape.features)},
                                    {"num_nodes", quoted(static_cast<int64_t>(nodes.count()))},
                                    {"size_leaf_vector", quoted(0)}});
  return json_object(made);
}

std::string objective_of(const TreeShape& shape) {
  std::map<std::string, std::string> made = {{"name", json_text(shape.objective)}};
  if (shape.objective == "multi:softprob") {
    made["softmax_multiclass_param"] = json_object({{"num_class", quoted(shape.classes)}});
  } else if (shape.objective.rfind("rank:", 0) == 0) {
    made["lambda_rank_param"] = json_object({{"fix_list_weight", quoted(0)}, {"num_pairsample", quoted(1)}});
  } else {
    made["reg_loss_param"] = json_object({{"scale_pos_weight", quoted(1)}});
  }
  return json_object(made);
}

std::string checked_model(const json& model, const TreeShape& shape) {
  const json& trees = part(model, "trees");
  if (!trees.is_array() || trees.size() > INT_MAX) fail("'trees' is no array");
  const json& parameters = part(model, "gbtree_model_param");
  const auto parallel = number<int64_t>(parameters, "num_parallel_tree");
  const int64_t groups = std::max<int64_t>(1, shape.classes), count = static_cast<int64_t>(trees.size());
  if (parallel < 1 || parallel > INT_MAX || count % (parallel * groups) != 0)
    fail("'num_parallel_tree' does not divide the number of trees");
  std::string made;
  int64_t id = 0;
  for (const json& tree : trees) {
    made += (id > 0 ? "," : "") + checked_tree(tree, id, shape);
    ++id;
  }
  return json_object({{"gbtree_model_param", json_object({{"num_parallel_tree", quoted(parallel)},
                                                          {"num_trees", quoted(count)},
                                                          {"size_leaf_vector", quoted(0)}})},
                      {"tree_info", array_of(integers(model, "tree_info", trees.size(), 0, groups - 1))},
                      {"trees", "[" + made + "]"}});
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
  if (!(std::abs(base) <= 1e30)) fail("'base_score' is not a finite number");
  if (shape.objective == "binary:logistic" && !(base > 0 && base < 1)) fail("'base_score' is not a probability");
  // Compares the member only if it is a string: comparing other JSON types would make a JSON value, which may throw.
  const json& name = part(booster, "name");
  if (!name.is_string() || name.get_ref<const std::string&>() != "gbtree") fail("its booster is not 'gbtree'");
  const std::string boosted =
      json_object({{"name", json_text("gbtree")}, {"model", checked_model(part(booster, "model"), shape)}});
  const std::string of_learner = json_object({{"base_score", part(parameters, "base_score").dump()},
                                              {"boost_from_average", quoted(1)},
                                              {"num_class", quoted(shape.classes)},
                                              {"num_feature", quoted(shape.features)},
                                              {"num_target", quoted(1)}});
  return json_object({{"version", "[1,7,4]"},
                      {"learner", json_object({{"attributes", "{}"},
                                               {"feature_names", "[]"},
                                               {"feature_types", "[]"},
                                               {"gradient_booster", boosted},
                                               {"learner_model_param", of_learner},
                                               {"objective", objective_of(shape)}})}});
}

}  // namespace mr
