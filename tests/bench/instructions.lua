-- How many instructions hot kernels take on fixed inputs, counted by callgrind: the same on every run, so a change for the worse shows where
-- a clock would not tell it from noise. Compared with the counts in instructions.txt, which `--update` writes anew.
-- Usage: moonrank tests/bench/instructions.lua [--update] [--only NAME]; needs valgrind.
local mr = require "moonrank"

local args = mr.args{
  update = { default = false, help = "write the counts down instead of comparing" },
  only = { default = "", help = "one kernel by name" },
  program = { default = os.getenv("MOONRANK") or "build/release/moonrank", help = "the program that is counted" },
  tolerance = { default = 0.1, help = "more than this share above the written count is a failure" },
}
local here = arg[0]:match("^(.*/)") or "./"
local baseline = here .. "instructions.txt"

-- Each: what is made before, and what is counted. One thread, float32, the form that AVX2 processors take.
local one_list = [[local n, lists, scores = %d
local y = {} for i = 1, n do y[i] = i %% 3 == 0 and 1 or 0 end
lists, scores = mr.lists{y}, mr.normal({n}, {seed = 1}):requires_grad() ]]
local kernels = {
  { "smooth_rank_direct", one_list:format(500), "mr.no_grad(function() mr.smooth.ndcg(scores, lists) end)" },
  { "smooth_ap_step_direct", one_list:format(500), "mr.smooth.ap(scores, lists):backward(mr.ones(1))" },
  { "smooth_ap_step_boxes", one_list:format(20000), "mr.smooth.ap(scores, lists):backward(mr.ones(1))" },
  { "exact_metrics", one_list:format(20000), "mr.evaluate(scores, lists, {'ndcg', 'ap', 'rr', 'rbp(0.95)'})" },
  { "exact_distribution", "kappa = 8 s = mr.tensor{0.5} l = mr.lists{{1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}} ",
    "kappa = kappa + 1e-9 mr.bounds.distribution_bound{kappa = kappa}.apply(s, 'ap', l)" },
  { "adam_step", "w, l = mr.zeros(50000):requires_grad(), mr.normal({50000}, {seed = 1}) adam = mr.optim.adam{}:bind{w} ",
    "adam:zero_grad(); (w * l):sum():backward() adam:step()" },
}

-- Instructions of the whole program with so many rounds.
local function counted(kernel, rounds)
  local code = kernel[2] .. ("for _ = 1, %d do %s end"):format(rounds, kernel[3])
  local file = os.tmpname()
  local handle = assert(io.open(file, "w"))
  handle:write("local mr = require 'moonrank' local s, l, w, adam, kappa " .. code)
  handle:close()
  local command = ("MOONRANK_SIMD=avx2 valgrind --tool=callgrind --callgrind-out-file=/dev/null '%s' --threads 1 %s 2>&1"):format(
    args.program, file)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a")
  local ok = pipe:close()
  os.remove(file)
  local count = text:match("Collected : (%d+)")
  if not ok or not count then error(("%s: valgrind says: %s"):format(kernel[1], text:sub(-400)), 0) end
  return tonumber(count)
end

local function written()
  local counts = {}
  local file = io.open(baseline)
  if not file then return counts end
  for line in file:lines() do
    local name, count = line:match("^(%S+) +(%d+)$")
    if name then counts[name] = tonumber(count) end
  end
  file:close()
  return counts
end

local known, rows, lines, worse = written(), {}, {}, {}
for _, kernel in ipairs(kernels) do
  local name = kernel[1]
  if args.only == "" or args.only == name then
    -- the first rounds warm caches and make what is made once
    local count = (counted(kernel, 6) - counted(kernel, 2)) // 4
    local ratio = known[name] and count / known[name]
    rows[#rows + 1] = { name, count, known[name], ratio }
    lines[#lines + 1] = ("%-24s %d"):format(name, count)
    if ratio and ratio > 1 + args.tolerance then worse[#worse + 1] = ("%s: %.2f times"):format(name, ratio) end
    if not ratio and not args.update then worse[#worse + 1] = name .. ": no count is written down" end
  end
end
print(mr.table{ columns = { "kernel", "instructions", "written down", "ratio" }, rows = rows, formats = { ratio = "%.3f" } })
if args.update then
  local file = assert(io.open(baseline, "w"))
  file:write("# Instructions per call, by tests/bench/instructions.lua --update (preset release, AVX2 forms, one thread)\n")
  file:write(table.concat(lines, "\n"), "\n")
  file:close()
elseif #worse > 0 then
  error("more instructions than written down: " .. table.concat(worse, "; "), 0)
end
