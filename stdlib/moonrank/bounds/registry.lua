-- The registry of bounds by name. `moonrank doc NAME` prints a bound's documentation from here: formula, source,
-- and when the bound helps.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare

local M = {}

M.about = declare("mr.bounds.About", {
  { "formula", "string", shown = "the bound's name", help = "formula of the bounded value" },
  { "source", "string", default = "-", help = "paper and equation" },
  { "text", "string", default = "", help = "what the bound does to a list, and when it helps" },
})

local distribution_text = [[The smoothed probability that the metric of a random ranking of the list is at most M:
$F~(M) = E sigma(a (M - X))$. X is the metric of a random ranking, and $a = kappa / sd$.
`mr.bounds.distribution_bound` has options (kappa, samples, a ranker better than random).
]]

---Documentation of the distribution-based bounds, by the option `form` of mr.bounds.distribution_bound. A `text` that
---states results of trainings names the script that prints them.
M.forms = {
  cdf = {
    name = "distribution", formula = "F~(M)",
    source = "Westerborg 2022, Eq. 3.12 and Algorithm 2; exact by the characteristic function",
    text = distribution_text .. [[The gradient vanishes for rankings that are better than nearly all random ones, and
they stop learning. This costs nDCG much (scripts/thesis/why_distribution_fails.lua).
The thesis' own variant is {method = "sampled", steepness = "samples"}.]],
  },
  log = {
    name = "distribution_log", formula = "log F~(M), or -log(1 - F~(M)) where less is better",
    source = "ours, from Eq. 3.12",
    text = distribution_text .. "The gradient does not vanish below the median, and vanishes above it.",
  },
  logit = {
    name = "distribution_logit", formula = "log(F~(M) / (1 - F~(M)))", source = "ours, from Eq. 3.12",
    text = distribution_text
      .. [[The gradient never vanishes and is at most kappa / sd. Try this one of the three first.
scripts/thesis/claim.lua says where it gains and where it loses.]],
  },
}

local entries = {}  -- registered bounds: {bound =, about =} by name, where `about` is the documentation
local builtin = {}  -- documentation of the library's own bounds, by name

---Registers a bound under a name, and replaces an earlier bound of that name.
---@param about? mr.bounds.About  documentation; nil if a script defined the bound without one
---@return fun()  restores the previous meaning of the name
function M.add(name, bound, about)
  local was = entries[name]
  entries[name] = { bound = bound, about = about }
  return function() entries[name] = was end
end

---Registers a bound of the library itself. Scripts cannot redefine its name.
function M.add_builtin(name, bound, about)
  builtin[name] = about
  M.add(name, bound, about)
end

---Returns the bound that is registered under a name, or nil.
---Example: `require "moonrank.bounds.registry".get("minmax").name   --> minmax`
function M.get(name) return entries[name] and entries[name].bound end

---Returns true if this name belongs to a bound of the library itself.
---Example: `require "moonrank.bounds.registry".builtin("zscore")   --> true`
function M.builtin(name) return builtin[name] ~= nil end

---Returns the sorted names of all bounds, including those that scripts defined.
---Example: `require "moonrank.bounds.registry".names()[1]   --> distribution`
function M.names() return check.names(entries) end

---Returns the formula of a bound of the library as `moonrank.manual.formula` reads it. Another name raises an error.
---Example: `require "moonrank.bounds.registry".formula "minmax"   --> (M - min) / (max - min)`
function M.formula(name) return builtin[name].formula end

---Returns the text that `moonrank doc NAME` prints for a bound, or nil if no bound has that name.
---Example: `require "moonrank.bounds.registry".written("zscore"):match "bounded value: ([^\n]*)"   --> (M - E) / sd`
function M.written(name)
  local entry = entries[name]
  if not entry then return nil end
  local lines, about = { ('bound "%s"'):format(name) }, entry.about
  if not about then return lines[1] .. "\n\nDefined by a script, without documentation (see mr.bounds.define)." end
  lines[2] = ""
  lines[3] = "  bounded value: " .. about.formula
  lines[4] = "  source:        " .. about.source
  lines[5] = ""
  lines[6] = about.text
  lines[7] = ""
  lines[8] = "M is the list's smooth metric. min, max, E and sd are its least value, largest value, mean and standard"
  lines[9] = "deviation over all rankings of the list; best is min or max. "
    .. "Lists on which no ordering can matter give 0."
  lines[10] = ('Use it as mr.losses.ap{bound = "%s"}. mr.bounds.plot("%s") draws it.'):format(name, name)
  return table.concat(lines, "\n")
end

return M
