-- Describes the conventions of exact metrics in words: gain, ties, empty lists, cutoff and others. The same ranking
-- has other values under other conventions, so every table of metrics states them.
local M = {}

-- Conventions in the order in which they are printed, as pairs {option, label}. Those in `always` are printed for
-- every metric, even if it has no such option.
local said = { { "gain", "gain" }, { "ties", "ties" }, { "empty", "empty lists" }, { "k", "cutoff" },
  { "relevant", "relevant" }, { "denominator", "denominator" }, { "short", "lists shorter than k" } }
local always = { gain = true, ties = true, empty = true, k = true }

---Prefix of names in a store. The number stored under such a name counts evaluated users, items or
---queries that training never saw.
M.novelty_prefix = "new to training: "

-- Returns a convention, such as "ties", of evaluations by this metric. A metric under a bound leaves out lists on which
-- no ordering changes the metric. A metric that sums gains ignores `relevant`, and always states its gain.
local function value_of(metric, option)
  if type(metric) == "table" and rawget(metric, "kept") then return metric.kept[option] end
  if option == "empty" then return metric.empty end
  local plain = type(metric) == "table" and metric.metric or metric
  if option == "gain" then return plain.sums_gains and plain.gain or nil end
  if option == "short" then return plain.needs_k_rows and "zero" or nil end
  if option == "relevant" and plain.sums_gains then return nil end
  local value = metric.options[option]
  if value == nil and option == "k" then return "none" end
  return type(value) == "number" and ("%.14g"):format(value) or value
end

-- Returns a convention in words: "gain exp2", or "ties mean (rr, ap), stable (ndcg)" if the metrics differ. If none
-- of the metrics has this convention, returns "gain none" for those in `always` and nil otherwise.
local function part_of(metrics, option, words)
  local values, names = {}, {}
  for _, each in ipairs(metrics) do
    local value = value_of(each, option)
    if value ~= nil then
      if not names[value] then
        values[#values + 1], names[value] = value, {}
      end
      table.insert(names[value], each.name)
    end
  end
  if #values == 0 then return always[option] and words .. " none" or nil end
  if #values > 1 or option == "short" and #names[values[1]] < #metrics then
    for i, value in ipairs(values) do values[i] = ("%s (%s)"):format(value, table.concat(names[value], ", ")) end
  end
  return words .. " " .. table.concat(values, ", ")
end

---Returns the conventions of metrics as one line, such as "gain exp2; ties mean; empty lists skip; cutoff 10".
function M.line(metrics)
  local parts = {}
  for _, each in ipairs(said) do parts[#parts + 1] = part_of(metrics, each[1], each[2]) end
  return table.concat(parts, "; ")
end

---Returns the conventions in which two metrics differ: "gain is 'exp2' for 'a' and 'linear' for 'b'". If no convention
---that both metrics have differs, returns all conventions of both.
---@param of_a string  what to call the metric `a` in the text, such as "'a'"
---@param of_b string  what to call the metric `b`
function M.difference(a, b, of_a, of_b)
  local parts = {}
  for _, each in ipairs(said) do
    local x, y = value_of(a, each[1]), value_of(b, each[1])
    if x ~= nil and y ~= nil and x ~= y then
      parts[#parts + 1] = ("%s is '%s' for %s and '%s' for %s"):format(each[2], x, of_a, y, of_b)
    end
  end
  if #parts > 0 then return table.concat(parts, "; ") end
  return ("%s for %s, and %s for %s"):format(M.line{ a }, of_a, M.line{ b }, of_b)
end

---Returns the line below a table which says that the conventions (gain, ties, ...) of some metrics are unknown, because
---a study stored them as plain numbers.
---@param names string[]  of these metrics
function M.unknown(names)
  local form = "gain, ties, empty lists and cutoff are unknown: %s %s stored as %s"
  local one = #names == 1
  return form:format(table.concat(names, ", "), one and "was" or "were", one and "a plain number" or "plain numbers")
end

---Returns a metric's conventions as text, in the form that studies store them.
---Example: `require("moonrank.metrics.conventions").text(mr.metrics.rr{})   --> ties=mean;empty=skip;k=none;relevant=1`
function M.text(metric)
  local parts = {}
  for _, each in ipairs(said) do
    local value = value_of(metric, each[1])
    parts[#parts + 1] = value ~= nil and ("%s=%s"):format(each[1], value) or nil
  end
  return table.concat(parts, ";")
end

---Returns a stand-in for a metric, which `line` accepts. It is made from the metric's name and the
---stored text of its conventions (see `text`).
---Example: `require("moonrank.metrics.conventions").kept("rr", "ties=mean;k=5").kept.k   --> 5`
function M.kept(name, text)
  local kept = {}
  for option, value in text:gmatch "(%w+)=([^;]*)" do kept[option] = value end
  return { name = name, kept = kept }
end

return M
