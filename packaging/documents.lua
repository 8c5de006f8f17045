-- Writes the man page, from the texts of `moonrank --help` and of each command's --help, and the annotations of the
-- library for editors: moonrank documents.lua PROGRAM FOLDER
local program, folder = arg[1], arg[2]

local function help_of(command)
  local pipe = assert(io.popen(("%s %s --help"):format(program, command)))
  local text = pipe:read "a"
  assert(pipe:close(), ("`%s %s --help` ended with an error"):format(program, command))
  return text
end

-- Returns the names of the commands that the help of the program lists, each once, in the order of the list.
local function commands_of(help)
  local names = {}
  for name in help:gmatch "\n +moonrank (%l+) " do
    if not names[name] then
      names[#names + 1] = name
      names[name] = true
    end
  end
  return names
end

-- Returns a text in troff, the format of man pages, with its lines unchanged.
local function as_printed(text)
  return ".nf\n" .. text:gsub("\\", "\\e"):gsub("\n(['.])", "\n\\&%1"):gsub("%-", "\\-") .. ".fi\n"
end

local version = require("moonrank").version
local overview = help_of ""
local parts = {
  ('.TH MOONRANK 1 "" "moonrank %s"\n.SH NAME\nmoonrank \\- learning\\-to\\-rank research in Lua\n.SH SYNOPSIS\n')
    :format(version),
  as_printed(overview),
}
for _, command in ipairs(commands_of(overview)) do
  parts[#parts + 1] = (".SH MOONRANK %s\n"):format(command:upper()) .. as_printed(help_of(command))
end

local function write(name, text)
  local file <close> = assert(io.open(folder .. "/" .. name, "w"))
  assert(file:write(text))
end
write("moonrank.1", table.concat(parts))
write("moonrank.lua", require("moonrank.help.dump_api").library())
write("core.lua", require("moonrank.help.dump_api").text() .. "\n")
