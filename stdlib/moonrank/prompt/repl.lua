-- Adds features to the interactive prompt (REPL) beyond running Lua: printing of results, completion, `help`, `?name`,
-- `exit`.
local core = require "moonrank.core"
local session = require "moonrank.prompt.session"
local M = {}

---Returns the text that the prompt shows for a value: a module of the library by its documentation,
---any other value by moonrank.prompt.show, in lines that fit the terminal.
---Example: `require "moonrank.prompt.repl".text{1, 2, name = "x"}   --> {1, 2, name = "x"}`
function M.text(value)
  local show = require "moonrank.prompt.show"
  if type(value) == "table" and show.module_name(value) then
    local help = require "moonrank.help"
    return help.wrapped(help.of(value))
  end
  return show.text(value, require("moonrank.system.terminal").width())
end

-- set of the values that `report` has printed since the user typed the current text
local reported = setmetatable({}, { __mode = "k" })
local leaving = false

-- The value of the globals `exit` and `quit`. Typing `exit` at the prompt, or calling it, ends the session.
local exit = setmetatable({}, { __name = "exit", __call = function() leaving = true end,
  __tostring = function() return "exit" end })

-- The value of the global `help`. help(value) prints the value's documentation; `help` alone prints the list of all
-- names.
local help = setmetatable({}, { __name = "help", __call = function(_, value) require("moonrank.help").help(value) end,
  __tostring = function() return "help" end })

---Prints a value that the calling function also returns. The REPL then does not print the returned value again.
function M.report(value)
  print(value)
  reported[value] = true
end

---Returns whether the prompt prints a value that typed text returned. `exit` and `help` act instead,
---and values that `report` has already printed are not printed again.
function M.is_shown(value)
  if rawequal(value, exit) then leaving = true
  elseif rawequal(value, help) then help()
  else return value == nil or not reported[value] end
  return false
end

---Prints the values that the typed text returned, except values that `report` has already printed.
function M.print(...)
  local values, texts = table.pack(...), {}
  for i = 1, values.n do
    if M.is_shown(values[i]) then texts[#texts + 1] = M.text(values[i]) end
  end
  if #texts > 0 then io.stdout:write(table.concat(texts, "\t"), "\n") end
end

---Returns true if the user has asked to end the session, by `exit` or `quit`.
function M.is_leaving() return leaving end

---Returns what `help` is called with for `?topic`: the value of a name, "mr.Class:method" for a
---method or field of an object, or else the topic itself.
function M.asked(topic)
  if topic == "" then return nil end
  local value_of = require("moonrank.prompt.completion").value_of
  local value = topic:match "^[%a_][%w_.]*$" and value_of(topic)
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "userdata" then return value end
  local owner, member = topic:match "^([%a_][%w_.]*)([.:][%a_][%w_]*)$"
  local meta = owner and debug.getmetatable(value_of(owner))
  local class = type(meta) == "table" and rawget(meta, "__name")
  if class then return class .. member end
  return value or topic
end

---Compiles text typed at the prompt (an expression, statements, or `?name` for help), and returns a
---function that runs it. Returns nil and the error message if the text cannot be compiled.
---@param name? string  name of the text in error messages; default "stdin"
---Example: `require "moonrank.prompt.repl".chunk("1 + 1")()   --> 2`
function M.chunk(text, name)
  reported = setmetatable({}, { __mode = "k" })
  local topic = text:match "^%s*%?%s*(.-)%s*$"
  if not topic then return session.compile(text, name) end
  return function()
    require("moonrank.help").help(M.asked(topic))
  end
end

local function complete(before) return require("moonrank.prompt.completion").complete(before) end

---Sets the globals `mr` and `help`, which the prompt and code run by `moonrank -e` have.
function M.preset()
  rawset(_G, "mr", require "moonrank")
  rawset(_G, "help", help)
end

---Begins a session at the prompt: sets the session's globals, and prints the first line on a
---terminal. Returns the functions that the program calls for each typed line.
---@return fun(text: string): function?, string?  compiles typed text; returns a function, or nil and the error
---@return fun(before: string): integer, string[]  completes the text left of the cursor; returns where its last
---                                                 word begins, and the words that may stand there
---@return fun(): boolean                          returns true if the session ends
function M.enter()
  M.preset()
  rawset(_G, "exit", exit)
  rawset(_G, "quit", exit)
  if core.is_terminal(0) then
    print(("Moonrank %s  help(mr)  ?ndcg  TAB completes  exit"):format(core.version()))
  end
  return M.chunk, complete, M.is_leaving
end

return M
