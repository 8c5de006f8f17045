-- The folder of a study beside its store. It has the lock, the output of workers, and a folder for each trial that
-- keeps a checkpoint.
local core = require "moonrank.core"
local check = require "moonrank.check"

local M = {}

local fit_file = "fit.safetensors"

---Returns the folder of a study and creates it. Links to the same store give the same folder.
---@param store string  path of the store
---@param name string   of the study
function M.of_study(store, name)
  local plain = name:gsub("[^%w_-]", "_")
  if plain ~= name then plain = plain .. "_" .. core.sha256(name):sub(1, 8) end
  local folder = ("%s.files/%s"):format(core.followed(store), plain)
  core.make_folder(folder .. "/lock")
  return folder
end

---Returns the folder of a trial.
---@param folder string  of the study
function M.of_trial(folder, number) return ("%s/trial_%d"):format(folder, number) end

---Returns the file in which mr.fit{checkpoint = true} keeps its training.
---@param folder string  of the trial
function M.of_fit(folder) return folder .. "/" .. fit_file end

-- The folders of trials by their numbers.
local function trial_folders(folder)
  local found = {}
  for _, name in ipairs(core.list_folder(folder)) do
    local number = math.tointeger(tonumber(name:match "^trial_(%d+)/$"))
    if number then found[number] = folder .. "/" .. name end
  end
  return found
end

---Raises an error if the folder has checkpoints but the store does not have the study: trials would
---resume from the checkpoints of another study.
---@param store mr.sweep.Store
---@param name string  of the study
function M.check(folder, store, name)
  if store:study(name) then return end
  for _, of_trial in pairs(trial_folders(folder)) do
    if #core.list_folder(of_trial) > 0 then
      check.fail("mr.sweep: %s has checkpoints of trials, but %s has no study '%s'. Remove the folder or move it away", folder,
        store.path, name)
    end
  end
end

---Removes the checkpoint of mr.fit from the folder of a trial whose result is stored, and the folder
---itself. Files of the script stay.
---@param folder string  of the trial
function M.forget(folder)
  if not core.file_exists(folder) then return end
  for _, name in ipairs(core.list_folder(folder)) do
    local is_unfinished = name:find "^%.moonrank%-%x+%.tmp$"  -- left by a process that was killed while it wrote
    if name == fit_file or is_unfinished then os.remove(folder .. "/" .. name) end
  end
  os.remove(folder)  -- does nothing if a file is left
end

---Removes files that are not needed at the end of a sweep. These include files of trials that ended
---just before an earlier run was killed.
---@param folder string  of the study
---@param is_over fun(number: integer): boolean  whether a trial does not continue
function M.tidy(folder, is_over)
  for number, of_trial in pairs(trial_folders(folder)) do
    if is_over(number) then M.forget(of_trial) else os.remove(of_trial) end
  end
end

return M
