-- The command `moonrank new`: writes a study to start from into a new folder.
local core = require "moonrank.core"
local find = require "moonrank.data.find"
local words_of = require "moonrank.command.words"

local M = {}

local about = [[
usage: moonrank new FOLDER

Writes a study to start from: made-up ratings, a model of matrix factors, one training, a sweep over bounds and learning
rates, and a spec. All of it runs in seconds. FOLDER must not exist, or must be empty.]]

local readme = [[
# %s

Does a bound help a loss? This study trains matrix factors on made-up ratings under three bounds,
and compares them on a test part. Replace data, model and question by yours in `experiment.lua`.

| command | what it does |
|---|---|
| `moonrank train.lua` | trains on one fold; `--help` lists the options |
| `moonrank sweep.lua` | runs all trials, continues after an interruption, and prints tables |
| `moonrank results results.db` | shows the progress of the sweep |
| `moonrank test experiment_spec.lua` | tests the experiment |

Run the commands in this folder. `moonrank doc NAME` prints documentation, such as
`moonrank doc mr.fit`. Editors with the Lua language server complete the library's names from the
files in `meta`, which `.luarc.json` names.
]]

local editor = [[
{
  "runtime.version": "Lua 5.4",
  "workspace.library": ["meta"]
}
]]

local next_steps = [[
%s has a study. Next:

  cd %s
  moonrank train.lua
  moonrank sweep.lua
  moonrank test experiment_spec.lua]]

local scripts <const> = { "experiment.lua", "train.lua", "sweep.lua", "experiment_spec.lua" }

-- Raises an error if a path is a file, or a folder that is not empty, because files could be overwritten.
local function check_folder(folder)
  if not core.file_exists(folder) then return end
  if not find.is_folder(folder) then
    words_of.refuse("new: %s is a file, expected a new folder. Pass another name", core.safe_text(folder))
  end
  local names = core.list_folder(folder)
  if #names == 0 then return end
  table.sort(names)
  words_of.refuse("new: the folder %s is not empty: it has %s. Pass the name of a new folder", core.safe_text(folder),
    core.safe_text(names[1]))
end

---Writes the study into the folder that `words` name, and returns what the command prints.
---@return string
---Example:
---```lua
---local folder = os.tmpname()
---os.remove(folder)
---require("moonrank.command.new").output{folder}:match "moonrank train.lua"   --> moonrank train.lua
---```
function M.output(words)
  for _, word in ipairs(words) do
    if word == "--help" or word == "-h" then return words_of.help(about) end
    if word:sub(1, 1) == "-" then words_of.refuse("new: unknown option '%s' (--help explains the command)", word) end
  end
  if #words ~= 1 or words[1] == "" then
    words_of.refuse("new: expected the name of one folder, got %s. Write: moonrank new my_study",
      words[1] == "" and #words == 1 and "an empty text" or #words)
  end
  local folder = words[1]:gsub("(.)/+$", "%1")
  check_folder(folder)
  core.make_folder(folder .. "/README.md")
  check_folder(folder)  -- checked again: a path such as "missing/.." exists only after the folder "missing" was made
  for _, name in ipairs(scripts) do
    core.write_file(folder .. "/" .. name, core.stdlib_text("stdlib/template/" .. name))
  end
  core.write_file(folder .. "/README.md", readme:format(folder:match "[^/]*$"))
  core.write_file(folder .. "/.luarc.json", editor)
  core.make_folder(folder .. "/meta/moonrank.lua")
  core.write_file(folder .. "/meta/moonrank.lua", require("moonrank.help.dump_api").library())
  core.write_file(folder .. "/meta/core.lua", require("moonrank.help.dump_api").text() .. "\n")
  local shown = core.safe_text(folder)
  return next_steps:format(shown, shown:find "[^%w%-_./]" and "'" .. shown:gsub("'", "'\\''") .. "'" or shown)
end

---Runs the command and prints its result.
function M.run(words) print(M.output(words)) end

return M
