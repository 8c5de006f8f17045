-- Parses the command line of commands such as `moonrank eval`: names of files and options, in any order.
local args = require "moonrank.args"
local exit = require("moonrank.system.exit").exit
local usage = require "moonrank.args.usage"

local M = {}

---Ends the command with an error about its words, and status 2.
---@param ... any  arguments of string.format
function M.refuse(message, ...) exit(2, message:format(...)) end

---Returns the text of --help: the usage and description of a command, wrapped at the terminal's width, and its options.
---@param about string
---@param declarations? table<string, any>  as for mr.args; nil if the command has no options
function M.help(about, declarations)
  local text = require("moonrank.help.wrap").text(about, require("moonrank.system.terminal").width())
  return text .. (declarations and usage.text(nil, args.declared(declarations)):match "\n\noptions:.*" or "")
end

---Divides the words of a command into names and options, which mr.args reads.
---@param declarations table<string, any>  as for mr.args
---@return string[] names, table<string, any> options
function M.read(words, declarations)
  local names, rest, declared, i = {}, {}, args.declared(declarations), 1
  while i <= #words do
    local word = words[i]
    if word:match "^%-%-" then
      rest[#rest + 1] = word
      local option = declared[(word:sub(3):gsub("%-", "_"))]
      if option and option.type ~= "boolean" then
        i = i + 1
        rest[#rest + 1] = words[i]
      end
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
