-- Tests the memory of smooth AP on one very long list, and on a batch of lists with very different lengths. This is a
-- separate file, because the peak memory of a process never falls.
local mr = require "moonrank"
local test = require "moonrank.test"
local describe, it, near, check = test.describe, test.it, test.near, test.check

-- Returns the peak resident memory of this process in MB, or nil if the system does not report it.
local function peak()
  local status = io.open("/proc/self/status")
  if not status then return nil end
  local kilobytes = status:read("a"):match("VmHWM:%s+(%d+)")
  status:close()
  return tonumber(kilobytes) / 1024
end

describe("mr.smooth.ap", function()
  it("takes less than 100 MB for forward and backward of one list of 222,472 rows", function()
    if not peak() then return test.skip("no /proc/self/status here") end
    local n = 222472
    local before = peak()
    local lists = mr.lists{ relevance = mr.uniform({ n }, { seed = 1 }), sizes = { n } }
    local scores = mr.normal({ n }, { seed = 2 }):requires_grad()
    local ap = mr.smooth.ap(scores, lists, { relevant = 0.5 })
    ap:backward()
    check(peak() - before < 100, ("grew by %.0f MB"):format(peak() - before))
    -- scores are random, so about half of the rows above any row are relevant
    near(ap:item(), 0.5, 0.01)
    check(scores.grad:abs():sum():item() > 0, "there is a gradient")
    check(math.abs(scores.grad:sum():item()) < 1e-6, "gradients sum to 0")
  end)

  it("gives 10,000 lists of 1 to 3,000 rows in one batch the same values as each list alone", function()
    local sizes, rows = {}, 0
    for l = 1, 10000 do
      sizes[l] = 1 + math.floor(2999 * (l / 10000) ^ 12)
      rows = rows + sizes[l]
    end
    test.equal({ sizes[1], sizes[10000] }, { 1, 3000 })
    local relevance = mr.uniform({ rows }, { seed = 1 })
    local scores = mr.normal({ rows }, { seed = 2, dtype = "float64" })
    local lists = mr.lists{ relevance = relevance, sizes = sizes }
    local options = { relevant = 0.9 }
    local leaf = scores:detach():requires_grad()
    local values = mr.smooth.ap(leaf, lists, options)
    values:sum():backward()
    local value, grad = values:totable(), leaf.grad
    -- compares some lists of the batch with the same lists computed alone
    local at = 1
    for l = 1, 10000 do
      if l % 997 == 0 or l == 10000 then
        local n = sizes[l]
        local alone = mr.lists{ relevance = relevance:narrow(1, at, n), sizes = { n } }
        local x = scores:narrow(1, at, n):requires_grad()
        local ap = mr.smooth.ap(x, alone, options)
        ap:backward()
        near(value[l], ap:item(), 1e-12)
        near(grad:narrow(1, at, n), x.grad, 1e-12)
      end
      at = at + sizes[l]
    end
  end)
end)
