-- Tables and figures of other scripts, run one after another for a report (report.lua).
local definitions = require "moonrank.definitions"

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local kept = dofile(here .. "kept_runs.lua")

local M = {}

---What a script returns when it runs with these words for arguments. What it defines by name is its own: its workers, and others that run the
---script alone, know of no other script's.
---@param path string
---@param words string[]
---@return any
function M.call(path, words)
  local own, was = { [0] = path, table.unpack(words) }, arg
  for i = -1, -16, -1 do own[i] = arg[i] end
  rawset(_G, "arg", own)
  local ok, found = xpcall(definitions.apart, debug.traceback, dofile, path)
  rawset(_G, "arg", was)
  if not ok then error(found, 0) end
  return found
end

---A document's scripts for a report, from rows {name, title, words, takes}.
---@param folder string  of the scripts, with a slash
---@param rows any[][]
---@return { path: string, title: string, words: string[], takes?: string }[]
function M.list(folder, rows)
  local found = {}
  for i, row in ipairs(rows) do
    found[i] = { path = folder .. row[1] .. ".lua", title = row[2], words = row[3] or {}, takes = row[4] }
  end
  return found
end

---The command that runs a script alone.
---@param script { path: string, words: string[] }
---@return string
function M.command(script) return table.concat({ "moonrank", script.path, table.unpack(script.words) }, " ") end

---What a script returns, with its title and command. Of one that takes no new runs (--kept) and lacks some, a section that says so.
---@param script { path: string, title: string, words: string[] }
---@return report.Section
function M.run(script)
  print(("\n== %s\n"):format(script.title))
  local ok, section = pcall(M.call, script.path, script.words)
  local lacked = not ok and kept.lacked(section)
  if not ok and not lacked then error(section, 0) end
  if lacked then
    print(lacked)
    section = { text = ("This section has not been made yet: %s."):format(lacked:match "^[^;]+"), tables = {}, lacking = true }
  end
  section.title, section.command = script.title, M.command(script)
  return section
end

return M
