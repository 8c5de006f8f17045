-- Full and read-only disks, missing folders, limits on the size of files, and no free descriptor, for everything that
-- is written. Each must give an error with the reason, keep old files, leave no temporary file, and work again
-- afterwards.
local sweeps = dofile "tests/support/sweeps.lua"
local test = require "moonrank.test"
local it, check, equal = test.it, test.check, test.equal

if not sweeps.moonrank then
  it("writers report the reason if a file cannot be written", function()
    test.skip "MOONRANK does not name the program"
  end)
  return
end

local written <const> = { "writing of a model", "writing of an optimizer", "writing of a baseline", "writing of a run",
  "writing of a figure", "writing of results kept", "training with a checkpoint", "a sweep",
  "reading of LETOR by a cache" }

-- For each fault, texts of which the error message must contain at least one.
local reasons <const> = {
  limit = { "File too large", "disk I/O error", "database or disk is full" },
  descriptors = { "Too many open files", "cannot be opened", "unable to open" },
  full = { "No space left on device", "database or disk is full", "disk I/O error" },
  read_only = { "Read%-only file system", "cannot be written" },
  vanished = { "No such file or directory", "not found" },
}

local function says(text, all)
  for _, each in ipairs(all) do
    if text:find(each) then return true end
  end
end

local needs_disk <const> = { full = true, read_only = true }

-- Runs a workload under a fault. For a full or read-only disk, mounts a small disk in a separate mount namespace.
local function attack(name, fault)
  sweeps.in_folder(function(folder)
    local place = folder .. "/disk"
    local mount = needs_disk[fault] and "mount -t tmpfs -o size=2m none " .. place or ""
    sweeps.write(folder .. "/run.sh", table.concat({ "mkdir " .. place, mount,
      ("timeout -k 5 60 %s tests/faults/files.lua --work '%s' --fault %s --folder %s 2>&1"):format(
        sweeps.moonrank, name, fault, place),
      "echo status $?" }, "\n"))
    local said = sweeps.capture(("%s sh %s/run.sh"):format(needs_disk[fault] and "unshare -m" or "", folder))
    local where = ("%s, %s: %s"):format(name, fault, said)
    check(said:find "status 0\n$", where)
    check(not said:find "FOUND", where)
    check(said:find "worked" or says(said, reasons[fault]), where)
  end)
end

local can_mount = os.execute "unshare -m sh -c 'mount -t tmpfs none /tmp' >/dev/null 2>&1"

for _, fault in ipairs{ "limit", "descriptors", "vanished", "full", "read_only" } do
  it(("writers report the reason and keep the old files under the fault '%s'"):format(fault), function()
    if fault == "descriptors" and sweeps.why_not_bare() then return test.skip(sweeps.why_not_bare()) end
    if needs_disk[fault] and not can_mount then return test.skip "only root can mount a disk of its own here" end
    for _, name in ipairs(written) do attack(name, fault) end
  end)
end

it("the prompt keeps its old history and says why, if the new one cannot be written", function()
  if not os.execute "command -v script >/dev/null" then return test.skip "script (bsdutils) is not there" end
  sweeps.in_folder(function(folder)
    local function session(before, typed)
      return sweeps.capture(("printf '%s' | XDG_STATE_HOME=%s script -qec \"sh -c '%s exec %s'\" /dev/null")
        :format(typed, folder, before, sweeps.moonrank))
    end
    session("", "x = 1\\nexit\\n")
    local kept = sweeps.read(folder .. "/moonrank/history")
    check(kept:find "x", kept)
    local said = session("ulimit -f 0;", "y = 2\\nexit\\n")
    check(said:find "no history is kept: .*File too large", said)
    equal(sweeps.read(folder .. "/moonrank/history"), kept)
    equal(sweeps.capture(("ls -A %s/moonrank"):format(folder)), "history\n")
  end)
end)
