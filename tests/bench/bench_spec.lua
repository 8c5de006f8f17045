-- A peer that cannot run has a row that says why; the table of ratios keeps it.
local test = require "moonrank.test"
local describe, it = test.describe, test.it
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local program = dofile(here .. "../support/program.lua")
local folder = os.tmpname() .. "_bench"

local function shell(text) assert(os.execute(text)) end

local function with_python(body)
  shell(("mkdir -p '%s' && printf '%%s\\n' '#!/bin/sh' '%s' >'%s/python3' && chmod +x '%s/python3'"):format(folder, body, folder, folder))
  return program.run(("PATH='%s':$PATH '%s' '%smetrics.lua' --lists 3 --rows 4 --repeats 1 --threads 1 --csv '%s/bench.csv'"):format(
    folder, program.moonrank, here, folder))
end

describe("benchmarks", function()
  it("say in the table why a peer failed, and in the table of ratios", function()
    local well, text = with_python 'echo "Traceback" >&2; echo "ValueError: no such metric" >&2; exit 1'
    test.check(well, text)
    test.check(text:find "ranx +1 +failed: ValueError: no such metric", text)
    local found, ratios = program.run(("'%s' '%sratios.lua' '%s/bench.csv'"):format(program.moonrank, here, folder))
    test.check(found and ratios:find("| ranx | 1 | failed: ValueError: no such metric |", 1, true), ratios)
    test.check(ratios:find "^Measured: %d+%-%d+%-%d+, ", ratios)
  end)
  it("say what is wrong with an option before they measure", function()
    for _, command in ipairs{ "catalogue.lua --optimizers nope", "kernels.lua --shapes nope", "epochs.lua --losses nope",
      "epochs.lua --sets nope", "scale.lua --parts nope", "instructions.lua --program /nonexistent" } do
      local well, text = program.run(("'%s' '%s%s"):format(program.moonrank, here, (command:gsub(" ", "' ", 1))))
      test.check(not well and (text:find "nope" or text:find "/nonexistent"), command .. ": " .. text)
    end
  end)
  it("compare a peer's times with ours", function()
    local well, text = with_python "echo 10; echo 30; echo 20"
    test.check(well, text)
    local ms, least, most, ratio = text:match "nDCG, AP, RR, RBP[^\n]*\n[^\n]-ranx +1 +(%S+) +(%S+) +(%S+) +(%S+)"
    test.equal({ ms, least, most }, { "2e+04", "1e+04", "3e+04" })
    test.check(tonumber(ratio) > 100, ratio)
  end)
end)

shell(("rm -rf '%s'"):format(folder))
