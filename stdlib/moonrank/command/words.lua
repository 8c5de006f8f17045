-- Parses the command line of commands such as `moonrank eval`: names of files and options, in any order.
local args = require "moonrank.args"
local core = require "moonrank.core"
local usage = require "moonrank.args.usage"

local M = {}

---Ends the command with an error about its words, and status 2.
---@param ... any  arguments of string.format
function M.refuse(message, ...) error(core.exit(2, message:format(...)), 0) end

---Returns the text of --help: the usage and description of a command, and its options.
---@param about string
---@param declarations table<string, any>  as for mr.args
function M.help(about, declarations)
  local wrap, width = require("moonrank.help.wrap"), require("moonrank.system.terminal").width()
  return wrap.text(about, width) .. usage.text(nil, args.declared(declarations)):match "\n\noptions:.*"
end

---Divides the words of a command into names and options. `short` has the long form of short options, such as ["-q"] =
---"--per-query". Words after `several`, such as "-m", are handed to
---`take`, each with the number of words that followed `several` before it. `take` returns true if
---the word belongs to `several`, and the word after `several` always does.
---@param declarations table<string, any>  as for mr.args
---@param short? table<string, string>
---@param several? table<string, boolean>  such as {["-m"] = true}
---@param take? fun(word: string, before: integer): boolean?
---@return string[] names
---@return table<string, any> options  as mr.args returns them
function M.read(words, declarations, short, several, take)
  local names, rest, declared, i = {}, {}, args.declared(declarations), 1
  local function next_word(of)
    i = i + 1
    if not words[i] then M.refuse("%s: a value is missing (--help lists all options)", of) end
    return words[i]
  end
  while i <= #words do
    local word = short and short[words[i]] or words[i]
    if several and several[word] then
      take(next_word(word), 0)
      local count = 1
      while words[i + 1] and words[i + 1]:sub(1, 1) ~= "-" and take(words[i + 1], count) do
        i, count = i + 1, count + 1
      end
    elseif word:match "^%-%-" then
      rest[#rest + 1] = word
      local option = declared[(word:sub(3):gsub("%-", "_"))]
      if option and option.type ~= "boolean" then rest[#rest + 1] = next_word(word) end
    elseif word:sub(1, 1) == "-" and #word > 1 then
      M.refuse("unknown option '%s' (--help lists all options)", word)
    else
      names[#names + 1] = word
    end
    i = i + 1
  end
  return names, args.args(declarations, rest)
end

return M
