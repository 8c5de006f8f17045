-- Calls a function as a part of a script that was started with these words as its arguments.
---@generic T
---@param words string[]
---@param body fun(): T
---@return T
return function(words, body)
  local was = arg
  rawset(_G, "arg", { [0] = "script.lua", table.unpack(words) })
  local ok, found = xpcall(body, debug.traceback)
  rawset(_G, "arg", was)
  if not ok then error(found, 0) end
  return found
end
