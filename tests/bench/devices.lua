-- Measures kernels on a GPU: time, bandwidth and arithmetic of each, as shares of those of a plain copy and of a large
-- matrix product in the same run, and beside compiled PyTorch (tests/bench/peers/devices_torch.py) if python3 has it.
-- Without a GPU it prints one line that says so. docs/speed/h200.csv has the numbers of one run, and
-- docs/speed/h200.txt its day, device and versions.
-- Usage: moonrank tests/bench/devices.lua [--repeats 20] [--csv FILE]
local mr = require "moonrank"
local core = require "moonrank.core"
local interactions = require "moonrank.data.interactions"
local here = arg[0]:match("^(.*/)") or "./"
local bench = dofile(here .. "bench.lua")
local protocol = dofile(here .. "../../scripts/ir_benchmark/protocol.lua")

local args = bench.args{
  repeats = { default = 20, help = "every work is measured so often, after three to warm up; the median counts" },
}

if not mr.has_cuda() or core.cuda() == "emulated GPU" then
  print("devices.lua measures a GPU, and this machine has none (" .. core.cuda() .. ")")
  return
end
mr.device("cuda")

local marker = mr.zeros(1)

-- Returns the median seconds of `work`. Each time includes the wait until the GPU has finished.
local function seconds(work)
  local times = {}
  for i = 1, args.repeats + 3 do
    local started = core.clock()
    work()
    marker:item()
    if i > 3 then times[#times + 1] = core.clock() - started end
  end
  table.sort(times)
  return times[#times // 2 + 1]
end

local lists, rows = 4096, 256
local function judged(n)
  local relevance = {}
  for l = 1, lists do
    local list = {}
    for r = 1, n do list[r] = r % 8 == 0 and 1 or 0 end
    relevance[l] = list
  end
  return mr.lists(relevance)
end

-- An entry of `works` has a name, a function, the bytes that it must move at least, and the arithmetic operations that
-- it must do at least (0 if memory bandwidth is the limit).
local works = {}

local function plain(name, bytes, operations, work) works[#works + 1] = { name, work, bytes, operations } end

do
  local x = mr.zeros(1 << 28)
  plain("copy 1 GiB", 2 * 4 * #x, 0, function() return x * 1 end)
  local n = 8192
  local a = mr.normal({ n, n }, { seed = 1 })
  plain("product 8192", 3 * 4 * n * n, 2 * n ^ 3, function() return a:matmul(a) end)
  local judgements, width = judged(rows), 32
  local total = judgements.rows
  local users, items = mr.normal({ lists, width }, { seed = 2 }), mr.normal({ 20000, width }, { seed = 3 })
  local user_of, item_of = mr.arange(1, lists, { dtype = "int64" }),
    (mr.uniform({ total }, { high = 19999, seed = 4 }) + 1):long()
  plain("factor scores", total * (4 * width + 12), 0,
    function() return core.factor_scores(users, items, user_of, item_of, judgements) end)
  local features, weight, bias = mr.normal({ 1 << 18, 64 }, { seed = 5 }),
    mr.normal({ 64, 64 }, { seed = 6 }), mr.zeros(1, 64)
  plain("layer 262144 x 64", 4 * 4 * (1 << 18) * 64, 2 * (1 << 18) * 64 * 64, function()
    return core.layer(features, weight, bias, "relu")
  end)
  local parameter = mr.zeros(1 << 26):requires_grad();
  (parameter * 1):sum():backward()
  local adam = mr.optim.adam{}:bind{ parameter }
  plain("Adam 67 million", 7 * 4 * (1 << 26), 0, function() adam:step() end)
  local scores = mr.normal({ total }, { seed = 7 })
  plain("smooth nDCG 4096 x 256", 0, 6 * lists * (rows // 8) * rows,
    function() return mr.smooth.ndcg(scores, judgements) end)
  local leaf, loss = mr.normal({ total }, { seed = 7 }):requires_grad(), mr.losses.ap()
  plain("smooth AP, step 4096 x 256", 0, 18 * lists * (rows // 8) * rows, function()
    leaf:zero_grad()
    loss(leaf, judgements):sum():backward()
  end)
  local long, long_judgements = mr.normal({ lists * 1024 }, { seed = 8 }), judged(1024)
  plain("exact order 4096 x 1024", lists * 1024 * 24, 0, function() return long_judgements:order(long) end)
end

-- Times a training step of the softmax loss SL under Adam: 1,024 interactions, each with 1,000 negatives, drawn anew in
-- each step. Scores are cosines of 64 factors. The catalogue is as large as Gowalla's: 29,858 users and 40,988 items.
-- 2,048 of the users have 24 items each.
do
  local size = { users = 29858, items = 40988 }
  local users, owned = 2048, 24
  local of_users = {}
  for l = 1, users do
    of_users[l] = {}
    for i = 1, owned do of_users[l][i] = 1 end
  end
  local items = (mr.uniform({ users * owned }, { high = size.items - 1, seed = 9 }) + 1):long()
  local set = mr.data.dataset{ lists = mr.lists(of_users), users = mr.arange(1, users, { dtype = "int64" }),
    items = items }
  local sampled = interactions.of(set, { users = size.users, items = size.items, negatives = 1000, shared = false,
    seed = 1 })
  local model, loss = protocol.model(size, "SL", 1), mr.losses.sl{ tau = 0.2 }
  local parameters = model:parameters()
  local adam, epoch, pass = mr.optim.adam{ lr = 0.1 }:bind(parameters), 0, nil
  local function next_batch()
    local batch = pass and pass()
    if batch and batch.size == 1024 then return batch end
    epoch = epoch + 1
    pass = sampled:pass{ size = 1024, shuffle = true, seed = 1, epoch = epoch, device = "cuda" }
    return pass()
  end
  plain("SL", 0, 0, function()
    local batch = next_batch()
    for _, parameter in ipairs(parameters) do parameter:zero_grad() end
    loss(model(batch), batch.lists):mean():backward()
    adam:step()
  end)
end

-- Returns the seconds of each work in compiled PyTorch by name, and PyTorch's version as `version`.
local function torch()
  local found, pipe = {}, io.popen(("python3 '%speers/devices_torch.py' %d 2>/dev/null"):format(here, args.repeats))
  for line in pipe:lines() do
    local name, time = line:match("^(.-)\t(%S+)$")
    if name then found[name] = name == "version" and time or tonumber(time) end
  end
  pipe:close()
  -- PyTorch counts with the faster of its two forms of SL
  found.SL = found["SL gathered"] and math.min(found["SL gathered"], found["SL product"])
  return found
end

local function share(rate, limit)
  return rate > 0 and ("%7.1f (%3.0f %%)"):format(rate / 1e9, 100 * rate / limit) or "              "
end

local peers, bandwidth, arithmetic, lines = torch(), nil, nil, { "work,seconds,bytes,operations,torch" }
print(core.cuda())
print(("%-28s %10s %16s %16s %12s %6s"):format("", "ms", "GB/s", "Gop/s", "PyTorch, ms", "ratio"))
for _, each in ipairs(works) do
  local name, work, bytes, operations = table.unpack(each)
  local time, peer = seconds(work), peers[name]
  bandwidth, arithmetic = bandwidth or bytes / time, arithmetic or operations > 0 and operations / time or nil
  print(("%-28s %10.3f %s %s %12s %6s"):format(
    name, 1e3 * time, share(bytes / time, bandwidth), share(operations / time, arithmetic or 1),
    peer and ("%.3f"):format(1e3 * peer) or "-", peer and bench.ratio_text(peer / time) or "-"))
  lines[#lines + 1] = ("%s,%g,%d,%d,%s"):format(name:gsub(",", ""), time, bytes, operations, peer or "")
end
if args.csv then
  core.write_file(args.csv, table.concat(lines, "\n") .. "\n")
  core.write_file(args.csv:gsub("%.csv$", "") .. ".txt",
    ("Kernels of a GPU. Seconds, median. %s, one %s, numerics %s, %s.\n"):format(os.date "%Y-%m-%d", core.cuda(),
    core.numerics(), peers.version and "PyTorch " .. peers.version or "no PyTorch"))
end
