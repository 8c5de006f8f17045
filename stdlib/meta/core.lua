---@meta
-- Written by `moonrank --dump-api` from the op tables; not for editing, and not for `require`.
error("stdlib/meta/core.lua describes the core to editors; it cannot be required")

---@class mr.core
local core = {}

---One step of Adagrad.
---@param state mr.OptimizerState
---@param lr number
---@param epsilon number
---@param weight_decay number
function core.adagrad_step(state, lr, epsilon, weight_decay) end

---One step of Adam; sparse: only of rows with a gradient; decoupled: AdamW.
---@param state mr.OptimizerState
---@param lr number
---@param beta1 number
---@param beta2 number
---@param epsilon number
---@param weight_decay number
---@param sparse boolean
---@param decoupled? boolean
function core.adam_step(state, lr, beta1, beta2, epsilon, weight_decay, sparse, decoupled) end

---Slope and offset of an affine bound per list.
---@param metric mr.Metric
---@param lists mr.Lists
---@param bound mr.AffineBound
---@param dtype string
---@param device string
---@return mr.Tensor
---@return mr.Tensor
function core.affine_bound(metric, lists, bound, dtype, device) end

---The score of every list under an affine bound.
---@param score mr.Tensor
---@param metric mr.Metric
---@param lists mr.Lists
---@param bound mr.AffineBound
---@return mr.Tensor
function core.affine_bounded(score, metric, lists, bound) end

---All affine bounds.
---@return mr.AffineBound[]
function core.affine_bounds() end

---Slope and offset of an affine bound from the statistics of one list.
---@param bound mr.AffineBound
---@param min number
---@param max number
---@param best number
---@param expectation number
---@param sd number
---@return number
---@return number
function core.affine_numbers(bound, min, max, best, expectation, sd) end

---first, first + step, ... up to last.
---@param first number
---@param last number
---@param step number
---@param dtype string
---@param device? string
---@return mr.Tensor
function core.arange(first, last, step, dtype, device) end

---Ranks of all orders of the grades, or nil where there are more than `most`.
---@param grades number[]
---@param most integer
---@return mr.Tensor?
function core.arrangement_ranks(grades, most) end

---Bytes of main memory that are available by the kernel's estimate, a large number where it gives none.
---@return integer
function core.available_bytes() end

---Adds the derivatives of loss to the leaves it was computed from.
---@param loss mr.Tensor
---@param seed? mr.Tensor
---@param keep? boolean
function core.backward(loss, seed, keep) end

---From here on the GPU's work is recorded, not run.
function core.begin_capture() end

---A phase of the profiles that run, or only where none is open; it ends when it is closed.
---@param name string
---@param outermost? boolean
---@return mr.Phase
function core.begin_phase(name, outermost) end

---Mean over a list's rows of the cross entropy of sigma(score) and relevance.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@return mr.Tensor
function core.binary_cross_entropy_loss(scores, lists, relevant) end

---No trees yet, to be grown on these data; parameters.
---@param data mr.TreeData
---@param names string[]
---@param values string[]
---@return mr.Booster
function core.booster(data, names, values) end

---A statistic of the values, of samples with replacement, and without each value.
---@param x mr.Tensor
---@param statistic string
---@param samples integer
---@param seed integer
---@return number
---@return mr.Tensor
---@return mr.Tensor
function core.bootstrap(x, statistic, samples, seed) end

---Low and high end, standard error; percentiles where the jackknife is empty.
---@param samples mr.Tensor
---@param estimate number
---@param jackknife mr.Tensor
---@param level number
---@return number
---@return number
---@return number
function core.bootstrap_interval(samples, estimate, jackknife, level) end

---One sample with replacement, from number 0.
---@param x mr.Tensor
---@param sample integer
---@param seed integer
---@return mr.Tensor
function core.bootstrap_sample(x, sample, seed) end

---min, max, best, expectation, sd of one shape.
---@param metric mr.Metric
---@param n? integer
---@param p? integer
---@param grades number[]
---@return { min: number, max: number, best: number, expectation: number, sd: number }
function core.bound_numbers(metric, n, p, grades) end

---min, max, best, expectation, sd per list.
---@param metric mr.Metric
---@param lists mr.Lists
---@param dtype string
---@param device string
---@param sd boolean
---@return { min: mr.Tensor, max: mr.Tensor, best: mr.Tensor, expectation: mr.Tensor, sd: mr.Tensor }
function core.bound_table(metric, lists, dtype, device, sd) end

---Second derivatives of bpr_loss by each score alone, of the same draws.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@param draws integer
---@param seed integer
---@param stream string
---@param rows_before integer
---@return mr.Tensor
function core.bpr_curvature(scores, lists, relevant, draws, seed, stream, rows_before) end

---BPR's loss per list, other rows drawn alike.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@param draws integer
---@param seed integer
---@param stream string
---@param rows_before integer
---@return mr.Tensor
function core.bpr_loss(scores, lists, relevant, draws, seed, stream, rows_before) end

---Where caches are kept by default; it need not exist.
---@return string
function core.cache_folder() end

---Tensors one after the other along a dimension; they differ in it only.
---@param tensors mr.Tensor[]
---@param dim integer
---@return mr.Tensor
function core.cat(tensors, dim) end

---For each user all items but the excluded, ascending; targets are relevant.
---@param users mr.Tensor
---@param targets mr.UserItems
---@param excluded mr.UserItems
---@param device string
---@return { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor, unseen: mr.Tensor }
function core.catalogue_lists(users, targets, excluded, device) end

---An error where something is there that is no file: a folder, a pipe, a device, a link to nothing.
---@param path string
function core.check_file(path) end

---Raises 'interrupted' if Ctrl-C was pressed.
function core.check_interrupt() end

---An error where `restore_optimizer` would raise one; nothing changes.
---@param state mr.OptimizerState
---@param names string[]
---@param tensors mr.Tensor[]
function core.check_optimizer(state, names, tensors) end

---Each entry limited to [min, max]; no derivative outside, half of it at an end.
---@param x mr.Tensor
---@param min? number
---@param max? number
---@return mr.Tensor
function core.clamp(x, min, max) end

---CLiMF's loss per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@return mr.Tensor
function core.climf_loss(scores, lists, relevant) end

---Scales the gradients of all parameters so that their norm together is at most this; returns what it was.
---@param parameters mr.Tensor[]
---@param norm number
---@return number
function core.clip_gradients(parameters, norm) end

---Seconds of a monotonic clock.
---@return number
function core.clock() end

---Connects all for 'trials' or 'training': rank, how many, and both on this machine.
---@param purpose string
---@return integer
---@return integer
---@return integer
---@return integer
function core.cluster_join(purpose) end

---Marks a rank that does not answer: it is not waited for.
---@param rank integer
function core.cluster_lose(rank) end

---The rank and the string of the next message, or nil; does not wait.
---@return integer?
---@return string
function core.cluster_receive() end

---Sends a string to a rank; does not wait.
---@param rank integer
---@param message string
function core.cluster_send(rank, message) end

---The pairs without NaN, and how many have one.
---@param a mr.Tensor
---@param b mr.Tensor
---@return mr.Tensor
---@return mr.Tensor
---@return integer
function core.complete_pairs(a, b) end

---How many cores this process may use.
---@return integer
function core.cores() end

---How many lists there are on which an ordering can matter.
---@param metric mr.Metric
---@param lists mr.Lists
---@return integer
function core.count_lists(metric, lists) end

---How many tables of exact distributions are kept.
---@return integer
function core.count_tables() end

---Numbers of the lists on which an ordering can matter.
---@param metric mr.Metric
---@param lists mr.Lists
---@param device string
---@return mr.Tensor
function core.counted_lists(metric, lists, device) end

---Name of the GPU, or why there is none.
---@return string
function core.cuda() end

---How many GPUs this process may use; it computes on the first.
---@return integer
function core.cuda_count() end

---How often the program waited for the GPU.
---@return integer
function core.cuda_waits() end

---Where data sets are looked for by name, in order; "" is the working folder.
---@return string[]
function core.data_folders() end

---The same of declared_lambda_loss.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gains mr.Tensor
---@param discounts mr.Tensor
---@param norms mr.Tensor
---@param gain number
---@return mr.Tensor
function core.declared_lambda_curvature(scores, lists, gains, discounts, norms, gain) end

---LambdaRank's loss per list, for a metric with a gain per row, a discount of ranks 1, 3/2, 2, ... and a norm per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gains mr.Tensor
---@param discounts mr.Tensor
---@param norms mr.Tensor
---@param gain number
---@param pair string
---@return mr.Tensor
function core.declared_lambda_loss(scores, lists, gains, discounts, norms, gain, pair) end

---While on, the first Ctrl-C raises nothing: work asks `interrupted()` and ends in order. Returns what it was.
---@param on boolean
---@return boolean
function core.defer_interrupt(on) end

---From here on operations and their derivatives raise what is 'nan', or also what is 'infinite', or 'none'; returns what was on.
---@param wanted string
---@return string
function core.detect_anomalies(wanted) end

---Sets, if a name is given, and returns the default device.
---@param name? string
---@return string
function core.device(name) end

---The same of direct_ranker_loss, by Gauss and Newton.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.direct_ranker_curvature(scores, lists, gain) end

---RankNet's loss per list of the hyperbolic tangent of score differences.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.direct_ranker_loss(scores, lists, gain) end

---The distribution of a metric over random rankings.
---@param metric mr.Metric
---@param n? integer
---@param p? integer
---@param grades number[]
---@param method string
---@param samples integer
---@param seed integer
---@param beta number
---@return mr.Distribution
function core.distribution(metric, n, p, grades, method, samples, seed, beta) end

---F~ of the score of every list, its logarithm or logit.
---@param score mr.Tensor
---@param lists mr.Lists
---@param metric mr.Metric
---@param spec mr.DistributionSpec
---@return mr.Tensor
function core.distribution_bound(score, lists, metric, spec) end

---The same under one distribution for all entries.
---@param score mr.Tensor
---@param distribution mr.Distribution
---@param spec mr.DistributionSpec
---@param minimize boolean
---@return mr.Tensor
function core.distribution_bound_of(score, distribution, spec, minimize) end

---The distribution of values that are equally likely.
---@param values mr.Tensor
---@param method? string
---@return mr.Distribution
function core.distribution_of(values, method) end

---How long this process has been making distributions that lists share.
---@return number
function core.distribution_seconds() end

---F~ and its derivative at every entry of s.
---@param distribution mr.Distribution
---@param s mr.Tensor
---@param gain string
---@param amount number
---@return mr.Tensor
---@return mr.Tensor
function core.distribution_smooth(distribution, s, gain, amount) end

---A bound by distribution with its options.
---@param form string
---@param method string
---@param samples integer
---@param seed integer
---@param gain string
---@param amount number
---@param beta number
---@return mr.DistributionSpec
function core.distribution_spec(form, method, samples, seed, gain, amount, beta) end

---The same where rankings that are drawn are of use to this metric too.
---@param spec mr.DistributionSpec
---@param metric mr.Metric
---@return mr.DistributionSpec
function core.distribution_spec_also(spec, metric) end

---The same from the table that bounds read.
---@param distribution mr.Distribution
---@param s mr.Tensor
---@param gain string
---@param amount number
---@return mr.Tensor
---@return mr.Tensor
function core.distribution_tabled(distribution, s, gain, amount) end

---The same of rows that are drawn with weights e^pull, without replacement.
---@param pulls number[]
---@param first integer
---@param count integer
---@param seed integer
---@return mr.Tensor
function core.drawn_ranks(pulls, first, count, seed) end

---Different values in order, shares at most as large, values, left out.
---@param x mr.Tensor
---@return mr.Tensor
---@return mr.Tensor
---@return integer
---@return integer
function core.ecdf(x) end

---Signs of F_a - F_b by region, the areas between them, their largest distance and where.
---@param a mr.Tensor
---@param b mr.Tensor
---@return { regions: { from: number, to: number, sign: integer }[], above: number, below: number, ks: number, at: number, n: integer[], skipped: integer[] }
function core.ecdf_compare(a, b) end

---Effect sizes of pairs: d_z, Hedges' g, shares of a > b, a = b, a < b.
---@param a mr.Tensor
---@param b mr.Tensor
---@return { d: number, hedges: number, wins: number, ties: number, losses: number, n: integer, skipped: integer }
function core.effect_size(a, b) end

---A PNG file's bytes of [height, width] or [1 or 3, height, width], 0 to 1.
---@param x mr.Tensor
---@return string
function core.encode_png(x) end

---The recording; nil where it cannot be run again.
---@return mr.Capture?
function core.end_capture() end

---How many pairs of rows of equal grades each list has, float64.
---@param lists mr.Lists
---@return mr.Tensor
function core.equal_pairs(lists) end

---The object that, raised by `error`, ends the program with a status and a message.
---@param status integer
---@param message string
---@return mr.Exit
function core.exit(status, message) end

---Inner product of the factors of each list's user and each row's item.
---@param users mr.Tensor
---@param items mr.Tensor
---@param user_of mr.Tensor
---@param item_of mr.Tensor
---@param lists mr.Lists
---@return mr.Tensor
function core.factor_scores(users, items, user_of, item_of, lists) end

---Whether there is a file or folder of this name.
---@param path string
---@return boolean
function core.file_exists(path) end

---Columns with a number of each for NaN.
---@param x mr.Tensor
---@param columns mr.Tensor
---@param with mr.Tensor
---@return mr.Tensor
function core.fill_missing(x, columns, with) end

---SHA-256 of sizes, grades and names, in hexadecimal.
---@param lists mr.Lists
---@return string
function core.fingerprint_of_lists(lists) end

---SHA-256 of type, shape and entries, in hexadecimal.
---@param tensor mr.Tensor
---@return string
function core.fingerprint_of_tensor(tensor) end

---SHA-256 of texts, in hexadecimal.
---@param texts string[]
---@return string
function core.fingerprint_of_texts(texts) end

---Index and value of the first entry larger in size, or nil.
---@param x mr.Tensor
---@param size number
---@return integer?
---@return number?
function core.first_beyond(x, size) end

---Row, column and value of the first entry that is infinite, or NaN unless it may miss.
---@param x mr.Tensor
---@param may_miss boolean
---@return integer?
---@return integer?
---@return number?
function core.first_not_finite(x, may_miss) end

---The numbers of a tensor as 8 bytes each.
---@param values mr.Tensor
---@return string
function core.float64_bytes(values) end

---The tensor of such bytes.
---@param bytes string
---@return mr.Tensor
function core.float64_tensor(bytes) end

---The file that a link leads to; the path itself where it is no link.
---@param path string
---@return string
function core.followed(path) end

---How many tensors of the CPU so far took their memory from the system.
---@return integer
function core.fresh_tensors() end

---A tensor of one value.
---@param shape integer[]
---@param value number
---@param dtype string
---@param device? string
---@return mr.Tensor
function core.full(shape, value, dtype, device) end

---Runs gnuplot on a script; what it wrote to standard output.
---@param script string
---@return string
function core.gnuplot(script) end

---The number of lists with these grades.
---@param grades number[]
---@return integer
function core.grade_class(grades) end

---A number per list: the same where the grades are, in any order.
---@param lists mr.Lists
---@return integer[]
function core.grade_classes(lists) end

---Every grade that some row has, ascending.
---@param lists mr.Lists
---@return number[]
function core.grades(lists) end

---The grades of such a number, descending.
---@param number integer
---@return number[]
function core.grades_of_class(number) end

---Whether a usable GPU is there.
---@return boolean
function core.has_cuda() end

---Whether a leaf has collected a gradient.
---@param x mr.Tensor
---@return boolean
function core.has_gradient(x) end

---Bytes that live tensors hold.
---@return integer
function core.held_bytes() end

---The same of hinge_loss, where pairs with a slope count 1.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param margin number
---@return mr.Tensor
function core.hinge_curvature(scores, lists, margin) end

---The hinge loss of pairs, summed per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param margin number
---@return mr.Tensor
function core.hinge_loss(scores, lists, margin) end

---How a process ended, or nil while it runs.
---@param id integer
---@param wait boolean
---@return string?
function core.how_it_ended(id, wait) end

---All entries as a flat table of integers.
---@param x mr.Tensor
---@return integer[]
function core.integers(x) end

---Whether Ctrl-C came while deferred; clears it.
---@return boolean
function core.interrupted() end

---How many times Ctrl-C was pressed since the program or the line of the REPL began.
---@return integer
function core.interrupts() end

---Whether there is a regular file of this name.
---@param path string
---@return boolean
function core.is_file(path) end

---Whether a file descriptor (1 output, 2 errors) is a terminal.
---@param descriptor integer
---@return boolean
function core.is_terminal(descriptor) end

---Of every item the k nearest by the cosine of the users that have them.
---@param known mr.UserItems
---@param k integer
---@param shrink number
---@return mr.ItemNeighbours
function core.item_neighbours(known, k, shrink) end

---The items that each user rated: all, or those with a value above 0.
---@param user mr.Tensor
---@param item mr.Tensor
---@param value mr.Tensor
---@param all boolean
---@param all_users integer
---@param all_items integer
---@return mr.UserItems
function core.items_of_ratings(user, item, value, all, all_users, all_items) end

---Lists one after the other.
---@param parts mr.Lists[]
---@return mr.Lists
function core.join_lists(parts) end

---JSON objects as columns: the names, the values by name, and for each text what is wrong with it or ''.
---@param texts string[]
---@return string[]
---@return internal value[][]
---@return string[]
function core.json_columns(texts) end

---These queries of a run with grades, their scores in float64, all that is judged of them, and which row each judgment is of, if it is retrieved (1 or 0).
---@param run mr.Lists
---@param scores mr.Tensor
---@param qrels mr.Lists
---@param queries string[]
---@return { lists: mr.Lists, scores: mr.Tensor, judgments: mr.Lists, place: mr.Tensor, retrieved: mr.Tensor }
function core.judge(run, scores, qrels, queries) end

---Gaussian kernel density of x at the points.
---@param x mr.Tensor
---@param at mr.Tensor
---@param bandwidth number
---@return mr.Tensor
function core.kde(x, at, bandwidth) end

---silverman, scott or lscv; whether the search hit an end.
---@param x mr.Tensor
---@param rule string
---@return number
---@return boolean
function core.kde_bandwidth(x, rule) end

---Bytes that are kept for the next tensors.
---@return integer
function core.kept_bytes() end

---Kernel regression at the points, its standard error, the cross validation error.
---@param x mr.Tensor
---@param y mr.Tensor
---@param at mr.Tensor
---@param bandwidth number
---@param degree integer
---@param nearest number
---@return mr.Tensor
---@return mr.Tensor
---@return number
function core.kernel_regression(x, y, at, bandwidth, degree, nearest) end

---Second derivatives of LambdaRank's loss by each score alone; float64, on the CPU.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param metric mr.Metric
---@param gain number
---@return mr.Tensor
function core.lambda_curvature(scores, lists, metric, gain) end

---LambdaRank's loss per list, for the change of a metric by each swap; pairs cost 'logistic' or 'sigmoid'.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param metric mr.Metric
---@param gain number
---@param pair string
---@return mr.Tensor
function core.lambda_loss(scores, lists, metric, gain, pair) end

---The same of lambdafm_loss.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@param draws integer
---@param candidates integer
---@param rho number
---@param seed integer
---@param stream string
---@param rows_before integer
---@return mr.Tensor
function core.lambdafm_curvature(scores, lists, relevant, draws, candidates, rho, seed, stream, rows_before) end

---BPR's loss per list, other rows drawn by their rank among candidates.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@param draws integer
---@param candidates integer
---@param rho number
---@param seed integer
---@param stream string
---@param rows_before integer
---@return mr.Tensor
function core.lambdafm_loss(scores, lists, relevant, draws, candidates, rho, seed, stream, rows_before) end

---This process's rank, from 0, and how many mpirun or srun started together.
---@return integer
---@return integer
function core.launched() end

---x weight + bias, through 'none', 'relu', 'tanh', 'sigmoid' or 'softplus'.
---@param x mr.Tensor
---@param weight mr.Tensor
---@param bias mr.Tensor
---@param activation string
---@return mr.Tensor
function core.layer(x, weight, bias, activation) end

---Coefficients, inverse of X'X, sum of squared residuals, rank of X.
---@param x mr.Tensor
---@param y mr.Tensor
---@return mr.Tensor
---@return mr.Tensor
---@return number
---@return integer
function core.least_squares(x, y) end

---The values without one of them.
---@param x mr.Tensor
---@param which integer
---@return mr.Tensor
function core.leave_out(x, which) end

---Files of train, valid and test of each fold, separated by line ends.
---@param folder string
---@return string[]
---@return string[]
---@return string[]
function core.letor_folds(folder) end

---Numbers of the levels of columns; int64.
---@param x mr.Tensor
---@param columns mr.Tensor
---@param levels mr.Tensor[]
---@return mr.Tensor
function core.level_numbers(x, columns, levels) end

---The different values of a column, ascending.
---@param x mr.Tensor
---@param column integer
---@return mr.Tensor
function core.levels_of(x, column) end

---So many copies of one list.
---@param grades number[]
---@param count integer
---@return mr.Lists
function core.list_copies(grades, count) end

---Names in a folder, in no order, those of folders with a / at the end; at most 10,000.
---@param path string
---@return string[]
function core.list_folder(path) end

---1 for lists on which an ordering can matter, else 0.
---@param metric mr.Metric
---@param lists mr.Lists
---@param dtype string
---@param device string
---@return mr.Tensor
function core.list_weights(metric, lists, dtype, device) end

---ListMLE's loss per list; p-ListMLE's where the top weighs more.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param top_heavy boolean
---@return mr.Tensor
function core.listmle_loss(scores, lists, top_heavy) end

---ListNet's loss per list: the top one form.
---@param scores mr.Tensor
---@param lists mr.Lists
---@return mr.Tensor
function core.listnet_loss(scores, lists) end

---Judged lists from sizes and one relevance per row.
---@param sizes integer[]
---@param relevance mr.Tensor
---@param ids string[]
---@param documents string[]
---@return mr.Lists
function core.lists(sizes, relevance, ids, documents) end

---Reads such a file: how many tables, or 0 and why; an error where it is another's.
---@param path string
---@return integer
---@return string?
function core.load_tables(path) end

---Names and tensors, metadata keys and values (but the format) of a safetensors file; an error where its format is another writer's than 'moonrank WHAT'.
---@param path string
---@param writer string
---@return string[]
---@return mr.Tensor[]
---@return string[]
---@return string[]
function core.load_tensors(path, writer) end

---Locks a file until collected; nil where another process has locked it. The end removes the file, and its folder and the one around it where they are empty.
---@param path string
---@return mr.FileLock?
function core.lock_file(path) end

---How many cores the machine has.
---@return integer
function core.machine_cores() end

---Lists, users and items of train, valid and test.
---@param positives mr.Positives
---@param by string
---@param folds integer
---@param fold integer
---@param nsr integer
---@param valid number
---@param seed integer
---@param n integer
---@param test number
---@param at? integer
---@return { train: { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor }, valid: { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor }, test: { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor }, short_users: integer, whole_users: integer, new_users: integer, new_items: integer }
function core.make_fold(positives, by, folds, fold, nsr, valid, seed, n, test, at) end

---Makes the folder that the file would be in, and those above it.
---@param path string
function core.make_folder(path) end

---Made-up queries: lists and features.
---@param queries integer
---@param features integer
---@param mean_size integer
---@param noise number
---@param seed integer
---@return mr.Lists
---@return mr.Tensor
function core.make_queries(queries, features, mean_size, noise, seed) end

---Made-up ratings.
---@param users integer
---@param items integer
---@param factors integer
---@param mean_activity integer
---@param noise number
---@param seed integer
---@return { has_ratings: boolean, user: mr.Tensor, item: mr.Tensor, value: mr.Tensor, time: mr.Tensor, file: mr.Tensor, user_ids: string[], item_ids: string[] }
function core.make_ratings(users, items, factors, mean_activity, noise, seed) end

---The built-in metrics, to which a script's own may be added.
---@return mr.MetricRegistry
function core.metric_registry() end

---Version of the MPI library, or nil where none is built in.
---@return string?
function core.mpi_library() end

---LambdaLoss's NDCG-Loss1 per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.ndcg_loss_1(scores, lists, gain) end

---The same of ndcg_loss_1.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.ndcg_loss_1_curvature(scores, lists, gain) end

---LambdaLoss's NDCG-Loss2 per list; with swaps, NDCG-Loss2++.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param mu number
---@param with_swaps boolean
---@return mr.Tensor
function core.ndcg_loss_2(scores, lists, gain, mu, with_swaps) end

---The same of ndcg_loss_2.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param mu number
---@param with_swaps boolean
---@return mr.Tensor
function core.ndcg_loss_2_curvature(scores, lists, gain, mu, with_swaps) end

---The name that is fewest edits away, for "did you mean"; nil where none is near.
---@param name string
---@param known string[]
---@return string?
function core.nearest_name(name, known) end

---The neighbours that :state wrote; checked.
---@param known_counts mr.Tensor
---@param known_items mr.Tensor
---@param counts mr.Tensor
---@param items mr.Tensor
---@param cosines mr.Tensor
---@return mr.ItemNeighbours
function core.neighbours_of(known_counts, known_items, counts, items, cosines) end

---NeuralNDCG's loss per list: negative nDCG of a relaxed ranking.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param tau number
---@param iterations integer
---@param tolerance number
---@return mr.Tensor
function core.neural_ndcg_loss(scores, lists, tau, iterations, tolerance) end

---Normal random numbers.
---@param shape integer[]
---@param mean number
---@param sd number
---@param seed integer
---@param stream string
---@param dtype string
---@param device? string
---@return mr.Tensor
function core.normal(shape, mean, sd, seed, stream, dtype, device) end

---The standard normal distribution function.
---@param x number
---@return number
function core.normal_cdf(x) end

---Of the standard normal distribution.
---@param p number
---@return number
function core.normal_quantile(p) end

---e^x, the same bits on every system.
---@param x number
---@return number
function core.number_exp(x) end

---The natural logarithm, the same bits on every system.
---@param x number
---@return number
function core.number_log(x) end

---x^y, the same bits on every system.
---@param x number
---@param y number
---@return number
function core.number_power(x, y) end

---All entries as a flat table of numbers.
---@param x mr.Tensor
---@return number[]
function core.numbers(x) end

---The name of the arithmetic that results come from: it changes only when results may. With 'scalar' behind it where the processor has no AVX2 and FMA, whose last digits differ.
---@return string
function core.numerics() end

---The numbers that rank 0 gives.
---@param values number[]
---@return number[]
function core.of_first(values) end

---Opens an SQLite database to 'read' or to 'write' (which makes it), or makes one in 'memory'. 'claim' takes the locks for writing, but changes the file only by write_ahead.
---@param path string
---@param mode string
---@return mr.Database
function core.open_database(path, mode) end

---Names and tensors of all that an optimiser remembers, steps put off among it.
---@param state mr.OptimizerState
---@return string[]
---@return mr.Tensor[]
function core.optimizer_numbers(state) end

---What an optimiser remembers of the parameters that it moves.
---@param parameters mr.Tensor[]
---@return mr.OptimizerState
function core.optimizer_state(parameters) end

---Row numbers of each list from first to last; of tied rows the lower first.
---@param ranking mr.Ranking
---@return mr.Tensor
function core.order(ranking) end

---Mean over a list's rows of the cross entropies of cumulative logits.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param thresholds mr.Tensor
---@return mr.Tensor
function core.ordinal_loss(scores, lists, thresholds) end

---A uniform number for each pair; float64.
---@param users mr.Tensor
---@param items mr.Tensor
---@param lists mr.Lists
---@param seed integer
---@return mr.Tensor
function core.pair_noise(users, items, lists, seed) end

---Student's t-test of pairs.
---@param a mr.Tensor
---@param b mr.Tensor
---@return { t: number, df: number, p: number, mean_difference: number, standard_error: number, n: integer, skipped: integer }
function core.paired_t(a, b) end

---Most bytes that were resident since the last reset.
---@param reset boolean
---@return integer
function core.peak_memory(reset) end

---The numbers 1 to n in random order; int64.
---@param n integer
---@param seed integer
---@param stream string
---@param lane integer
---@return mr.Tensor
function core.permutation(n, seed, stream, lane) end

---Sign-flip test of pairs; error is that of p from random signs.
---@param a mr.Tensor
---@param b mr.Tensor
---@param orders integer
---@param seed integer
---@return { mean_difference: number, p: number, error: number, exact: boolean, orders: integer, n: integer, skipped: integer }
function core.permutation_test(a, b, orders, seed) end

---Relevant items of the users that have enough.
---@param user mr.Tensor
---@param item mr.Tensor
---@param value mr.Tensor
---@param time mr.Tensor
---@param file mr.Tensor
---@param users integer
---@param items integer
---@param threshold number
---@param min_relevant integer
---@param graded boolean
---@return mr.Positives
function core.positives(user, item, value, time, file, users, items, threshold, min_relevant, graded) end

---Measures where time goes; keeps so many events for a trace.
---@param most_events integer
---@return mr.Profiler
function core.profiler(most_events) end

---Whether a profile runs.
---@return boolean
function core.profiling() end

---From which number on, entries of a parameter times its rows for each one with a gradient, its steps are put off; changed where given; what it was.
---@param entries? integer
---@return integer
function core.put_off_from(entries) end

---n rows, zero but for those of x, at the indices of index, which are all different.
---@param x mr.Tensor
---@param index mr.Tensor
---@param n integer
---@return mr.Tensor
function core.put_rows(x, index, n) end

---Ranks of random orders, one order after another.
---@param rows integer
---@param first integer
---@param count integer
---@param seed integer
---@return mr.Tensor
function core.random_ranks(rows, first, count, seed) end

---Where every row stands in its list, under a tie rule.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param ties string
---@param relevant number
---@return mr.Ranking
function core.ranking(scores, lists, ties, relevant) end

---The same of ranknet_all_pairs_loss.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param upsample number
---@param upsample_of? mr.Tensor
---@return mr.Tensor
function core.ranknet_all_pairs_curvature(scores, lists, gain, upsample, upsample_of) end

---RankNet's loss per list over all pairs, targets 1, 1/2 and 0; those of unequal grades count `upsample` times, or as `upsample_of` says for each list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param upsample number
---@param upsample_of? mr.Tensor
---@return mr.Tensor
function core.ranknet_all_pairs_loss(scores, lists, gain, upsample, upsample_of) end

---The same of ranknet_loss.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.ranknet_curvature(scores, lists, gain) end

---RankNet's loss per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.ranknet_loss(scores, lists, gain) end

---Rank of every row; under 'mean' the middle of its run.
---@param ranking mr.Ranking
---@return mr.Tensor
function core.ranks(ranking) end

---What each user rated, in tables of train, valid and test; also ratings that are in no list.
---@param positives mr.Positives
---@param user mr.Tensor
---@param item mr.Tensor
---@param time mr.Tensor
---@param file mr.Tensor
---@param users integer
---@param by string
---@param folds integer
---@param fold integer
---@param valid number
---@param seed integer
---@param n integer
---@param test number
---@param at? integer
---@return { train: mr.UserItems, valid: mr.UserItems, test: mr.UserItems }
function core.rated_by_part(positives, user, item, time, file, users, by, folds, fold, valid, seed, n, test, at) end

---Trees that :to_tensor wrote, checked before XGBoost sees them.
---@param tensor mr.Tensor
---@param features integer
---@param classes integer
---@param objective string
---@param threads integer
---@return mr.Booster
function core.read_booster(tensor, features, classes, objective, threads) end

---PNG and JPEG files as [images, 1 or 3, height, width], 0 to 1, scaled by the mean over areas.
---@param paths string[]
---@param height integer
---@param width integer
---@param grey boolean
---@return mr.Tensor
function core.read_images(paths, height, width, grey) end

---Lists and features of a LETOR file.
---@param path string
---@param features integer
---@param any_order boolean
---@param null string
---@param qid_optional boolean
---@return mr.Lists
---@return mr.Tensor
function core.read_letor(path, features, any_order, null, qid_optional) end

---The same by way of a binary file in a folder, and what was wrong with that file.
---@param path string
---@param features integer
---@param any_order boolean
---@param null string
---@param qid_optional boolean
---@param folder string
---@return mr.Lists
---@return mr.Tensor
---@return string?
function core.read_letor_cached(path, features, any_order, null, qid_optional, folder) end

---The same of lines of libraries; all ratings are 1.
---@param path string
---@return { has_ratings: boolean, user: mr.Tensor, item: mr.Tensor, value: mr.Tensor, time: mr.Tensor, file: mr.Tensor, user_ids: string[], item_ids: string[] }
function core.read_libraries(path) end

---Two columns of a table.
---@param path string
---@param key string
---@param value string
---@return string[]
---@return string[]
function core.read_pairs(path, key, value) end

---Users, items, ratings and times of tables, numbered, and what the tables call them.
---@param paths string[]
---@param user string
---@param item string
---@param rating string
---@param rating_required boolean
---@param time string
---@param time_required boolean
---@param header boolean
---@param delimiter string
---@param duplicates string
---@param width? integer
---@param placed? string[]
---@return { has_ratings: boolean, user: mr.Tensor, item: mr.Tensor, value: mr.Tensor, time: mr.Tensor, file: mr.Tensor, user_ids: string[], item_ids: string[] }
function core.read_ratings(paths, user, item, rating, rating_required, time, time_required, header, delimiter, duplicates, width, placed) end

---Lists and scores of a table.
---@param path string
---@param query string
---@param document string
---@param score string
---@param header boolean
---@param delimiter string
---@param placed? string[]
---@return mr.Lists
---@return mr.Tensor
function core.read_scores(path, query, document, score, header, delimiter, placed) end

---Lists of a qrels file; grades below 0 are left out.
---@param path string
---@return mr.Lists
function core.read_trec_qrels(path) end

---Lists and scores of a run file.
---@param path string
---@return mr.Lists
---@return mr.Tensor
function core.read_trec_run(path) end

---Turns recording of operations on or off; returns what it was.
---@param on boolean
---@return boolean
function core.recording(on) end

---By cross validation (cv) or information (aicc); whether the search hit an end.
---@param x mr.Tensor
---@param y mr.Tensor
---@param degree integer
---@param rule string
---@param nearest number
---@param floor number
---@return number
---@return boolean
function core.regression_bandwidth(x, y, degree, rule, nearest, floor) end

---How many tables of files had other moments than their shapes and were made anew.
---@return integer
function core.rejected_tables() end

---Where the relevant rows stand in their lists; for metrics that read no others.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@return mr.Ranking
function core.relevant_ranking(scores, lists, relevant) end

---The same entries in another shape.
---@param x mr.Tensor
---@param sizes integer[]
---@return mr.Tensor
function core.reshape(x, sizes) end

---Puts the numbers of a snapshot back.
---@param parameter mr.Tensor
---@param snapshot mr.Tensor
function core.restore(parameter, snapshot) end

---What `optimizer_numbers` gave, to an optimiser whose parameters have their numbers of then; an error, and no change, where it is not of these parameters.
---@param state mr.OptimizerState
---@param names string[]
---@param tensors mr.Tensor[]
function core.restore_optimizer(state, names, tensors) end

---One step of RMSProp.
---@param state mr.OptimizerState
---@param lr number
---@param alpha number
---@param momentum number
---@param epsilon number
---@param weight_decay number
function core.rmsprop_step(state, lr, alpha, momentum, epsilon, weight_decay) end

---Text from a file made safe to show: control characters and bytes that are no UTF-8 escaped; with `lines` ends of lines stay.
---@param text string
---@param lines? boolean
---@return string
function core.safe_text(text, lines) end

---Whether all ranks have the same, to the bit.
---@param parameters mr.Tensor[]
---@return boolean
function core.same_parameters(parameters) end

---What a metric is among all items by how many of the sampled ones are above; of least squares of bias and, times gamma, variance.
---@param values mr.Tensor
---@param sampled integer
---@param gamma number
---@return mr.Tensor
function core.sampled_estimates(values, sampled, gamma) end

---For each user, or each of its targets, the targets and sampled items; `counted`: of which table popularity is, by default of the excluded.
---@param users mr.Tensor
---@param targets mr.UserItems
---@param excluded mr.UserItems
---@param count integer
---@param popular boolean
---@param each boolean
---@param seed integer
---@param counted? mr.UserItems
---@return { lists: mr.Lists, users: mr.Tensor, items: mr.Tensor, unseen: mr.Tensor }
function core.sampled_lists(users, targets, excluded, count, popular, each, seed, counted) end

---Writes all tables of exact distributions that are kept; how many.
---@param path string
---@return integer
function core.save_tables(path) end

---Writes a safetensors file with metadata, among them the numerics and the format, 'moonrank WHAT VERSION'; replaces a file of this format, in any version, alone.
---@param path string
---@param format string
---@param names string[]
---@param tensors mr.Tensor[]
---@param keys string[]
---@param values string[]
function core.save_tensors(path, format, names, tensors, keys, values) end

---Columns scaled within each list.
---@param x mr.Tensor
---@param lists mr.Lists
---@param columns mr.Tensor
---@param how string
---@return mr.Tensor
function core.scale_lists(x, lists, columns, how) end

---Sets the gradient that a leaf has collected, or clears it.
---@param x mr.Tensor
---@param grad? mr.Tensor
function core.set_grad(x, grad) end

---One step of stochastic gradient descent.
---@param state mr.OptimizerState
---@param lr number
---@param momentum number
---@param weight_decay number
function core.sgd_step(state, lr, momentum, weight_decay) end

---SHA-256 of a string, in hexadecimal.
---@param bytes string
---@return string
function core.sha256(bytes) end

---SHA-256 of a file, in hexadecimal.
---@param path string
---@return string
function core.sha256_file(path) end

---The sizes as a table.
---@param x mr.Tensor
---@return integer[]
function core.shape(x) end

---Copies the parameters of rank 0 to every rank.
---@param parameters mr.Tensor[]
function core.share_parameters(parameters) end

---Sends 'interrupt' or 'kill' to a process.
---@param id integer
---@param name string
function core.signal_process(id, name) end

---The instruction set of the hot loops: 'scalar', 'avx2' or 'avx512'.
---@return string
function core.simd() end

---Smooth AP per list (Eq. 2.11).
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param relevant number
---@return mr.Tensor
function core.smooth_ap(scores, lists, gain, relevant) end

---Product over other relevant rows j of sigma(gain (s_i - s_j)) for every relevant row; else 0.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param relevant number
---@return mr.Tensor
function core.smooth_first(scores, lists, gain, relevant) end

---Logarithm of smooth RR per list; 0 for lists of relevant rows only, or without.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param relevant number
---@return mr.Tensor
function core.smooth_log_rr(scores, lists, gain, relevant) end

---Smooth nDCG per list (Eq. 2.10).
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.smooth_ndcg(scores, lists, gain) end

---Smooth nRBP loss per list (Eq. 2.12).
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param relevant number
---@return mr.Tensor
function core.smooth_nrbp_loss(scores, lists, gain, relevant) end

---Smooth rank of every row (Westerborg 2022, Eq. 2.9).
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function core.smooth_rank(scores, lists, gain) end

---Smooth rank of every row among the relevant rows; not differentiable.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param relevant number
---@return mr.Tensor
function core.smooth_rank_among_relevant(scores, lists, gain, relevant) end

---Smooth RR per list (Li et al. 2021, Eq. 16).
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@param relevant number
---@return mr.Tensor
function core.smooth_rr(scores, lists, gain, relevant) end

---Spline at the points, its standard error, degrees of freedom, score.
---@param x mr.Tensor
---@param y mr.Tensor
---@param at mr.Tensor
---@param lambda number
---@return mr.Tensor
---@return mr.Tensor
---@return number
---@return number
function core.smoothing_spline(x, y, at, lambda) end

---A copy that later steps do not change, in the place of an earlier one if given.
---@param parameter mr.Tensor
---@param into? mr.Tensor
---@return mr.Tensor
function core.snapshot(parameter, into) end

---Coordinate of a point of Sobol's sequence, 32 bits.
---@param index integer
---@param dimension integer
---@return integer
function core.sobol_bits(index, dimension) end

---SoftRank's negative nDCG per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param sd number
---@param longest integer
---@return mr.Tensor
function core.soft_rank_loss(scores, lists, sd, longest) end

---Cross entropy of grades and the softmax of scores, per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@return mr.Tensor
function core.softmax_cross_entropy_loss(scores, lists) end

---Entries in order along a dimension, and their numbers.
---@param x mr.Tensor
---@param dim? integer
---@param descending boolean
---@return mr.Tensor
---@return mr.Tensor
function core.sort(x, dim, descending) end

---By generalised cross validation; whether the search hit an end.
---@param x mr.Tensor
---@param y mr.Tensor
---@return number
---@return boolean
function core.spline_penalty(x, y) end

---Mean over a list's rows of the squared difference of score and grade.
---@param scores mr.Tensor
---@param lists mr.Lists
---@return mr.Tensor
function core.squared_error_loss(scores, lists) end

---Mean over a list's rows of the squared hinge loss of relevance.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@return mr.Tensor
function core.squared_hinge_loss(scores, lists, relevant) end

---Tensors of one shape along a new dimension.
---@param tensors mr.Tensor[]
---@param dim integer
---@return mr.Tensor
function core.stack(tensors, dim) end

---Starts this program again with a command line; a channel to it and its number.
---@param words string[]
---@param log string
---@param variables string[]
---@return mr.Channel
---@return integer
function core.start_worker(words, log, variables) end

---Ends all profiles that run.
function core.stop_profiles() end

---Two-sided p of Student's t.
---@param t number
---@param df number
---@return number
function core.student_p(t, df) end

---Of Student's distribution.
---@param p number
---@param df number
---@return number
function core.student_quantile(p, df) end

---Adds up gradients over all ranks; loss, counted lists and whether any wants to stop.
---@param parameters mr.Tensor[]
---@param loss number
---@param counted number
---@param stop boolean
---@param mean boolean
---@return number
---@return number
---@return boolean
function core.sum_gradients(parameters, loss, counted, stop, mean) end

---Mean, standard deviation, count, left out; NaN is left out.
---@param x mr.Tensor
---@return number
---@return number
---@return integer
---@return integer
function core.summary(x) end

---These columns, in this order.
---@param x mr.Tensor
---@param columns mr.Tensor
---@return mr.Tensor
function core.take_columns(x, columns) end

---Records of one pass over the data, read with one wait at its end.
---@param device string
---@return mr.Tally
function core.tally(device) end

---A tensor from a nested table of numbers.
---@param values table
---@param dtype string
---@param device? string
---@return mr.Tensor
function core.tensor(values, dtype, device) end

---Columns of the terminal that errors go to; 80 where it does not say.
---@return integer
function core.terminal_width() end

---TFMAP's loss per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@return mr.Tensor
function core.tfmap_loss(scores, lists, relevant) end

---Sets, if given, and returns the number of threads.
---@param n? integer
---@return integer
function core.threads(n) end

---The first and the last timestamp.
---@param time mr.Tensor
---@return integer
---@return integer
function core.time_span(time) end

---Their product, 0 where the slope is, also of an infinite value; the slope is a constant.
---@param value mr.Tensor
---@param slope mr.Tensor
---@return mr.Tensor
function core.times_slope(value, slope) end

---Top-N-Rank's loss per list: negative DCG of the rows that are the first n now.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param n integer
---@param relu boolean
---@return mr.Tensor
function core.top_n_rank_loss(scores, lists, n, relu) end

---Rows and scores of the first k of every list; of tied rows the lower first.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param k integer
---@return { rows: mr.Tensor, scores: mr.Tensor, sizes: mr.Tensor }
function core.top_rows(scores, lists, k) end

---The first k entries of that order, and their numbers.
---@param x mr.Tensor
---@param k integer
---@param dim? integer
---@param largest boolean
---@return mr.Tensor
---@return mr.Tensor
function core.topk(x, k, dim, largest) end

---Makes the tensor a leaf that collects gradients.
---@param x mr.Tensor
function core.track(x) end

---Rows of features for trees, float32, NaN for what is missing; with grades and lists.
---@param features mr.Tensor
---@param lists? mr.Lists
---@param threads integer
---@return mr.TreeData
function core.tree_data(features, lists, threads) end

---Mean or median of columns without NaN; float64.
---@param x mr.Tensor
---@param columns mr.Tensor
---@param what string
---@return mr.Tensor
function core.typical_values(x, columns, what) end

---Windows of pictures: of {pictures, channels, height, width} a tensor of {pictures, channels, entries of a window, windows}; `outside` is what stands beyond the edges.
---@param x mr.Tensor
---@param size integer[]
---@param stride integer[]
---@param padding integer[]
---@param outside number
---@return mr.Tensor
function core.unfold(x, size, stride, padding, outside) end

---Uniform random numbers in [low, high).
---@param shape integer[]
---@param low number
---@param high number
---@param seed integer
---@param stream string
---@param dtype string
---@param device? string
---@return mr.Tensor
function core.uniform(shape, low, high, seed, stream, dtype, device) end

---The positives, with negatives drawn from items that the user has not rated.
---@param positives mr.Positives
---@param user mr.Tensor
---@param item mr.Tensor
---@param users integer
---@return mr.Positives
function core.unrated_negatives(positives, user, item, users) end

---The items of each user whose grade is above 0.
---@param lists mr.Lists
---@param users mr.Tensor
---@param items mr.Tensor
---@param all_users integer
---@param all_items integer
---@return mr.UserItems
function core.user_items(lists, users, items, all_users, all_items) end

---float64, per row the value of its grade, from one for each of `grades`.
---@param lists mr.Lists
---@param values number[]
---@return mr.Tensor
function core.values_of_grades(lists, values) end

---Version of the program.
---@return string
function core.version() end

---Waits until a channel has something to read, one of the `full` has room, or so long.
---@param descriptors integer[]
---@param seconds number
---@param full? integer[]
function core.wait_for(descriptors, seconds, full) end

---The same of warp_loss, where a pair with a slope counts its weight.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@param draws integer
---@param margin number
---@param trials integer
---@param seed integer
---@param stream string
---@param rows_before integer
---@return mr.Tensor
function core.warp_curvature(scores, lists, relevant, draws, margin, trials, seed, stream, rows_before) end

---WARP's loss per list; trials 0: as many as there are other rows.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param relevant number
---@param draws integer
---@param margin number
---@param trials integer
---@param seed integer
---@param stream string
---@param rows_before integer
---@return mr.Tensor
function core.warp_loss(scores, lists, relevant, draws, margin, trials, seed, stream, rows_before) end

---Wilcoxon's signed-rank test; n are the unequal pairs.
---@param a mr.Tensor
---@param b mr.Tensor
---@return { statistic: number, p: number, exact: boolean, n: integer, equal: integer, skipped: integer }
function core.wilcoxon(a, b) end

---Values per list, with what counts for lists without relevant rows.
---@param values mr.Tensor
---@param ranking mr.Ranking
---@param empty string
---@return mr.Tensor
function core.with_empty(values, ranking, empty) end

---The values that are not NaN, and how many are.
---@param x mr.Tensor
---@return mr.Tensor
---@return integer
function core.without_nan(x) end

---In a started worker, once, the channel to its parent.
---@return mr.Channel?
function core.worker_end() end

---Writes a file, whole or not at all; any regular file is replaced, nothing else is.
---@param path string
---@param bytes string
function core.write_file(path, bytes) end

---Writes a run file, over any regular file of that name.
---@param path string
---@param run mr.Lists
---@param scores mr.Tensor
---@param tag string
---@param escape boolean
function core.write_trec_run(path, run, scores, tag, escape) end

---Version of XGBoost's library; an error where there is none.
---@return string
function core.xgboost_version() end

---@class mr.AffineBound
---@field formula string The bounded value.
---@field name string Its name.
---@field needs string Which statistics it is made of: "nothing", "range", "mean" or "variance".
---@field source string Paper and equation.
---@field text string What it does to a list, and when it helps.
local mr_AffineBound = {}

---@class mr.Booster
---@field rounds integer Number of rounds that it has.
local mr_Booster = {}

---Another round by these derivatives, one of each per row.
---@param data mr.TreeData
---@param gradient mr.Tensor
---@param hessian mr.Tensor
function mr_Booster:boost(data, gradient, hessian) end

---Features that the first rounds split by, from 1, and their gain, cover or weight.
---@param kind string
---@param rounds integer
---@return integer[]
---@return number[]
function mr_Booster:importance(kind, rounds) end

---Scores [rows] or [rows, classes] by the first rounds (0: all), before or after the objective's transformation.
---@param data mr.TreeData
---@param rounds integer
---@param transformed boolean
---@return mr.Tensor
function mr_Booster:scores(data, rounds, transformed) end

---Sets parameters.
---@param names string[]
---@param values string[]
function mr_Booster:set(names, values) end

---The first rounds as an int64 vector.
---@param rounds integer
---@return mr.Tensor
function mr_Booster:to_tensor(rounds) end

---Another round by XGBoost's objective.
---@param data mr.TreeData
---@param round integer
function mr_Booster:update(data, round) end

---@class mr.Capture
local mr_Capture = {}

---Runs the recorded work.
function mr_Capture:run() end

---@class mr.Channel
local mr_Channel = {}

---Whether what came is no message; nothing more is received.
---@return boolean
function mr_Channel:broken() end

---For `wait_for`.
---@return integer
function mr_Channel:descriptor() end

---Whether the other end is closed and all it sent was received.
---@return boolean
function mr_Channel:ended() end

---The next string that came, or nil; does not wait.
---@return string?
function mr_Channel:receive() end

---Sends a string; false where the other end is closed.
---@param message string
---@return boolean
function mr_Channel:send(message) end

---Whether a part of what was sent waits for room; `receive` sends it.
---@return boolean
function mr_Channel:unsent() end

---@class mr.Database
local mr_Database = {}

---How many rows the last statement changed.
---@return integer
function mr_Database:changed() end

---Closes the file; closing again does nothing.
function mr_Database:close() end

---Whether no other process can read the file: readers need a copy.
---@return boolean
function mr_Database:exclusive() end

---Whether its file was renamed, removed or replaced since it was opened.
---@return boolean
function mr_Database:moved() end

---What is read instead of the file, and why; nil where it is the file itself.
---@return string?
function mr_Database:note() end

---Runs one statement with `count` parameters; names of its columns, the columns, and how many rows they have.
---@param sql string
---@param parameters table
---@param count integer
---@return string[]
---@return internal value[][]
---@return integer
function mr_Database:run(sql, parameters, count) end

---Completes 'claim' to 'write': switches to the write-ahead log.
function mr_Database:write_ahead() end

---@class mr.Distribution
local mr_Distribution = {}

---Probability of at most s.
---@param s number
---@return number
function mr_Distribution:cdf(s) end

---Largest value.
---@return number
function mr_Distribution:max() end

---Mean.
---@return number
function mr_Distribution:mean() end

---How it was computed: enumerated, characteristic function, sampled or values.
---@return string
function mr_Distribution:method() end

---Least value.
---@return number
function mr_Distribution:min() end

---Distinct values and their probabilities.
---@return mr.Tensor
---@return mr.Tensor
function mr_Distribution:pmf() end

---The least value with cdf of at least q.
---@param q number
---@return number
function mr_Distribution:quantile(q) end

---Distinct values over range (Eq. 3.13).
---@return number
function mr_Distribution:sample_gain() end

---Standard deviation.
---@return number
function mr_Distribution:sd() end

---@class mr.Exit
---@field exit_status integer What the program will end with.
---@field message string What it will say.
local mr_Exit = {}

---@class mr.FileLock
local mr_FileLock = {}

---Whether its file is still there: a new one could be locked by others.
---@return boolean
function mr_FileLock:holds() end

---@class mr.ItemNeighbours
---@field pairs integer Number of pairs of an item and one of its nearest.
local mr_ItemNeighbours = {}

---Sums of the cosines of each row's item with the user's items that are near it.
---@param users mr.Tensor
---@param items mr.Tensor
---@param lists mr.Lists
---@return mr.Tensor
function mr_ItemNeighbours:scores(users, items, lists) end

---All that scores need as tensors, for a file.
---@return { known_counts: mr.Tensor, known_items: mr.Tensor, counts: mr.Tensor, items: mr.Tensor, cosines: mr.Tensor }
function mr_ItemNeighbours:state() end

---@class mr.Lists
---@field count integer Number of lists.
---@field documents string[] Names of the rows; empty where they have none.
---@field ids string[] Names of the lists; empty where they have none.
---@field relevance mr.Tensor Relevance per row; float32 unless to() says otherwise.
---@field relevant mr.Tensor Rows per list with relevance of at least 1; int64.
---@field rows integer Number of rows of all lists.
---@field sizes mr.Tensor Rows per list; int64.
local mr_Lists = {}

---Softmax attention (Vaswani et al. 2017, Eq. 1) of the rows of each list to each other: matrices of one row per row, their columns divided among the heads (default 1).
---@param q mr.Tensor
---@param k mr.Tensor
---@param v mr.Tensor
---@param heads? integer
---@return mr.Tensor
function mr_Lists:attention(q, k, v, heads) end

---The lists with the numbers of a part of `order`, and their features, items and users.
---@param order mr.Tensor
---@param first integer
---@param count integer
---@param features? mr.Tensor
---@param items? mr.Tensor
---@param users? mr.Tensor
---@param device string
---@return mr.Lists
---@return mr.Tensor?
---@return mr.Tensor?
---@return mr.Tensor?
function mr_Lists:batch(order, first, count, features, items, users, device) end

---Numbers of the first k rows of each list.
---@param k integer
---@return mr.Tensor
function mr_Lists:head(k) end

---Largest row of each list, of a matrix column by column; -inf for an empty list.
---@param x mr.Tensor
---@return mr.Tensor
function mr_Lists:max(x) end

---Mean of the rows of each list, of a matrix column by column; 0 for an empty list.
---@param x mr.Tensor
---@return mr.Tensor
function mr_Lists:mean(x) end

---Numbers of the rows of these lists, in the order of `select`.
---@param index mr.Tensor
---@return mr.Tensor
function mr_Lists:rows_of(index) end

---The lists with these numbers, in this order.
---@param index mr.Tensor
---@return mr.Lists
function mr_Lists:select(index) end

---e^x over its sum within the list; of a matrix, column by column.
---@param x mr.Tensor
---@return mr.Tensor
function mr_Lists:softmax(x) end

---The list's value for each of its rows, of any type: of users their numbers, of a matrix its rows.
---@param v mr.Tensor
---@return mr.Tensor
function mr_Lists:spread(v) end

---Sum of the rows of each list; of a matrix, column by column.
---@param x mr.Tensor
---@return mr.Tensor
function mr_Lists:sum(x) end

---Rows of x that belong to these lists, in the order of `select`; not differentiable.
---@param x mr.Tensor
---@param index mr.Tensor
---@return mr.Tensor
function mr_Lists:take_rows(x, index) end

---The same lists; their relevance reads as 'float32' or 'float64'.
---@param dtype string
---@return mr.Lists
function mr_Lists:to(dtype) end

---The same lists with other relevance.
---@param relevance mr.Tensor
---@return mr.Lists
function mr_Lists:with_relevance(relevance) end

---@class mr.Metric
---@field about string What it is, where mr.metrics has no function that says so.
---@field also string[] Other names of it.
---@field base string Name without k and parameter.
---@field closed_forms boolean Whether bounds know it without trying orders.
---@field denominator string What AP is divided by.
---@field empty string What a list without relevant rows counts as.
---@field gain string Gain of grades.
---@field has_smooth boolean Whether there is a smooth form.
---@field k integer? Ranks that count, nil: all.
---@field lacks_top boolean Whether a loss of it needs the largest grade, which is not given.
---@field minimize boolean Whether less is better.
---@field name string As in "ndcg@10", or what a script called it.
---@field needs_k boolean Whether it is nothing without k.
---@field needs_k_rows boolean Whether lists with fewer than k rows are 0.
---@field number integer The same for equal metrics, ties and empty lists aside.
---@field parameter number The number in parentheses.
---@field parameter_name string? Its name among options, or nil.
---@field relevant number Least grade of a relevant row.
---@field script integer Number of the script's function, or 0.
---@field sums_gains boolean Whether rows count by their gains, whatever is relevant.
---@field swaps boolean Whether it is known what a swap of two rows changes (LambdaRank).
---@field ties string What equal scores mean.
---@field top number? Largest grade of ERR, nil: the largest there is.
---@field zero boolean Whether lists without relevant rows are 0 by definition.
local mr_Metric = {}

---Raises where a grade's gain is too large to be added up, and names the list and the row.
---@param lists mr.Lists
function mr_Metric:check_gains(lists) end

---Options that it takes besides those of all.
---@return string[]
function mr_Metric:option_names() end

---Its smooth form, one value per list.
---@param scores mr.Tensor
---@param lists mr.Lists
---@param gain number
---@return mr.Tensor
function mr_Metric:smooth(scores, lists, gain) end

---Exact values, one per list.
---@param ranking mr.Ranking
---@param empty string
---@return mr.Tensor
function mr_Metric:values(ranking, empty) end

---The metric with one option set.
---@param option string
---@param value string|number
---@return mr.Metric
function mr_Metric:with(option, value) end

---@class mr.MetricRegistry
local mr_MetricRegistry = {}

---Its name without them, ours where others call it otherwise; nil: none.
---@param text string
---@return string?
function mr_MetricRegistry:base(text) end

---Adds a metric of a script's function; the function's number.
---@param name string
---@param minimize boolean
---@return integer
function mr_MetricRegistry:define(name, minimize) end

---Names of all, sorted.
---@return string[]
function mr_MetricRegistry:names() end

---The metric of a name, with k and parameter.
---@param text string
---@return mr.Metric
function mr_MetricRegistry:parse(text) end

---@class mr.OptimizerState
local mr_OptimizerState = {}

---@class mr.Phase
local mr_Phase = {}

---@class mr.Positives
---@field count integer Number of users.
---@field distinct_items integer Number of different items that users have.
---@field longest integer Most items of one user.
---@field rows integer Number of relevant items of all users.
---@field users mr.Tensor The users; int64.
local mr_Positives = {}

---@class mr.Profiler
local mr_Profiler = {}

---What was measured so far, in seconds and bytes.
---@return { rows: { name: string, kind: string, calls: integer, self: number, total: number, bytes: integer }[], elapsed: number, in_operations: number, waited: boolean, events: integer, left_out: integer }
function mr_Profiler:account() end

---Writes the events in Chrome's trace format.
---@param path string
function mr_Profiler:save_trace(path) end

---Measures until the result is closed.
---@return mr.RunningProfile
function mr_Profiler:start() end

---@class mr.Ranking
---@field dtype string The type of the scores, which metrics' values have.
local mr_Ranking = {}

---The same ranking, of which metrics give float64 values.
---@return mr.Ranking
function mr_Ranking:double() end

---@class mr.RunningProfile
local mr_RunningProfile = {}

---@class mr.Tally
---@field so_far number? The sum so far; nil on the GPU, which would have to be waited for.
local mr_Tally = {}

---Adds factor times a number, or a tensor of one, to the sum.
---@param value mr.Tensor|number
---@param factor number
function mr_Tally:add(value, factor) end

---The sum; an error if a check found NaN.
---@return number
function mr_Tally:finish() end

---Sets all to zero; checks of the GPU's numbers report here from then on and do not wait.
function mr_Tally:open() end

---@class mr.Tensor
---@field device string 'cpu' or 'cuda'.
---@field dtype string 'float32', 'float64' or 'int64'.
---@field grad mr.Tensor? The gradient collected so far, or nil.
---@field tracked boolean Whether operations on it are recorded.
local mr_Tensor = {}

---Absolute value of each entry; its derivative at 0 is 0.
---@return mr.Tensor
function mr_Tensor:abs() end

---Where the largest entry is, counted from 1; int64.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:argmax(dim) end

---Where the smallest entry is, counted from 1; int64.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:argmin(dim) end

---The same numbers without graph.
---@return mr.Tensor
function mr_Tensor:detach() end

---The same numbers as float64.
---@return mr.Tensor
function mr_Tensor:double() end

---Entries set to 0 with this probability, the others divided by what remains; which ones depends on seed and stream only.
---@param rate number
---@param seed integer
---@param stream string
---@return mr.Tensor
function mr_Tensor:dropout(rate, seed, stream) end

---Rows of a matrix at the numbers in index (int64, counted from 1, any shape), whose shape the result has with one dimension more; its derivative is sparse.
---@param index mr.Tensor
---@return mr.Tensor
function mr_Tensor:embedding(index) end

---1 where equal to other, else 0.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:eq(other) end

---e to the power of each entry.
---@return mr.Tensor
function mr_Tensor:exp() end

---The same numbers as float32.
---@return mr.Tensor
function mr_Tensor:float() end

---Entries along a dimension at the numbers in index (int64, counted from 1), which has as many dimensions: x:gather(2, i)[r][c] is x[r][i[r][c]].
---@param dim integer
---@param index mr.Tensor
---@return mr.Tensor
function mr_Tensor:gather(dim, index) end

---1 where greater than or equal to other, else 0.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:ge(other) end

---1 where greater than other, else 0.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:gt(other) end

---1 where the entry is NaN, else 0.
---@return mr.Tensor
function mr_Tensor:isnan() end

---The only entry as a number.
---@return number
function mr_Tensor:item() end

---Rows of a matrix (of more dimensions: along the last) with mean 0 and variance 1, times gain, plus bias (Ba et al. 2016); epsilon (default 1e-5) is added to the variance.
---@param gain mr.Tensor
---@param bias mr.Tensor
---@param epsilon? number
---@return mr.Tensor
function mr_Tensor:layer_norm(gain, bias, epsilon) end

---1 where less than or equal to other, else 0.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:le(other) end

---Natural logarithm of each entry.
---@return mr.Tensor
function mr_Tensor:log() end

---log of e^x over its sum along a dimension, without overflow.
---@param dim integer
---@return mr.Tensor
function mr_Tensor:log_softmax(dim) end

---log of the sum of e^x, of all entries or along a dimension, without overflow.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:logsumexp(dim) end

---The same numbers truncated to int64.
---@return mr.Tensor
function mr_Tensor:long() end

---1 where less than other, else 0.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:lt(other) end

---Product of matrices, those in the last two dimensions; dimensions before them are broadcast. A vector is a row on the left and a column on the right.
---@param other mr.Tensor
---@return mr.Tensor
function mr_Tensor:matmul(other) end

---Largest entry, of all or along a dimension; its derivative goes to the first of equals.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:max(dim) end

---The larger of two entries, broadcast; equal entries share the derivative.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:maximum(other) end

---Mean of all entries, or along a dimension.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:mean(dim) end

---Smallest entry, of all or along a dimension; its derivative goes to the first of equals.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:min(dim) end

---The smaller of two entries, broadcast; equal entries share the derivative.
---@param other mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:minimum(other) end

---`count` indices of a dimension from `first`; along the first it shares memory.
---@param dim integer
---@param first integer
---@param count integer
---@return mr.Tensor
function mr_Tensor:narrow(dim, first, count) end

---The larger of each entry and 0, NaN where it is NaN; its derivative at 0 is 0.
---@return mr.Tensor
function mr_Tensor:relu() end

---Inner product of each row with the same row of other.
---@param other mr.Tensor
---@return mr.Tensor
function mr_Tensor:row_dot(other) end

---The rows with these numbers (int64, counted from 1); its derivative is sparse.
---@param index mr.Tensor
---@return mr.Tensor
function mr_Tensor:rows(index) end

---A copy with values added along a dimension where index says, the counterpart of gather; numbers may repeat and add up, in the same order every time.
---@param dim integer
---@param index mr.Tensor
---@param values mr.Tensor
---@return mr.Tensor
function mr_Tensor:scatter_add(dim, index, values) end

---1 / (1 + e^-x) of each entry, without overflow.
---@return mr.Tensor
function mr_Tensor:sigmoid() end

---Size of a dimension, counted from 1.
---@param dim integer
---@return integer
function mr_Tensor:size(dim) end

---e^x over its sum along a dimension.
---@param dim integer
---@return mr.Tensor
function mr_Tensor:softmax(dim) end

---log(1 + e^x) of each entry, without overflow.
---@return mr.Tensor
function mr_Tensor:softplus() end

---Square root of each entry.
---@return mr.Tensor
function mr_Tensor:sqrt() end

---Standard deviation, the square root of `var`; where it is 0, so is its derivative.
---@param dim? integer
---@param correction? number
---@return mr.Tensor
function mr_Tensor:std(dim, correction) end

---Sum of all entries, or along a dimension. Adds in float64.
---@param dim? integer
---@return mr.Tensor
function mr_Tensor:sum(dim) end

---Sum of all entries over a number.
---@param divisor number
---@return mr.Tensor
function mr_Tensor:sum_over(divisor) end

---Transpose of a matrix.
---@return mr.Tensor
function mr_Tensor:t() end

---Hyperbolic tangent of each entry.
---@return mr.Tensor
function mr_Tensor:tanh() end

---The same numbers on a device ('cpu', 'cuda') or as a type ('float32', 'float64', 'int64').
---@param where string
---@return mr.Tensor
function mr_Tensor:to(where) end

---The tensor with two dimensions in each other's place.
---@param dim integer
---@param other integer
---@return mr.Tensor
function mr_Tensor:transpose(dim, other) end

---Variance of all entries or along a dimension: squared differences to the mean over the number of entries less the correction, 1 unless given.
---@param dim? integer
---@param correction? number
---@return mr.Tensor
function mr_Tensor:var(dim, correction) end

---Entries of a where self is not 0, of b elsewhere.
---@param a mr.Tensor|number
---@param b mr.Tensor|number
---@return mr.Tensor
function mr_Tensor:where(a, b) end

---Clears the gradient collected so far.
function mr_Tensor:zero_grad() end

---@class mr.UserItems
---@field items integer Number of items.
---@field rows integer Number of pairs.
---@field users integer Number of users.
local mr_UserItems = {}

---The users with any item; int64.
---@return mr.Tensor
function mr_UserItems:active_users() end

---How many pairs of these users are here and not in the other table.
---@param other mr.UserItems
---@param users mr.Tensor
---@return integer
function mr_UserItems:count_without(other, users) end

---How many users have each item; int64.
---@return mr.Tensor
function mr_UserItems:item_counts() end

---The items of some users; all others have none.
---@param users mr.Tensor
---@return mr.UserItems
function mr_UserItems:only(users) end

---The same pairs among so many users and items.
---@param all_users integer
---@param all_items integer
---@return mr.UserItems
function mr_UserItems:sized(all_users, all_items) end

---The items of both.
---@param other mr.UserItems
---@return mr.UserItems
function mr_UserItems:with(other) end

return core
