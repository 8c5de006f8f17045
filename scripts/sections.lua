-- Tables and figures of other scripts, run one after another for a report (report.lua).
local M = {}

---What a script returns when it runs with these arguments, with its title and command.
---@param script { path: string, title: string, words: string[] }
---@return report.Section
function M.run(script)
  local words, was = { [0] = script.path, table.unpack(script.words) }, arg
  for i = -1, -16, -1 do words[i] = arg[i] end
  print(("\n== %s\n"):format(script.title))
  rawset(_G, "arg", words)
  local ok, section = xpcall(dofile, debug.traceback, script.path)
  rawset(_G, "arg", was)
  if not ok then error(section, 0) end
  section.title, section.command = script.title, ("moonrank %s %s"):format(script.path, table.concat(script.words, " "))
  return section
end

return M
