-- Times one step (value and derivative) of every loss of mr.losses.names() on lists of equal length, and the same lists
-- in PyTorch and allRank in the same run (tests/bench/peers/losses_torch.py has their forms). Scores are normally
-- distributed, and grades are as frequent as in a public collection of graded documents. If the value or derivative of
-- a peer (another library's form of the loss) differs from Moonrank's, its row has no time and states the difference.
-- SoftRank, whose time is cubic in the rows of a list, gets fewer lists. The last lines give each peer's least and
-- largest ratio of times, and the losses at which the peer is faster.
-- Usage: moonrank tests/bench/losses.lua [--losses ranknet,listnet] [--rows 128] [--forms plain,compiled] [--csv FILE]
-- A step of 1,024 interactions with 1,000 sampled negatives each:
-- --losses sl,bsl,psl,sl_at_k,llpauc --rows 1001 --total 1025024 --interactions
local mr = require "moonrank"
local core = require "moonrank.core"
local bench = dofile((arg[0]:match("^(.*/)") or "./") .. "bench.lua")

local names = mr.losses.names()
local args = bench.args{
  losses = { default = names, choices = names, help = "which losses" },
  rows = { default = { 128 }, help = "rows of a list" },
  interactions = { default = false, help = "the first row of a list is relevant and the others are not, as in batches "
    .. "of interactions with sampled negatives, in place of graded rows" },
  total = { default = 16384, help = "rows of all lists together, at least one list" },
  threads = { default = { 1, 2 }, help = "numbers of threads" },
  forms = { default = { "plain", "compiled" }, choices = { "plain", "compiled", "none" },
    help = "of the peers, or none" },
  repeats = { default = 9, help = "each is measured so often; the median counts" },
}

local shares = { 0.52, 0.84, 0.97, 0.99 }  -- share of rows with grade 0, with grade 0 or 1, and so on

local function lists_of(n, count)
  local relevance, sizes = mr.uniform({ n * count }, { seed = 2 }):totable(), {}
  for i, u in ipairs(relevance) do
    local grade = 0
    while shares[grade + 1] and u > shares[grade + 1] do grade = grade + 1 end
    relevance[i] = args.interactions and 0 or grade
  end
  for l = 1, count do
    sizes[l] = n
    relevance[n * (l - 1) + 1] = 1  -- every list has at least one relevant row
  end
  return mr.lists{ relevance = mr.tensor(relevance), sizes = sizes }
end

local rows, add = bench.collect()
local temporary <close> = bench.temporary()

-- Returns the times that each peer (another library's form of the loss) prints, as { program =, times... }. If there
-- are none, an entry with the reason as its `note`.
local function peers(name, count, n, threads)
  local order, by_program = {}, {}
  local lines, reason = bench.peer_lines("losses_torch.py", name, temporary.path, count, n, threads, args.repeats,
    table.concat(args.forms, ","))
  for _, line in ipairs(lines) do
    local program, said = line:match "^(.-)\t(.*)$"
    if program then
      if not by_program[program] then
        by_program[program] = { program = program }
        order[#order + 1] = by_program[program]
      end
      if tonumber(said) then table.insert(by_program[program], tonumber(said)) else by_program[program].note = said end
    end
  end
  if reason then order[#order + 1] = { program = "peers", note = reason } end
  return order
end

local function measure(name, n)
  local count = math.max(1, args.total // n // (name == "soft_rank" and 16 or 1))
  local loss, lists = mr.losses[name](), lists_of(n, count)
  local scores = mr.normal({ n * count }, { seed = 1 }):requires_grad()
  local function step()
    scores:zero_grad()
    local value = loss(scores, lists):sum()
    value:backward()
    return value
  end
  local file = assert(io.open(temporary.path, "wb"))
  local value = step():item()
  for _, numbers in ipairs{ scores:detach(), lists.relevance, scores.grad } do
    file:write(bench.floats(numbers:totable()))
  end
  file:write(string.pack("<f", value))
  file:close()
  local workload = ("%s of %d lists of %d rows"):format(name, count, n)
  for _, threads in ipairs(args.threads) do
    core.threads(threads)
    add(workload, "moonrank", threads, bench.times_of(step, args.repeats))
    if args.forms[1] ~= "none" then
      for _, peer in ipairs(peers(name, count, n, threads)) do add(workload, peer.program, threads, peer, peer.note) end
    end
  end
end

-- Returns the summary: a line for every peer (another library) and number of threads, with the range of ratios of
-- times.
local function summary()
  local order, by_peer = {}, {}
  for _, row in ipairs(rows) do
    local ratio, key = row[7], ("%s, threads %d"):format(row[2], row[3])
    if ratio and row[2] ~= "moonrank" then
      if not by_peer[key] then
        by_peer[key] = { least = math.huge, most = 0, count = 0, faster = {} }
        order[#order + 1] = key
      end
      local of = by_peer[key]
      of.least, of.most, of.count = math.min(of.least, ratio), math.max(of.most, ratio), of.count + 1
      if ratio < 1 then table.insert(of.faster, ("%s (%.2f)"):format(row[1]:match "^%S+", ratio)) end
    end
  end
  for i, key in ipairs(order) do
    local of = by_peer[key]
    local faster = #of.faster > 0 and "faster at " .. table.concat(of.faster, ", ") or "faster at none"
    order[i] = ("%s: %.3g to %.3g times ours over %d losses, %s\n"):format(key, of.least, of.most, of.count, faster)
  end
  return table.concat(order)
end

for _, n in ipairs(args.rows) do
  for _, name in ipairs(args.losses) do measure(name, n) end
end
bench.finish("Losses, forward and backward, float32; peers whose numbers differ have no time.", rows, args.csv)
io.write(summary())
