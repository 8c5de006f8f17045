-- Runs scripts, or parts of them, inside the process of a test, so that the test can replace training by stubs.
local mr = require "moonrank"
local sections = dofile "docs/report/sections.lua"

local M = {}

-- Calls a function while a global variable temporarily has another value.
local function with_global(name, value, body, ...)
  local was = _G[name]
  rawset(_G, name, value)
  local ok, found = xpcall(body, debug.traceback, ...)
  rawset(_G, name, was)
  if not ok then error(found, 0) end
  return found
end

---Calls a function as a part of a script that was started with these words as its arguments.
---@generic T
---@param words string[]
---@param body fun(): T
---@return T
function M.with_words(words, body) return with_global("arg", { [0] = "script.lua", table.unpack(words) }, body) end

-- Calls body(...) while functions of mr.experiment are replaced by `patch`, and restores them afterwards.
local function with_experiment(patch, body, ...)
  local was, experiment = {}, mr.experiment
  for name, value in pairs(experiment) do was[name] = value end
  patch(experiment)
  local results = table.pack(pcall(body, ...))
  for name, value in pairs(was) do rawset(experiment, name, value) end
  if not results[1] then error(results[2], 0) end
  return table.unpack(results, 2, results.n)
end

---Calls body(...) and returns its value, while modules are changed as they are loaded.
---@param patches table<string, function>  called with a module once it is loaded, by the name of its file; `experiment`
---   is called with mr.experiment
---@param body function
---@return any
function M.patched(patches, body, ...)
  local load = dofile
  local function loading(...)
    return with_global("dofile", function(file)
      local module = load(file)
      local patch = patches[file:match "([^/]+)%.lua$"]
      if patch then patch(module) end
      return module
    end, body, ...)
  end
  if patches.experiment then return with_experiment(patches.experiment, loading, ...) end
  return loading(...)
end

---A module whose own modules are changed as they are loaded.
---@param path string
---@param patches table<string, function>  as in `patched`
---@return table
function M.load(path, patches) return M.patched(patches, dofile, path) end

---The section that a script returns for a report: text, and tables with `rows`. The script prints nothing.
---@param path string  "scripts/lecture/profit.lua"
---@param words string[]
---@param patches? table<string, function>  as in `patched`
---@return { text: string, tables: mr.Table[] }
function M.section(path, words, patches)
  return with_global("print", function() end, M.patched, patches or {}, sections.call, path, words)
end

---Rows of a table as records by column.
---@param one mr.Table
---@return table<string, any>[]
function M.records(one) return one:records() end

---Numbers of a text that are words of their own.
---@param text string
---@return number[]
function M.numbers(text)
  local found = {}
  for word in text:gmatch "%f[%w+-][+-]?%d[%d.]*" do found[#found + 1] = tonumber((word:gsub("%.$", ""))) end
  return found
end

return M
