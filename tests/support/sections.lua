-- What scripts return, for specs that make up the runs behind it.
local sections = dofile "scripts/sections.lua"

local M = {}

---What body(...) returns while modules are changed as they are loaded.
---@param patches table<string, function>  called with a module once it is loaded, by the name of its file
function M.patched(patches, body, ...)
  local load = dofile
  rawset(_G, "dofile", function(file)
    local module = load(file)
    local patch = patches[file:match "([^/]+)%.lua$"]
    if patch then patch(module) end
    return module
  end)
  local ok, found = pcall(body, ...)
  rawset(_G, "dofile", load)
  if not ok then error(found, 0) end
  return found
end

---A module whose own modules are changed as they are loaded.
---@param path string
---@param patches table<string, function>  as in M.patched
---@return table
function M.load(path, patches) return M.patched(patches, dofile, path) end

---What a script returns that runs in this process, without what it prints.
---@param path string
---@param words string[]  its arguments
---@param patches table<string, function>  as in M.patched
---@return table
function M.of(path, words, patches)
  local said = print
  rawset(_G, "print", function() end)
  local ok, found = pcall(M.patched, patches, sections.call, path, words)
  rawset(_G, "print", said)
  if not ok then error(found, 0) end
  return found
end

---Rows of a table as records by column.
---@param one mr.Table
---@return table<string, any>[]
function M.records(one)
  local found = {}
  for r, row in ipairs(one.rows) do
    found[r] = {}
    for c, name in ipairs(one.columns) do found[r][name] = row[c] end
  end
  return found
end

---Numbers of a text that are words of their own.
---@param text string
---@return number[]
function M.numbers(text)
  local found = {}
  for word in text:gmatch "%f[%w+-][+-]?%d[%d.]*" do found[#found + 1] = tonumber((word:gsub("%.$", ""))) end
  return found
end

return M
