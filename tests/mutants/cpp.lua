-- Changes of the core (README.md). The text stands in its file once.
return {
  -- formulas of metrics and bounds
  { file = "kernels/bounds/bounds.h", by = "bounds", change = {
    "least += static_cast<long double>(gains[n - 1 - r]) * discounts[r];",
    "least += static_cast<long double>(gains[r]) * discounts[r];" } },
  { file = "kernels/bounds/bounds.h", by = "bounds", change = {
    "const long double square = n > 1 ? gain_square * discount_square / (n - 1) : 0;",
    "const long double square = n > 1 ? gain_square * discount_square / n : 0;" } },
  { file = "kernels/bounds/bounds.h", by = "bounds", change = {
    "(p - 1 + (n - p) * harmonic / n) / (n - 1);",
    "(p - 1 + (n - p) * harmonic / n) / n;" } },
  { file = "runtime/bounds/affine.cpp", by = "bounds losses", change = {
    "return Line{1 / reach, -s.expectation / reach};",
    "return Line{1 / reach, s.expectation / reach};" } },
  { file = "runtime/bounds/affine.cpp", by = "bounds losses bounds/estimate", change = {
    "std::fabs(s.best - s.expectation)",
    "std::fabs(s.max - s.expectation)" } },
  { file = "runtime/bounds/moments.cpp",
    by = { "case distributions of a weighted ranker agree with all orders and their probabilities" }, change = {
    "+ mass * more / (all * all) * away * away;",
    "+ mass * more / all * away * away;" } },
  { file = "runtime/bounds/ranking_recursion.cpp", by = "bounds_beta bounds", change = {
    "transform_.weights = shape.beta == 0 ? nullptr : weights_.data();",
    "transform_.weights = nullptr;" } },
  { file = "runtime/ranking/ideal.cpp", by = "metrics evaluate", change = {
    "rank < std::min<int64_t>(key.k, n); ++rank)",
    "rank < n; ++rank)" } },
  { file = "runtime/ranking/ideal.cpp", by = "metrics", change = {
    "const auto n = gain_of(0.0F, key.gain) == 0 ? zeros - grades.begin()",
    "const auto n = true ? zeros - grades.begin()" } },
  { file = "runtime/ranking/prefix.cpp", by = "metrics", change = {
    "return 1 / static_cast<long double>(r);",
    "return 1 / static_cast<long double>(r + 1);" } },
  { file = "runtime/ranking/metrics/average_precision.cpp", by = "bounds", change = {
    "return static_cast<double>(shape.p);",
    "return static_cast<double>(shape.n);" } },
  { file = "runtime/ranking/metric.cpp", by = "lambda losses/pairs grades", change = {
    "return graded() ? any_gain() : static_cast<float>(relevant);",
    "return static_cast<float>(relevant);" } },
  { file = "kernels/losses/own_scores.h", by = "losses/golden losses/top", change = {
    "sigmoid(f_i) * steep - sigmoid(f_j) * steep",
    "sigmoid(f_i) * steep + sigmoid(f_j) * steep" } },
  { file = "kernels/losses/samplers.h", by = "losses/sampled", change = {
    "if (relevant(list, middle) - middle <= k)",
    "if (relevant(list, middle) - middle < k)" } },
  { file = "kernels/losses/pair_weights.h", by = "losses/pairs", change = {
    "i.level == j.level ? 0.5 : 0.0",
    "i.level == j.level ? 1.0 : 0.0" } },
  { file = "kernels/losses/pair_weights.h", by = "losses/pairs losses/golden", change = {
    "const double far = mu * (discounts[d - 1] - discounts[d]);",
    "const double far = mu * (discounts[d] - discounts[d + 1]);" } },
  { file = "kernels/losses/pointwise.h", by = "losses/rows losses/golden", change = {
    "return y >= threshold ? -2 * short_by(f) : 2 * short_by(-f);",
    "return y >= threshold ? -2 * short_by(f) : 2 * short_by(f);" } },
  { file = "kernels/losses/vector_losses.h", by = "losses/rows losses/golden", change = {
    "grade = static_cast<double>(k + 1);",
    "grade = static_cast<double>(k);" } },
  -- protocols
  { file = "runtime/data/split.cpp", by = "data/ratings data/protocol data", change = {
    "(static_cast<int64_t>(i) % o.folds == o.fold - 1 ? test : train)",
    "(static_cast<int64_t>(i) % o.folds == o.fold ? test : train)" } },
  { file = "runtime/data/split.cpp", by = { "case no part gets more negatives than it wants, and all there are get used" }, change = {
    "remainder[most] = -1;",
    "" } },
  { file = "runtime/data/split.cpp", by = "data/ratings data/protocol data", change = {
    "if (negatives.counts != wanted) ++fold.short_users;",
    "if (negatives.counts == wanted) ++fold.short_users;" } },
  { file = "runtime/data/sampled_ranks.cpp", by = "data/corrections", change = {
    "if (2 * k == m && d % 2 == 1) v[k] = 0;",
    "if (2 * k == m && d % 2 == 1) v[k] = 1;" } },
  { file = "runtime/data/sampled_ranks.cpp", by = "data/corrections", change = {
    "if (weight < negligible * total) break;\n  }\n  weight = 1;",
    "if (weight < 0.1 * total) break;\n  }\n  weight = 1;" } },
  -- readers
  { file = "runtime/data/csv.cpp", by = { "case csv fields and line ends" }, change = {
    "if (mark == '\\r' && at_ < text_.size() && text_[at_] == '\\n') ++at_;",
    "if (mark == '\\r') ++at_;" } },
  { file = "runtime/data/csv.cpp", by = "data/interactions data/ratings data", change = {
    "if (at_ + 1 < text_.size() && text_[at_ + 1] == '\"') {",
    "if (false) {" } },
  { file = "runtime/data/plain_number.h", by = { "case plain numbers are those of strtof, bit by bit" }, change = {
    "behind += part.count;",
    "behind += 1;" } },
  { file = "runtime/data/letor_text.cpp", by = { "case the pieces of a LETOR text are the text" }, change = {
    "if (last < 0) last = end;",
    "if (last < 0) last = end - 1;" } },
  { file = "runtime/data/letor_rows.cpp", by = { "case comments name documents" }, change = {
    "if (rest.empty() || rest.front() != '=') return comment;",
    "if (rest.empty()) return comment;" } },
  { file = "runtime/data/trec.cpp", by = "data/scored compare", change = {
    "return order != 0 ? order < 0 : a < b;",
    "return order < 0;" } },
}
