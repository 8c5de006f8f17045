-- A disk that fills up under a sweep's store or a training's checkpoints. The program must give an error with the
-- reason and keep the store sound. With free space, the same command must continue to the same bits.
local sweeps = dofile "tests/support/sweeps.lua"
local core = require "moonrank.core"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not sweeps.moonrank or not os.execute "unshare -m sh -c 'mount -t tmpfs none /tmp' >/dev/null 2>&1" then
  it("a sweep or training resumes after a full disk",
    function() test.skip "MOONRANK does not name the program, or only root can mount a disk of its own here" end)
  return
end

local here = sweeps.capture("pwd"):match "[^\n]+"

-- A shell script for a separate mount namespace: starts the command on a small disk, fills the disk when the log has so
-- many lines, waits for the end, frees space, and repeats the command.
local script = [[cd %s
mkdir disk && mount -t tmpfs -o size=2m none disk
(timeout -k 5 100 %s >out 2>err; echo $? >status) &
for i in $(seq 3000); do
  [ -s status ] && break
  [ -e ran.log ] && [ $(wc -l <ran.log) -ge %d ] && break
  sleep 0.01
done
cat /dev/zero >disk/filler 2>/dev/null
wait
mkdir full && cp -r disk/. full && rm full/filler disk/filler
timeout -k 5 100 %s >again 2>&1
echo $? >ended
cp -r disk/. whole
umount disk
]]

-- `workers` is the number of worker processes. The full disk may have the unfinished file of a worker that was killed
-- when the sweep ended; the next run removes it.
local function filled(folder, command, lines, workers)
  sweeps.write(folder .. "/fill.sh", script:format(folder, command, lines, command))
  os.execute(("mkdir %s/whole && unshare -m sh %s/fill.sh"):format(folder, folder))
  local err, status = sweeps.read(folder .. "/err"), sweeps.read(folder .. "/status")
  equal(status, "1\n", "it ended otherwise: " .. err)
  check(err:find "No space left on device" or err:find "disk is full" or err:find "disk I/O error", err)
  check(err:find("disk/", 1, true), "no path: " .. err)
  for _, wrong in ipairs{ "attempt to", "std::", "memory" } do check(not err:find(wrong, 1, true), err) end
  equal(sweeps.read(folder .. "/ended"), "0\n", sweeps.read(folder .. "/again"))
  for _, each in ipairs(workers > 0 and { "whole" } or { "full", "whole" }) do
    equal(sweeps.capture(("find %s/%s -name '.moonrank*' -o -name '*.part-*'"):format(folder, each)), "", "left behind")
  end
end

local function numbers_of(folder, store)
  local database <close> = core.open_database(folder .. "/" .. store, "read")
  equal(select(2, database:run("PRAGMA integrity_check", {}, 0))[1][1], "ok")
  local trials = sweeps.capture(("%s -e 'print(require([[moonrank.core]]).sha256("
    .. "dofile([[tests/support/sweeps.lua]]).table_of(mr.results([[%s/%s]], [[study]]))))' 2>&1"):format(
    sweeps.moonrank, folder, store))
  check(#trials == 65, trials)
  return trials
end

for _, each in ipairs{ { "grid", 0, 0.05, 4 }, { "grid", 2, 0.05, 4 }, { "fit", 2, 0.3, 1 } } do
  it(("a %s sweep with %d workers resumes to the same numbers after a full disk"):format(each[1], each[2]), function()
    sweeps.in_folder(function(folder)
      local command = ("%s %s/tests/fire/study.lua --mode %s --workers %d --wait %g --retry 3 --store "):format(
        sweeps.moonrank, here, each[1], each[2], each[3])
      check(os.execute(("cd %s && %s clean.db >/dev/null 2>&1 && rm ran.log"):format(folder, command)),
        "the sweep itself fails")
      filled(folder, command .. "disk/r.db", each[4], each[2])
      numbers_of(folder, "full/r.db")
      equal(numbers_of(folder, "whole/r.db"), numbers_of(folder, "clean.db"))
    end)
  end)
end

local training = [[
local mr = require "moonrank"
local queries = mr.data.synthetic{ kind = "queries", queries = 12, features = 4, seed = 1 }
local model = mr.models.mlp{ inputs = 4, hidden = { 3 }, seed = 1 }
mr.fit{ model = model, loss = mr.losses.ndcg{}, train = queries, valid = queries, metrics = { "ndcg" },
  epochs = 40, batch = 6, optimizer = mr.optim.adam{ lr = 0.1 }, checkpoint = arg[1], progress = false,
  each_epoch = function()
    require("moonrank.core").wait_for({}, 0.03)
    local log <close> = io.open("ran.log", "a")
    log:write "epoch\n"
  end }
model:save(arg[2])
]]

it("a training with checkpoints resumes to the same model after a full disk", function()
  sweeps.in_folder(function(folder)
    sweeps.write(folder .. "/train.lua", training)
    check(os.execute(("cd %s && %s train.lua c clean && rm ran.log"):format(folder, sweeps.moonrank)),
      "the training itself fails")
    filled(folder, sweeps.moonrank .. " train.lua disk/c disk/model", 8, 0)
    check(core.is_file(folder .. "/full/c") and not core.is_file(folder .. "/full/model"), "no checkpoint stayed")
    equal(sweeps.read(folder .. "/whole/model"), sweeps.read(folder .. "/clean"))
    local _, epochs = sweeps.read(folder .. "/ran.log"):gsub("epoch", "")
    check(epochs < 60, epochs .. " epochs: it did not go on from the checkpoint")
  end)
end)
