-- The command `moonrank kernel install`: adds Moonrank to Jupyter. The Python package does the work
-- (python/moonrank/kernel.py); this command finds Python and starts it.
local core = require "moonrank.core"
local exit = require("moonrank.system.exit").exit
local words_of = require "moonrank.command.words"

local M = {}

local about = [[
usage: moonrank kernel install [--user | --prefix DIR] [--python PATH]
       moonrank kernel remove [--user | --prefix DIR] [--python PATH]

Adds Moonrank to Jupyter, or removes it: notebooks whose cells are Lua. Python needs the package moonrank with its extra
kernel, from the wheel of this version: pip install './moonrank-VERSION-py3-none-....whl[kernel]'. The kernel runs with
the Python that installs it.

options:
  --user         for this user (default, unless Python is that of a virtual environment)
  --prefix DIR   into DIR/share/jupyter, such as a virtual environment
  --python PATH  the Python of Jupyter; default python3]]

local function quoted(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

---Returns the shell command that `words` ask for, or nil and the text of --help.
---Example: `require("moonrank.command.kernel").shell{"install"}   --> 'python3' -m moonrank.kernel 'install'`
function M.shell(words)
  local python, rest, i = "python3", {}, 1
  while i <= #words do
    if words[i] == "--help" or words[i] == "-h" then return nil, words_of.help(about) end
    if words[i] == "--python" then
      i = i + 1
      if not words[i] then words_of.refuse "kernel: --python needs the path of a Python" end
      python = words[i]
    else
      rest[#rest + 1] = quoted(words[i])
    end
    i = i + 1
  end
  if words[1] ~= "install" and words[1] ~= "remove" then
    words_of.refuse("kernel: expected install or remove, got %s. Write: moonrank kernel install",
      words[1] and core.safe_text(words[1]) or "nothing")
  end
  return ("%s -m moonrank.kernel %s"):format(quoted(python), table.concat(rest, " "))
end

-- Returns true if the given Python interpreter runs the given code without an error.
local function runs(python, code) return os.execute(("%s -c %s >/dev/null 2>&1"):format(python, quoted(code))) end

---Runs the command.
function M.run(words)
  local command, help = M.shell(words)
  if not command then return print(help) end
  local python = command:match "^(.-) %-m moonrank"
  if not runs(python, "pass") then
    words_of.refuse("kernel: %s does not run. Install Python, or pass --python PATH", python)
  end
  if not runs(python, "import importlib.util as u; raise SystemExit(u.find_spec('moonrank') is None)") then
    words_of.refuse("kernel: %s has no package moonrank. Get the wheel of version %s, and run: "
      .. "%s -m pip install './moonrank-%s-py3-none-....whl[kernel]'", python, core.version(), python, core.version())
  end
  local ok, _, status = os.execute(command)
  if not ok then exit(status, "kernel: the kernel was not changed, for the reason above") end
end

return M
