-- Runs scripts that make tables and figures, one after another, as sections of a report (report.lua).
local mr = require "moonrank"
local core = require "moonrank.core"
local definitions = require "moonrank.system.definitions"
local seen = require "moonrank.data.seen"

local M = {}

-- Returns true if an error is an interruption (Ctrl-C).
local function is_interruption(problem) return core.interrupted() or tostring(problem):find "interrupted$" ~= nil end

---Runs a script with these words as its command line and returns what the script returns. Bounds,
---losses and models that the script defines are undone afterwards, so that scripts of one report do
---not see each other's definitions.
---@param path string
---@param words string[]
---@return any
function M.call(path, words)
  local own, was = { [0] = path, table.unpack(words) }, arg
  for i = -1, -16, -1 do own[i] = arg[i] end
  rawset(_G, "arg", own)
  local function traced(problem) return is_interruption(problem) and problem or debug.traceback(problem) end
  local ok, found = xpcall(definitions.apart, traced, function() return dofile(path) end)
  rawset(_G, "arg", was)
  if not ok then error(found, 0) end
  return found
end

---Returns the list of a document's scripts for a report. A row of `rows` is {name, title, words,
---takes}: the script's name, the title of its section, the options to pass, and which options it
---takes ("kept": those of mr.experiment.args, "data": --data, "none"). "training" is "data" for a
---script that trains models and stores no runs.
---@param folder string  folder of the scripts, with a slash at the end
---@param rows any[][]
---@return { path: string, title: string, words: string[], takes?: string }[]
function M.list(folder, rows)
  local found = {}
  for i, row in ipairs(rows) do
    found[i] = { path = folder .. row[1] .. ".lua", title = row[2], words = row[3] or {}, takes = row[4] }
  end
  return found
end

---Returns a text in which paths below the user's home folder begin with "~/".
---@param text string
---@return string
function M.tilde(text)
  local home = (os.getenv "HOME" or ""):gsub("/+$", "")
  if home == "" then return text end
  return ((" " .. text):gsub("([%s'\"(])" .. home:gsub("%p", "%%%0") .. "/", "%1~/"):sub(2))
end

---Returns the command that runs one script of a report alone. It can be pasted into a shell.
---@param script { path: string, words: string[] }  words: the script's options
---@return string
function M.command(script)
  local parts = { "moonrank" }
  for _, word in ipairs{ script.path, table.unpack(script.words) } do
    local plain = word:find "^[%w%-_./,=@:+]+$"  -- a shell replaces ~ in unquoted words only
    parts[#parts + 1] = plain and M.tilde(word) or "'" .. word:gsub("'", [['\'']]) .. "'"
  end
  return table.concat(parts, " ")
end

-- Options that do not change results, only where files are and how training runs are made. The number says how many
-- values follow the option on the command line.
local places = {
  ["--store"] = 1,
  ["--data"] = 1,
  ["--out"] = 1,
  ["--workers"] = 1,
  ["--device"] = 1,
  ["--retry"] = 1,
  ["--kept"] = 0,
  ["--force"] = 0,
  ["--mix-numerics"] = 0,
}

---Returns the command line words of a script without options that do not change results: where files
---are (--store) and how training runs are made (--workers).
---@param words string[]
---@return string[]
function M.plain_words(words)
  local plain, i = {}, 1
  while i <= #words do
    local skipped = places[(words[i]:gsub("_", "-"))]
    if not skipped then plain[#plain + 1] = words[i] end
    i = i + 1 + (skipped or 0)
  end
  return plain
end

---Returns the name of a script's results file (CSV), without ending: the script's name and the values
---of options that begin with a letter. For `figure_1.lua --recipe paper` it is "figure_1_paper".
---@param script { path: string, words: string[] }  words: the script's options
---@return string
function M.file_name(script)
  local parts = { script.path:match "([^/]+)%.lua$" }
  for _, word in ipairs(M.plain_words(script.words)) do
    if word:find "^%a" then parts[#parts + 1] = word:gsub("%W+", "_") end
  end
  return table.concat(parts, "_")
end

-- Runs a script and returns its section of the report. Provenance of results is read from the script's studies
-- (stored training runs). If it has none, the numerics version and the data that this process used are recorded in
-- the section instead. A script that uses no batches of its data says itself which data these are (`section.data`).
local function made(script)
  seen.begin()
  local section = M.call(script.path, script.words)
  if seen.listening() then
    local all, judged = {}, {}
    for _, each in ipairs(seen.finish()) do
      all[#all + 1] = each.fingerprint
      judged[#judged + 1] = each.role ~= "train" and each.role ~= "valid" and each.fingerprint or nil
    end
    section.used = { runs = section.trainings or 0, numerics = mr.numerics,
      data = section.data or #judged > 0 and judged or all,
      date = os.date "!%Y-%m-%d" }
  end
  return section
end

-- Returns a script's path as it is inside the checkout, such as "scripts/cmu/table_1.lua".
local function inside(path) return path:match "scripts/.*$" or path end

-- Raises the error of mr.experiment.lack for a script that would train, because it stores no runs that could be read.
local function refuse(script)
  mr.experiment.lack(inside(script.path) .. " trains models and stores no runs; without --kept they are trained")
end

-- Returns the first line of a script's error. An interruption (Ctrl-C) is raised again, because it ends the whole
-- report.
local function reason_of(problem)
  local text = tostring(problem):match "[^\n]+" or "no reason was given"
  if is_interruption(text) then error(problem, 0) end
  return M.tilde(text)
end

---Returns the section of the report that `make` returns. If `make` raises an error, returns a
---section with the error as text and `failed` set, so that other sections are still made. Ctrl-C is
---raised again.
---@param script { path: string, title: string, words: string[] }  words: the script's options
---@param make fun(): report.Section
---@return report.Section
function M.attempt(script, make)
  local ok, found = pcall(make)
  if ok then return found end
  local reason = reason_of(found)
  print(("%s failed: %s"):format(script.path, reason))
  return { title = script.title, command = M.command(script), path = script.path, failed = true, tables = {},
    file = M.file_name(script), text = ("This section could not be made: %s."):format(reason) }
end

---Ends the program with status 1 if sections of the report failed with an error (field `failed`).
---The message names them.
---@param all report.Section[]
function M.check_made(all)
  local lines = {}
  for _, each in ipairs(all) do
    if each.failed then lines[#lines + 1] = ("\n  %s (%s)"):format(each.title, each.path) end
  end
  if #lines > 0 then
    mr.exit(1, ("%d of %d sections without results:%s"):format(#lines, #all, table.concat(lines)))
  end
end

---Runs a script and returns its section of the report, with title and command. If --kept forbids
---training and runs are missing, the section says so and has `lacking` set. Any other error is
---raised.
---@param script { path: string, title: string, words: string[], refused?: boolean }
---   words: the script's options; refused: does not run the script, which would train although --kept forbids it
---@return report.Section
function M.run(script)
  print(("\n== %s\n"):format(script.title))
  local ok, section = pcall(script.refused and refuse or made, script)
  local lacked = not ok and mr.experiment.lacked(section)
  if not ok and not lacked then error(section, 0) end
  if lacked then
    lacked = M.tilde(lacked)
    print(lacked)
    section = {
      text = ("This section has not been made yet: %s."):format(lacked:match "^[^;]+"),
      tables = {},
      lacking = true,
    }
  end
  section.lacking = section.lacking or mr.experiment.lacks(section.studies)
  section.forced = #mr.experiment.forced(section.studies) > 0
  section.title, section.command, section.file = script.title, M.command(script), M.file_name(script)
  section.made_by = M.command{
    path = inside(script.path),
    words = M.plain_words(script.words),
  }
  return section
end

return M
