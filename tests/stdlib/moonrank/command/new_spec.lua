-- Tests the command `moonrank new`: the study that it creates runs as its README says, and files of the user are not
-- overwritten.
local core = require "moonrank.core"
local json = dofile "tests/support/json.lua"
local new = require "moonrank.command.new"
local program = dofile "tests/support/program.lua"
local says = require "tests.support.says"
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local describe, it = test.describe, test.it

local above = os.tmpname():match "^(.*)/"
local root = sweeps.capture("pwd"):match "[^\n]+"

-- Returns the exit status and the message with which `moonrank new` rejects these arguments.
local function refused(...)
  local ok, problem = pcall(new.output, { ... })
  test.check(not ok and type(problem) == "userdata", "the command did not refuse its words")
  return problem.exit_status, problem.message
end

-- Runs a command in a folder; returns its output, which must not be that of an error.
local function run(folder, command)
  local ok, text = program.run(("cd '%s' && %s"):format(folder, command))
  test.check(ok, command .. "\n" .. text)
  return text
end

-- Key words of what each command in the README prints.
local prints = { train = "ndcg", sweep = "27/27", results = "27", test = "0 failures" }

describe("moonrank new", function()
  it("makes a study whose commands in the README run, and that luacheck accepts", function()
    if not program.moonrank then return test.skip "MOONRANK does not name the program" end
    local folder, count = above .. "/one/my study", 0
    new.output{ folder .. "/" }
    local moonrank = program.moonrank:find "^/" and program.moonrank or root .. "/" .. program.moonrank
    local readme <close> = assert(io.open(folder .. "/README.md"))
    for line in readme:lines() do
      local words = line:match "^| `moonrank ([^`]*)`"
      if words then
        local extra = words:find "^sweep" and " --workers 0 --epochs 1" or ""
        says(run(folder, ("'%s' %s%s"):format(moonrank, words, extra)), prints[words:match "%a+"])
        count = count + 1
      end
    end
    test.equal(count, 4)
    test.check(core.is_file(folder .. "/results.db"))
    says(run(folder, ("'%s' sweep.lua --workers 0 --epochs 1"):format(moonrank)), "27/27")
    if program.run "luacheck --version" then run(folder, "luacheck -q experiment.lua train.lua sweep.lua *_spec.lua")
    else test.skip "luacheck is not installed" end
    test.equal(json.read(folder .. "/.luarc.json")["workspace.library"], { "meta" })
    says(run(folder, "cat meta/core.lua"), "---@meta", "---@class mr.FitOptions", "mr_Tensor:sum")
    says(run(folder, "cat meta/moonrank.lua"), "---@meta moonrank", "function mr.fit(options) end",
      "function mr_Run:plot(options) end", "---@param options mr.FitOptions", "---@field systems string[]",
      "function mr_Lists:rank(x, options) end")
    for _, name in ipairs{ "core", "moonrank" } do test.check(loadfile(("%s/meta/%s.lua"):format(folder, name))) end
  end)

  it("takes an empty folder, and refuses a file and a folder that has something in it", function()
    local empty, full, file = above .. "/empty", above .. "/full", above .. "/file"
    core.make_folder(empty .. "/x")
    says(new.output{ empty }, empty, "moonrank sweep.lua")
    core.make_folder(full .. "/x")
    core.write_file(full .. "/.mine", "kept")
    core.write_file(file, "kept")
    for _, case in ipairs{ { full, ".mine" }, { file, "file" }, { empty, "README.md" } } do
      local status, text = refused(case[1])
      test.equal(status, 2)
      says(text, case[1], case[2] ~= "README.md" and case[2] or "not empty")
    end
    test.equal(core.list_folder(full), { ".mine" })
    test.equal(refused(full .. "/missing/.."), 2)
    test.equal(core.is_file(full .. "/README.md"), false)
  end)

  it("refuses other numbers of folders than one, and options", function()
    for _, words in ipairs{ {}, { "a", "b" }, { "" } } do
      local status, text = refused(table.unpack(words))
      test.equal(status, 2)
      says(text, "folder")
    end
    says(select(2, refused("--frce", "x")), "--frce")
    says(new.output{ "--help" }, "usage: moonrank new FOLDER")
  end)
end)
