-- Defects that were there once, each put back by the change that undoes a part of its repair (README.md): who finds it again, of the parsers'
-- fuzzing ("fuzz"), random calls and tests.
return {
  { defect = "deep JSON ended the program", file = "runtime/io/json.cpp", by = { "fuzz", "case JSON as deep as the limit is read, deeper is not",
    "models", "bounds_cache" }, change = {
    "if (++depth > deepest_json) return true;",
    "++depth;" } },
  { defect = "values of another type were read past their end", file = "runtime/tensor/tensor.h", by = { "calls core",
    "case entries are read as the type that they have, and as no other", "data/ratings" }, change = {
    "if (dtype() != type) [[unlikely]]\n      wrong_type(type);",
    "(void)type;" } },
  { defect = "a user had an item twice", file = "runtime/data/positives.cpp", by = { "calls core", "case a user has an item once", "data/ratings" },
    change = {
    "if (rated[i].item == rated[i - 1].item) {",
    "if (rated[i].item == 0) {" } },
  { defect = "statistics did not end where infinities met", file = "runtime/statistics/stats.cpp", by = { "calls core", "calls library",
    "stats/inputs" }, change = {
    "values.push_back(x[i] == y[i] ? 0 : x[i] / unit - y[i] / unit);",
    "values.push_back(x[i] / unit - y[i] / unit);" } },
  { defect = "a cache took the place of another file", file = "runtime/bounds/table_file.cpp", by = { "calls core", "bounds_cache" }, change = {
    "if (const std::string why = foreign_to(format, path); !why.empty()) throw",
    "if (const std::string why = foreign_to(format, path); false) throw" } },
  { defect = "a model took the place of another file", file = "runtime/io/safetensors.cpp", by = { "calls core",
    "case a writer replaces what it wrote, in any version and cut short, and nothing else", "models" }, change = {
    "return foreign_to(file.metadata.at(format_key), there);",
    "return foreign_to(file.metadata.at(format_key), there).substr(0, 0);" } },
  { defect = "a file took the place of a device or pipe", file = "runtime/io/new_file.cpp", by = { "calls core",
    "case pipes, devices, folders and links to nothing are never replaced" }, change = {
    "if (!S_ISREG(there.st_mode)) fail(\"it is not a regular file\");",
    "" } },
  { defect = "error objects with a wrong __tostring ended the program", file = "runtime/lua/error_text.cpp", by = { "calls library",
    "case any object can be raised: in a script, in coroutines, in a session, in a spec" }, change = {
    "if (lua_pcall(L, 1, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING) {",
    "if (lua_pcall(L, 1, 1, 0) == LUA_OK) {" } },
  { defect = "bounds gave NaN where no ordering can matter", file = "runtime/bounds/bound_stats.cpp", by = { "calls core", "degenerate" }, change = {
    "return shape.of_one_kind() || (forms.discounts == Discounts::ones && forms.counted_ranks(metric, shape) >= shape.n);",
    "return (void)forms, shape.of_one_kind();" } },
  { defect = "Ctrl-C did not reach coroutines", file = "runtime/lua/interrupt.cpp", by = { "case one Ctrl-C ends whatever takes long" }, change = {
    "  set_hook(running);",
    "  set_hook(L);" } },
  { defect = "Ctrl-C did not reach made-up data", file = "runtime/data/synthetic.cpp", by = { "case one Ctrl-C ends whatever takes long" }, change = {
    "    for (int64_t d = 0; d < n; ++d) {\n      cpu::check_interrupt();",
    "    for (int64_t d = 0; d < n; ++d) {" } },
  { defect = "sizes that no machine has were tried", file = "runtime/ranking/orders.cpp", by = { "calls core", "edges",
    "case sizes that no machine has are refused at once" }, change = {
    "if (count < 0 || count > most_entries / std::max<int64_t>(rows, 1))",
    "if (count < 0)" } },
  { defect = "output that could not be written was silence", file = "runtime/cli/surroundings.cpp", by = {
    "case output that cannot be written is an error, whatever was to be written" }, change = {
    "  print_error(\"standard output cannot be written\" + why);\n  _exit(1);",
    "  print_error(\"standard output cannot be written\" + why);" } },
  { defect = "a limit on the size of files ended the program", file = "runtime/cli/main.cpp", by = {
    "case a limit on files is an error, no signal, and nothing is damaged", "models" }, change = {
    "std::signal(SIGXFSZ, SIG_IGN);",
    "" } },
  { defect = "a folder of the library that is not there was silence", file = "runtime/cli/surroundings.cpp", by = {
    "case a variable whose value means nothing is one error, before anything is done" }, change = {
    "  check_folder(\"MOONRANK_STDLIB\", \"expected a folder with moonrank/ in it, as stdlib/ of the sources\", \"moonrank\");\n",
    "" } },
  { defect = "instructions without a meaning were silence", file = "runtime/cli/surroundings.cpp", by = {
    "case a variable whose value means nothing is one error, before anything is done" }, change = {
    "  cpu::simd();          // reads MOONRANK_SIMD\n",
    "" } },
  { defect = "a file that was cut short while read ended the program", file = "runtime/io/regular_file.cpp", by = {
    "case a file that is cut short while it is read is an error", "case a LETOR text that is cut short while it is read is an error" }, change = {
    "    if (n == 0 && at + bytes <= stamp_.size)\n",
    "    if (n == 0) return;\n    if (n == 0 && at + bytes <= stamp_.size)\n" } },
  { defect = "tables were believed before they were checked", file = "runtime/bounds/table_file.cpp", by = { "bounds_cache" }, change = {
    "if (!is_table(own, places[2 * t], places[2 * t + 1])) damaged(\"table \" + std::to_string(t + 1));",
    "if (!is_table(own, places[2 * t], places[2 * t + 1])) continue;" } },
  { defect = "a cache's checksum was not looked at", file = "runtime/bounds/table_file.cpp", by = { "bounds_cache" }, change = {
    "if (file.metadata[\"sha256\"] != checksum(keys, file.tensors)) damaged(\"its checksum differs\");",
    "" } },
  { defect = "a packed file of 6 MB unpacked to 6 GB", file = "runtime/io/text_file.cpp", by = { "fuzz",
    "case what unpacks to a hundred times itself is refused before it fills memory" }, change = {
    "if (static_cast<int64_t>(filled) > limit.bytes()) fail(path, limit.text());",
    "if (static_cast<int64_t>(filled) > max_bytes) fail(path, limit.text());" } },
  { defect = "distributions of NaN and infinities were undefined", file = "runtime/bounds/ranking_distribution.cpp", by = { "calls core", "edges" },
    change = {
    "if (std::fabs(numbers[i]) <= largest) continue;",
    "if (largest > 0) continue;" } },
  { defect = "least squares without columns were undefined", file = "runtime/statistics/least_squares.cpp", by = { "calls core", "edges" }, change = {
    "if (p == 0) throw ArgumentError(\"x\", \"shape \" + x.shape().text() + \", expected a column at least\");",
    "" } },
  { defect = "figures refused apostrophes", file = "stdlib/moonrank/plot/text.lua", by = { "calls library", "plot/text" }, change = {
    "[\"'\"] = \"'.\\\"'\\\".'\"",
    "[\"'\"] = \"''\"" } },
  { defect = "figures refused per cent", file = "stdlib/moonrank/plot/panel.lua", by = { "calls library", "plot/text" }, change = {
    "(tick.text:gsub(\"%%\", \"%%%%\"))",
    "tick.text" } },
  { defect = "names reached the terminal with what it obeys", file = "stdlib/moonrank/sweep/live.lua", by = { "sweep", "results" },
    change = {
    "self.out:write(core.safe_text(text, true), \"\\n\")",
    "self.out:write(text, \"\\n\")" } },
  { defect = "garbage from a worker ended the sweep", file = "stdlib/moonrank/sweep/message.lua", by = { "calls library", "sweep/pool" }, change = {
    "local ok, message = pcall(frame.unpack, bytes)",
    "local ok, message = true, frame.unpack(bytes)" } },
  { defect = "temporary files followed links", file = "runtime/io/new_file.cpp", by = {
    "case temporary files have names that nobody can lay a link at" }, change = {
    "if (getrandom(&number, sizeof number, 0) != sizeof number) throw std::runtime_error(\"no random numbers\");",
    "" } },
  { defect = "tensors of a file overlapped", file = "runtime/io/safetensors.cpp", by = { "fuzz",
    "case tensors in a file follow each other without overlap or gap" }, change = {
    "    need_one_after_another();\n",
    "" } },
  { defect = "stores were opened without SQLite's defences", file = "runtime/io/sqlite.cpp", by = { "fuzz",
    "case nothing in a database runs, and its insides cannot be changed" }, change = {
    "{SQLITE_DBCONFIG_DEFENSIVE, 1}",
    "{SQLITE_DBCONFIG_DEFENSIVE, 0}" } },
  { defect = "what was in a store ran", file = "runtime/io/sqlite.cpp", by = { "fuzz",
    "case nothing in a database runs, and its insides cannot be changed" }, change = {
    "{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}",
    "{SQLITE_DBCONFIG_ENABLE_TRIGGER, 1}" } },
  { defect = "metrics of a script got ranks of another type than their lists", file = "stdlib/moonrank/metrics/registry.lua", by = { "calls library",
    "bounds/estimate", "metrics/registry" }, change = {
    "lists:to(ranks.dtype)",
    "lists" } },
  { defect = "a bound that is 0 everywhere passed its check", file = "stdlib/moonrank/bounds/check.lua", by = { "calls library", "bound_check" },
    change = {
    "if #flat < #s.sizes then",
    "if #flat > 0 then" } },
  { defect = "the worst epoch was chosen", file = "stdlib/moonrank/metrics/registry.lua", by = { "calls library", "fit" }, change = {
    "if self.minimize then return a < b end",
    "" } },
  { defect = "an epoch of NaN stayed the best", file = "stdlib/moonrank/metrics/registry.lua", by = { "calls library", "fit", "metrics/registry" },
    change = {
    "if b == nil or b ~= b then return true end",
    "if b == nil then return true end" } },
  { defect = "runs of other data were returned", file = "stdlib/moonrank/sweep/provenance.lua", by = { "sweep/provenance" }, change = {
    "local differs = not problem and difference(entries, now)",
    "local differs = false and difference(entries, now)" } },
  { defect = "made-up data had real names", file = "scripts/kept_runs.lua", by = { "scripts/thesis", "scripts/smoke" }, change = {
    "name = o.name .. (args.made_up and \", made-up data\" or \"\")",
    "name = o.name" } },
  { defect = "sums at the limit did not count among random signs", file = "runtime/statistics/resampling.cpp", by = { "stats/resampling",
    "stats" }, change = {
    "found += std::fabs(sums[k]) >= limit ? 1 : 0;",
    "found += std::fabs(sums[k]) > limit ? 1 : 0;" } },
  { defect = "requires_grad left its tensor as it was", file = "runtime/ops/gradient.cpp", by = { "calls core", "tensor" }, change = {
    "void track_of(Tensor& x) { x = requires_grad(x); }",
    "void track_of(Tensor& x) { requires_grad(x); }" } },
  { defect = "a deviation of no values was -0", file = "runtime/statistics/stats.cpp", by = { "stats/inputs", "stats" }, change = {
    "return {mean, n > 1 ? std::sqrt(square / static_cast<double>(n - 1)) : undefined, n,",
    "return {mean, std::sqrt(square / static_cast<double>(n - 1)), n," } },
}
