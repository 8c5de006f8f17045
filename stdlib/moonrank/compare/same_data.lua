-- Checks that the evaluations that mr.compare compares are of the same lists, candidates and data.
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local fingerprint = require "moonrank.data.fingerprint"

local M = {}

local where = "mr.compare"

-- Returns a text that says which rows an evaluation ranked and, with `counted`, how many items were left out.
local function ranked(evaluation, counted)
  local candidates = not counted and rawget(evaluation, "_ranked") or rawget(evaluation, "candidates")
  return candidates and ("%s; %s"):format(rawget(evaluation, "part"), candidates) or "the rows of given lists"
end

-- Raises an error about two systems that cannot be compared. `what` says how they differ.
local function refuse(names, what)
  check.fail("%s: systems '%s' and '%s' %s. Compare systems on the same lists", where, names[1], names[2], what)
end

-- Raises an error if two evaluations ranked different rows or users, because a paired test needs the same lists.
local function check_ranked(names, a, b, counted)
  local one, other = ranked(a, counted), ranked(b, counted)
  if one ~= other then
    refuse(names, ("ranked different candidates ('%s' and '%s')"):format(one, other))
  end
  local x, y = rawget(a, "users"), rawget(b, "users")
  if x and y and (#x ~= #y or x:double():eq(y:double()):sum():item() < #x) then
    refuse(names, "were evaluated for different users")
  end
end

local function check_lists(names, a, b)
  local p, q = rawget(a, "_lists"), rawget(b, "_lists")
  if p and q and p ~= q and fingerprint.combined(p) ~= fingerprint.combined(q) then
    refuse(names, "were evaluated on different lists")
  end
end

---Raises an error if evaluations of two systems are of different data, or if an evaluation and the option `qrels` are.
---Returns the name of the first system that has an evaluation; nil if none has.
---@param systems table<string, { evaluation?: mr.Evaluation, data?: string }>
---@param o table         options of mr.compare
---@param names string[]  names of the systems
---@return string?
function M.check(systems, names, o)
  local first
  for _, name in ipairs(names) do
    local system = systems[name]
    if system.evaluation then
      first = first or name
      local e, f = system.evaluation, systems[first].evaluation
      local pair, data, other = { first, name }, system.data, systems[first].data
      check_ranked(pair, f, e)
      if e.count ~= f.count then refuse(pair, ("have %d and %d lists"):format(f.count, e.count)) end
      if data and other and data ~= other then refuse(pair, "were tested on different data") end
      check_lists(pair, f, e)
      check_ranked(pair, f, e, true)
      check.expect(not data or not dataset.is(o.qrels) or data == fingerprint.of(o.qrels), where, "qrels", o.qrels,
        "the data on which '%s' was tested", name)
      local a, b = rawget(e, "ids"), rawget(f, "ids")
      if a and b and table.concat(a, "\n") ~= table.concat(b, "\n") then
        refuse(pair, "have different queries")
      end
    end
  end
  return first
end

return M
