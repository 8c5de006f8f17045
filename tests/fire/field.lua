-- A sweep under attack: starts it, gives access to its processes, and raises an error if its store, processes or files
-- are not as they should be.
local core = require "moonrank.core"

local M = {}

M.program = os.getenv "MOONRANK"

function M.wait(seconds) core.wait_for({}, seconds) end

function M.capture(command)
  local pipe <close> = assert(io.popen(command, "r"))
  return pipe:read "a"
end

M.here = M.capture("pwd"):match "[^\n]+" .. "/tests/fire/"
local script = M.here .. "study.lua"

function M.text(path)
  local file <close> = io.open(path, "rb")
  return file and file:read "a" or ""
end

local function lives(id) return M.text(("/proc/%d/stat"):format(id)):match "%) [^ZX]" ~= nil end

---@class fire.Process
local Process = {}
Process.__index = Process

---Starts a command in a folder; its errors go to a file there.
function M.start(folder, command, errors)
  local line = "cd %s && { %s >/dev/null 2>%s & echo $!; wait $!; echo $?; } 2>/dev/null"
  local pipe = assert(io.popen(line:format(folder, command, errors or "err"), "r"))
  return setmetatable({ pipe = pipe, id = math.tointeger(tonumber(pipe:read "l")), folder = folder }, Process)
end

---True if the process runs.
function Process:runs() return lives(self.id) end

local longest = 240  -- seconds after which a process counts as hanging, also on a busy machine

---Its exit status, 128 and more for a signal; waits for its end.
function Process:status()
  local began = core.clock()
  while core.clock() - began < longest do
    if not self:runs() then
      local status = math.tointeger(tonumber(self.pipe:read "l"))
      self.pipe:close()
      return status
    end
    M.wait(0.01)
  end
  error(("process %d hangs in %s"):format(self.id, self.folder), 0)
end

function Process:children()
  local ids = {}
  for each in M.text(("/proc/%d/task/%d/children"):format(self.id, self.id)):gmatch "%d+" do
    ids[#ids + 1] = math.tointeger(tonumber(each))
  end
  return ids
end

---Waits until these have ended: those that a launcher started live on for a moment where it was killed.
---@param ids integer[]
function M.wait_for_end(ids)
  local began = core.clock()
  for _, id in ipairs(ids) do
    while lives(id) do
      if core.clock() - began > longest then error(("process %d does not end"):format(id), 0) end
      M.wait(0.05)
    end
  end
end

function M.signal(id, name)
  if name == "KILL" then return core.signal_process(id, "kill") end
  os.execute(("kill -%s %d 2>/dev/null"):format(name, id))
end

local study_columns = { "number", "state", "seed", "params", "value" }

-- Returns the rows of an SQL query, each as one text with all bits of its numbers.
local function rows_of(database, sql)
  local _, columns, count = database:run(sql, {}, 0)
  local rows = {}
  for r = 1, count do
    local parts = {}
    for c, column in ipairs(columns) do parts[c] = ("%q"):format(column[r]) end
    rows[r] = table.concat(parts, " ")
  end
  return rows
end

local parts = { numbers = "name, value", reports = "name, step, value", lists = "name, scores" }

-- Returns what the store has of each finished or pruned trial, as one text by the trial's number.
local function ended_in(path)
  local database <close> = core.open_database(path, "read")
  local _, sound = database:run("PRAGMA integrity_check", {}, 0)
  if sound[1][1] ~= "ok" then error("the store is damaged: " .. sound[1][1], 0) end
  local _, version = database:run("PRAGMA user_version", {}, 0)
  local ended = {}
  if version[1][1] == 0 then return ended end
  local _, trials, count = database:run("SELECT id, number FROM trials WHERE state IN ('done', 'pruned')", {}, 0)
  for i = 1, count do
    local id, number = trials[1][i], trials[2][i]
    if ended[number] then error(("trial %d is there twice"):format(number), 0) end
    local lines =
      rows_of(database, ("SELECT %s FROM trials WHERE id = %d"):format(table.concat(study_columns, ", "), id))
    for _, name in ipairs{ "numbers", "reports", "lists" } do
      for _, row in ipairs(
        rows_of(database, ("SELECT %s FROM %s WHERE trial = %d ORDER BY 1, 2"):format(parts[name], name, id))) do
        lines[#lines + 1] = name .. " " .. row
      end
    end
    ended[number] = table.concat(lines, "\n")
  end
  return ended
end
M.ended_in = ended_in

---@class fire.Field
---@field folder string
---@field mode string        of the study
---@field expected table<integer, string>  what each trial is when nothing disturbs it
---@field before table<integer, string>    what had ended when it was looked at last
local Field = {}
Field.__index = Field

---A folder for a study of this mode, with what it is when nothing disturbs it.
function M.new(mode)
  local self = setmetatable({ folder = M.capture("mktemp -d"):match "%S+", mode = mode, before = {}, ran = 0 }, Field)
  local status = self:start("--store whole.db --quiet"):status()
  if status ~= 0 then error(("mode %s: status %d: %s"):format(mode, status, self:errors()), 0) end
  self.expected = ended_in(self.folder .. "/whole.db")
  return self
end

function Field:close() os.execute("rm -rf " .. self.folder) end
Field.__close = Field.close

---Starts the study, or goes on with it.
function Field:start(arguments, before, errors)
  return M.start(self.folder,
    ("%s %s %s --mode %s %s"):format(before or "", M.program, script, self.mode, arguments or ""), errors)
end

function Field:errors(name) return M.text(self.folder .. "/" .. (name or "err")) end

---Removes the study, so that it begins again.
function Field:clear()
  os.execute(("rm -rf %s/r.db* %s/ran.log"):format(self.folder, self.folder))
  self.before, self.ran = {}, 0
end

-- Returns the ids of processes of this sweep that still run. They are recognised by their working folder.
local function left_over(self)
  local ids = {}
  for id in M.capture(("pgrep -f -- '%s .*--mode'"):format(script)):gmatch "%d+" do
    if M.capture(("readlink /proc/%s/cwd"):format(id)):find(self.folder, 1, true) then ids[#ids + 1] = id end
  end
  return ids
end

---Raises where a process is left, or the lock.
function Field:check_processes()
  local ids
  for _ = 1, 300 do
    ids = left_over(self)
    if #ids == 0 then break end
    M.wait(0.01)
  end
  if #ids > 0 then error("processes are left: " .. table.concat(ids, " "), 0) end
  local lock = self.folder .. "/r.db.files/study/lock"
  if core.is_file(lock) then
    local taken <close> = core.lock_file(lock)
    if not taken then error("the study stays locked", 0) end
  end
end

---Raises where something that ended is lost, differs, or was done again.
function Field:check_store()
  local ran = M.text(self.folder .. "/ran.log")
  for number in ran:sub(self.ran + 1):gmatch "%d+" do
    if self.before[math.tointeger(tonumber(number))] then error(("trial %s was done again"):format(number), 0) end
  end
  local path = self.folder .. "/r.db"
  local now = M.text(path) ~= "" and ended_in(path) or {}
  for number in pairs(self.before) do
    if not now[number] then error(("trial %d was lost"):format(number), 0) end
  end
  for number, text in pairs(now) do
    if text ~= self.expected[number] then
      error(("trial %d differs:\n%s\nexpected:\n%s"):format(number, text, tostring(self.expected[number])), 0)
    end
  end
  self.before, self.ran = now, #ran
end

---True if all trials have ended, each as in an undisturbed run.
function Field:is_whole()
  for number in pairs(self.expected) do
    if not self.before[number] then return false end
  end
  return true
end

---Goes on without disturbance to the end, which must be that of an undisturbed run.
function Field:finish()
  local status = self:start():status()
  if status ~= 0 then error(("does not go on: status %d: %s"):format(status, self:errors()), 0) end
  self:check_store()
  if not self:is_whole() then error("trials are missing at the end", 0) end
  if M.capture(("find %s -name '*.part-*'"):format(self.folder)) ~= "" then error("a copy is left half written", 0) end
end

return M
