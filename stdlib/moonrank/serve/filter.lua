-- Filters a study's trials by terms such as "loss=ap lr<0.01 done". A trial passes if it meets all terms.
local check = require "moonrank.check"

local M = {}

local compared = {
  ["="] = function(a, b) return a == b end, ["!="] = function(a, b) return a ~= b end,
  ["<"] = function(a, b) return a < b end, ["<="] = function(a, b) return a <= b end,
  [">"] = function(a, b) return a > b end, [">="] = function(a, b) return a >= b end,
}

local function contains(cell, text) return tostring(cell):lower():find(text, 1, true) ~= nil end

-- Returns a function that tests whether the state, the number or a parameter of a trial contains the word.
local function word_test(word)
  local text = word:lower()
  return function(trial)
    if contains(trial.state, text) or contains(trial.number, text) then return true end
    for _, value in pairs(trial.params) do
      if contains(value, text) then return true end
    end
    return false
  end
end

-- Returns a function that tests a trial's value, as in "lr<0.01": numbers as numbers, other values as texts.
local function value_test(name, operator, wanted)
  local number, same = tonumber(wanted), compared[operator]
  return function(trial)
    local value = trial.cells[name]
    if value == nil then return operator == "!=" end
    if type(value) == "number" and number then return same(value, number) end
    if type(value) == "number" then return operator == "!=" end
    return same(tostring(value), wanted)
  end
end

---Returns a function that is true for the trials that a filter shows, and a list of sentences about ignored terms.
---@param text string  the filter: terms such as "loss=ap lr<0.01 done", all of which a trial has to meet
---@param known table<string, any>  names of the columns as keys
---@return fun(trial: mr.serve.Trial): boolean
---@return string[] problems
---Example: `#select(2, require("moonrank.serve.filter").new("lr<1 x=2", {lr = true}))   --> 1`
function M.new(text, known)
  local tests, problems = {}, {}
  for term in text:gmatch "[^%s,]+" do
    local name, operator, wanted = term:match "^([^<>=!]+)([<>=!]=?)(.*)$"
    if not operator then
      tests[#tests + 1] = word_test(term)
    elseif compared[operator] and known[name] and wanted ~= "" then
      tests[#tests + 1] = value_test(name, operator, wanted)
    elseif compared[operator] and known[name] then
      problems[#problems + 1] = ("'%s' is ignored: the value after %s is missing"):format(term, operator)
    else
      local names = table.concat(check.names(known), ", ")
      problems[#problems + 1] = ("'%s' is ignored: '%s' is not a column (%s)"):format(term, name or term, names)
    end
  end
  return function(trial)
    for _, test in ipairs(tests) do
      if not test(trial) then return false end
    end
    return true
  end, problems
end

return M
