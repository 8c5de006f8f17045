-- Successful calls of functions whose arguments must fit together. The random caller changes one argument of such a
-- call.
local lists, scores, six = "mr.lists{{1, 0, 2}, {0, 1, 0}}", "mr.tensor{0.1, 0.5, 0.2, 3, -1, 0}",
  "i64{1, 2, 3, 3, 1, 2}"
local matrix, other, ones = "mr.uniform({6, 3}, {seed = 1})", "mr.uniform({6, 4}, {seed = 2})", "mr.ones(6)"
local total = "(mr.uniform({6}, {seed = 6}):requires_grad() * 2):sum()"
local known = "core.user_items(mr.lists{{1, 0}, {0, 1}}, i64{1, 2}, i64{1, 2, 3, 3}, 4, 5)"
local neighbours = ("core.item_neighbours(%s, 2, 1.0)"):format(known)
local ap, rr = "core.metric_registry():parse 'ap'", "core.metric_registry():parse 'ndcg@10'"
local ranking = ("core.ranking(%s, %s, 'mean', 1)"):format(scores, lists)
local positives =
  "core.positives(i64{1,1,1,2,2,2}, i64{1,2,3,1,4,5}, mr.tensor{5,4,3,5,5,4}, i64{}, i64{}, 2, 5, 3.0, 1, false)"
local trees = "core.tree_data(mr.uniform({6, 3}, {seed = 1}), nil, 1)"
local booster = ("core.booster(%s, {'max_depth'}, {'2'})"):format(trees)
-- scores() comes first, because XGBoost learns the number of features when it first sees data
local grown = ("(function() local b, d = %s, %s b:scores(d, 0, false) b:boost(d, mr.ones(6), "
  .. "mr.ones(6)) return b:to_tensor(1) end)()")
  :format(booster, trees)
local parameter = "mr.uniform({6}, {seed = 6}):requires_grad()"

local infinite = "mr.tensor({0/0, 1, 2, 3, 1/0, -1/0}, {dtype = 'float64'})"
local alike = "mr.lists{{1, 1, 1}, {0, 0}, {1, 0}}"  -- lists of which every ordering has the same precision@10
local top = "core.metric_registry():parse 'precision@10'"

local function state(part) return ("%s:state()[%q]"):format(neighbours, part) end
local function double(n) return ("mr.ones(%d):double()"):format(n) end

return {
  ["core.factor_scores"] = { "mr.uniform({4, 2}, {seed = 1})", "mr.uniform({5, 2}, {seed = 1})",
    "i64{1, 2}", six, lists },
  ["core.unit_rows"] = { matrix },
  ["core.part_log_sum"] = { scores, lists, "'others'", "0.2" },
  ["core.psl_loss"] = { scores, lists, "'tanh'", "2", "0.1", "false", "nil" },
  ["core.kth_largest"] = { scores, lists, "2" },
  ["core.llpauc_terms"] = { scores, lists, "mr.tensor{1, 0, 0.5, 0.5, 0}", "5", "1", "1" },
  ["core.relevant_rows"] = { lists, scores },
  ["core.catalogue_log_sums"] = { matrix, "mr.uniform({7, 3}, {seed = 1})", "0.2" },
  ["core.layer"] = { matrix, "mr.uniform({3, 4}, {seed = 1})", "mr.uniform({1, 4}, {seed = 1})", "'relu'" },
  ["core.lists"] = { "{3, 3}", "mr.tensor{1, 0, 2, 0, 1, 0}", "{'a', 'b'}", "{}" },
  ["core.judge"] = { "core.lists({2}, mr.zeros(2), {'q'}, {'a', 'b'})", "mr.tensor{1, 2}",
    "core.lists({2}, mr.ones(2), {'q'}, {'a', 'b'})", "{'q'}" },
  ["core.places_of_judged"] = { "core.lists({2}, mr.zeros(2), {'q'}, {'a', 'b'})",
    "core.lists({2}, mr.ones(2), {'q'}, {'b', 'c'})" },
  ["core.shared_ids"] = { "{core.lists({2}, mr.zeros(2), {'q'}, {'a', 'b'})}",
    "core.lists({2}, mr.ones(2), {'q'}, {'b', 'c'})" },
  ["core.fill_missing"] = { matrix, "i64{1, 2}", "mr.tensor{0, 0}" },
  ["core.typical_values"] = { matrix, "i64{1, 2}", "'mean'" },
  ["core.take_columns"] = { matrix, "i64{3, 1}" },
  ["core.levels_of"] = { matrix, "2" },
  ["core.level_numbers"] = { "mr.tensor{{1, 2}, {2, 1}}", "i64{1}", "{mr.tensor{1, 2}}" },
  ["core.scale_lists"] = { matrix, lists, "i64{1, 2}", "'min_max'" },
  ["core.checked_values"] = { "mr.zeros(2)", scores },
  ["core.distinct_rows"] = { matrix, "i64{2, 1}" },
  ["core.put_rows"] = { "mr.uniform({2, 3}, {seed = 1})", "i64{1, 2}", "6" },
  ["core.pair_noise"] = { "i64{1, 2}", six, lists, "1" },
  ["core.positives"] = { "i64{1,1,1,2,2,2}", "i64{1,2,3,1,4,5}", "mr.tensor{5,4,3,5,5,4}", "i64{}", "i64{}", "2", "5",
    "3.0", "1", "false" },
  ["core.make_fold"] = { positives, "'user'", "2", "1", "1", "0.2", "1", "1", "0.2", "nil" },
  ["mr.UserItems:with_negatives"] = { known, "i64{1, 1, 1, 1}", "i64{2, 1}", "4", "false", "1", "3", "0", "2",
    "'cpu'" },
  ["core.user_items"] = { lists, "i64{1, 2}", six, "4", "5" },
  ["core.rated_by_part"] = { positives, "i64{1,1,1,2,2,2}", "i64{1,2,3,1,4,5}", "i64{6,5,4,3,2,1}", "i64{0,0,0,1,2,2}",
    "2", "'user'", "2", "1", "0.2", "1", "1", "0.2", "nil" },
  ["core.unrated_negatives"] = { positives, "i64{1,1,1,2,2,2}", "i64{1,2,3,1,4,5}", "2" },
  ["core.items_of_ratings"] = { "i64{1, 2}", "i64{3, 3}", "mr.tensor{1, 0}", "true", "2", "5" },
  ["core.time_span"] = { "i64{3, 1}" },
  ["core.catalogue_lists"] = { "i64{1, 2}", known, known, "'cpu'" },
  ["core.top_of_catalogue"] = { "mr.uniform({9, 3}, {seed = 1})", "mr.uniform({40, 3}, {seed = 2})",
    "core.arange(1, 9, 1, 'int64', 'cpu')",
    "core.user_items(mr.lists{{1, 0}, {0, 1}}, i64{1, 2}, i64{1, 2, 3, 3}, 9, 40)", "2" },
  ["core.first_candidates"] = { "mr.uniform({9, 3}, {seed = 1})", "mr.uniform({400, 3}, {seed = 2})",
    "core.arange(1, 9, 1, 'int64', 'cpu')",
    "core.user_items(mr.lists{{1, 0}, {0, 1}}, i64{1, 2}, i64{1, 2, 3, 3}, 9, 400)",
    "core.user_items(mr.lists{{1, 0}, {0, 1}}, i64{1, 2}, i64{1, 2, 3, 3}, 9, 400)", "2" },
  ["core.sampled_lists"] = { "i64{1, 2}", known, known, "2", "false", "false", "1" },
  ["core.distribution_bound"] = { "mr.tensor{0.1, 0.5}", lists, rr,
    "core.distribution_spec('cdf', 'auto', 100, 1, 'kappa', 1.0, 1.0)", "nil" },
  ["core.read_letor"] = { "'letor.txt'", "2", "false", "'zero'", "false" },
  ["core.read_letor_cached"] = { "'letor.txt'", "2", "false", "'zero'", "false", "'folder'" },
  ["core.read_csv"] = { "'labels.csv'", "','" },
  ["core.read_pairs"] = { "'labels.csv'", "'file'", "'label'" },
  ["core.read_ratings"] = { "{'labels.csv'}", "'user'", "'item'", "'rating'", "true", "''", "false", "true",
    "','", "'last'" },
  ["core.read_scores"] = { "'labels.csv'", "'user'", "'item'", "'rating'", "true", "','" },
  ["core.read_images"] = { "{'picture.png'}", "3", "4", "true" },
  ["core.read_trec_run"] = { "'run.txt'" }, ["core.read_trec_qrels"] = { "'qrels.txt'" },
  ["core.read_libraries"] = { "'libraries.txt'" },
  ["core.save_tensors"] = { "'tensors'", "'moonrank x 1'", "{'a'}", "{mr.tensor{1}}", "{}", "{}" },
  ["core.load_tensors"] = { "core.save_tensors('loaded', 'moonrank x 1', {'a'}, {mr.ones(1)}, {}, {}) or 'loaded'",
    "'moonrank x'" },
  ["core.letor_folds"] = { "'folds'" },
  ["core.neighbours_of"] = { state "known_counts", state "known_items", state "counts", state "items",
    state "cosines" },
  ["core.check_optimizer"] = { "core.optimizer_state{" .. parameter .. "}", "{'1.counts'}", "{i64{0, 0}}" },
  ["core.backward"] = { total, "nil", "nil" },
  ["core.set_grad"] = { parameter, "mr.ones(6)" }, ["core.track"] = { "mr.ones(6)" },
  ["core.lambda_loss"] = { scores, lists, rr, "1.0", "'logistic'" },
  ["core.lambda_derivatives"] = { scores, lists, rr, "1.0" },
  ["core.declared_lambda_loss"] = { scores, lists, double(6), double(5), double(2), "1.0", "'logistic'" },
  ["core.declared_lambda_derivatives"] = { scores, lists, double(6), double(5), double(2), "1.0" },
  ["core.ordinal_loss"] = { scores, lists, "mr.tensor{0.5, 1.5}" },
  ["core.warp_loss"] = { scores, lists, "1", "2", "1.0", "3", "1", "'a'", "0" },
  ["core.smoothing_spline"] = { scores, "mr.tensor{1, 2, 3, 4, 5, 9}", scores, "0.5" },
  ["core.unfold"] = { "mr.uniform({2, 3, 8, 8}, {seed = 3})", "{2, 2}", "{1, 1}", "{0, 0}", "0.0" },
  ["core.distribution_of"] = { scores, "'sampled'" },
  ["core.neural_ndcg_loss"] = { scores, lists, "1.0", "10", "1e-6" },
  ["mr.ItemNeighbours:scores"] = { neighbours, "i64{1, 2}", "i64{1, 2, 3, 4}", "mr.lists{{1, 0}, {0, 1}}" },
  ["mr.Lists:attention"] = { lists, other, other, other, "2" },
  ["mr.Lists:take_rows"] = { lists, matrix, "i64{2, 1}" },
  ["mr.Lists:batch"] = { lists, "i64{2, 1}", "1", "1", matrix, "nil", "nil", "'cpu'" },
  ["mr.Metric:values"] = { ap, ranking, "'zero'" }, ["mr.Metric:with"] = { rr, "'k'", "5" },
    ["mr.Metric:smooth"] = { ap, scores, lists, "1.0" },
  ["mr.Tensor:row_dot"] = { matrix, matrix }, ["mr.Tensor:to"] = { matrix, "'float64'" },
  ["mr.Tensor:layer_norm"] = { other, "mr.ones(4)", "mr.zeros(4)", "1e-5" },
  ["mr.Tensor:scatter_add"] = { matrix, "1", "i64{{1, 2, 3}}", "mr.ones(1, 3)" },
  ["mr.Tensor:gather"] = { matrix, "1", "i64{{1, 2, 3}}" },
  ["mr.Tensor:embedding"] = { matrix, six },
  ["mr.Tensor:linear"] = { matrix, "mr.uniform({3, 4}, {seed = 1})", "mr.ones(1, 4)", "'none'" },
  ["mr.Tensor:conv2d"] = { "mr.uniform({2, 3, 8, 8}, {seed = 3})",
    "mr.uniform({4, 3, 3, 3}, {seed = 4})", ones, "{1, 1}", "{0, 0}" },
  ["mr.Database:run"] = { "core.open_database('', 'memory')", "'select 1'", "{}", "0" },
  ["mr.Booster:boost"] = { booster, trees, scores, ones, needs = "trees" },
  ["core.read_booster"] = { grown, "3", "0", "'reg:squarederror'", "1", needs = "trees" },
  ["mr.Booster:scores"] = { booster, trees, "0", "false", needs = "trees" },
  ["mr.Booster:importance"] = { booster, "'gain'", "0", needs = "trees" },
}, {
  -- arguments at a limit of what is allowed, or just beyond it
  { "core.wilcoxon", infinite, infinite }, { "core.paired_t", infinite, infinite },
  { "core.effect_size", infinite, infinite }, { "core.permutation_test", infinite, infinite, "100", "1" },
  { "core.ecdf_compare", infinite, infinite }, { "core.ecdf", infinite },
  { "core.bootstrap", infinite, "'mean'", "10", "1" }, { "core.bootstrap", infinite, "'median'", "10", "1" },
  { "core.kde", infinite, infinite, "1.0" }, { "core.kde_bandwidth", infinite, "'lscv'" },
  { "core.summary", "mr.tensor{}" }, { "core.summary", "mr.tensor{1}" }, { "core.track", "mr.ones(6)" },
  { "core.least_squares", "mr.zeros(6, 0)", "mr.ones(6)" }, { "core.least_squares", "mr.zeros(0, 3)", "mr.ones(0)" },
  { "core.distribution_of", infinite }, { "core.distribution_of", "mr.tensor{1/0, 1/0}", "'sampled'" },
  { "core.positives", "i64{1, 1, 1, 2}", "i64{1, 2, 2, 3}", "mr.ones(4)", "i64{}", "i64{}", "2", "5",
    "0", "1", "false" },
  { "core.affine_bounded", "mr.tensor{0.1, 0.5, 0.2}", top, alike, "core.affine_bounds()[2]" },
  { "core.affine_bound", top, alike, "core.affine_bounds()[5]", "'float64'", "'cpu'" },
  { "core.affine_bound", ap, alike, "core.affine_bounds()[3]", "'float64'", "'cpu'" },
  { "core.random_ranks", "1 << 40", "1", "1 << 20", "1" }, { "core.drawn_ranks", "{0, 1/0, -1/0}", "1", "10", "1" },
  { "core.write_file", "'fifo'", "'x'" },
  { "core.save_tensors", "'labels.csv'", "'moonrank x 1'", "{'a'}", "{mr.tensor{1}}", "{}", "{}" },
}
