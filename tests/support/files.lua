-- Temporary files and folders for a test file (spec). `moonrank test` removes them when the spec ends.
local M = {}

---Writes a file. The text may have any bytes.
function M.write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

---Returns the bytes of a file.
function M.read(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

---Returns what a command of the shell prints.
function M.output(command)
  local pipe <close> = assert(io.popen(command))
  return pipe:read "a"
end

---Returns a path at which there is nothing, with `ending` at its end.
function M.new_path(ending)
  local path = os.tmpname()
  os.remove(path)
  return path .. (ending or "")
end

---Returns the path of a new file with this text.
function M.written(text, ending)
  local path = M.new_path(ending)
  M.write(path, text)
  return path
end

---Returns the path of a new folder.
function M.new_folder()
  local path = M.new_path()
  assert(os.execute(("mkdir '%s'"):format(path)))
  return path
end

return M
