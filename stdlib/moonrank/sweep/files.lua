-- Manages a study's folder beside the store: the lock, output of workers, and folders of trials with checkpoints.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local fit_file = "fit.safetensors"

---Creates the folder of a study, if it is missing, and returns its path. Links to the same store give the same folder.
---@param store string  path of the store
function M.of_study(store, name)
  local plain = name:gsub("[^%w_-]", "_")
  if plain ~= name then plain = plain .. "_" .. core.sha256(name):sub(1, 8) end
  local folder = ("%s.files/%s"):format(core.followed(store), plain)
  core.make_folder(folder .. "/lock")
  return folder
end

---Returns the path of a trial's folder, which is in the folder of its study. The folder is not created.
---@param number integer  the trial's number
function M.of_trial(folder, number) return ("%s/trial_%d"):format(folder, number) end

---Returns the path of the file in which mr.fit{checkpoint = true} saves the state of training.
---@param folder string  the trial's folder
function M.of_fit(folder) return folder .. "/" .. fit_file end

-- Returns the paths of the folders of a study's trials, by the number of the trial.
local function trial_folders(folder)
  local found = {}
  for _, name in ipairs(core.list_folder(folder)) do
    local number = math.tointeger(tonumber(name:match "^trial_(%d+)/$"))
    if number then found[number] = folder .. "/" .. name end
  end
  return found
end

---Raises an error if a study's folder has checkpoints but the store lacks the study, because its trials would resume
---the training of another study.
function M.check(folder, store, name)
  if store:study(name) then return end
  for _, of_trial in pairs(trial_folders(folder)) do
    if #core.list_folder(of_trial) > 0 then
      check.fail("mr.sweep: %s has checkpoints of trials, but %s has no study '%s'. Remove the folder or move it away",
        folder, store.path, name)
    end
  end
end

---Removes mr.fit's checkpoint of a trial whose result is stored, and the trial's folder if it has no other files.
---@param folder string  the trial's folder; it may be missing
function M.forget(folder)
  if not core.file_exists(folder) then return end
  for _, name in ipairs(core.list_folder(folder)) do
    -- a process that was killed while it wrote a checkpoint leaves a temporary file with such a name behind
    local is_unfinished = name:find "^%.moonrank%-%x+%.tmp$"
    if name == fit_file or is_unfinished then os.remove(folder .. "/" .. name) end
  end
  os.remove(folder)  -- removes the folder if it is empty, and fails silently if a script has put files into it
end

---Removes mr.fit's checkpoints of ended trials, also of those that ended just before a sweep was killed. Also removes
---all empty folders of trials.
---@param is_over fun(number: integer): boolean  whether the trial with this number has ended for good
function M.tidy(folder, is_over)
  for number, of_trial in pairs(trial_folders(folder)) do
    if is_over(number) then M.forget(of_trial) else os.remove(of_trial) end
  end
end

return M
