-- Rewrites files of this version of Moonrank so that they look like files of earlier versions.
local core = require "moonrank.core"

local M = {}

local own = { format = true, numerics = true, ["checksum xxh64"] = true, ["checksum of"] = true }

---Writes a file of tensors again, with the texts beside them changed.
---@param path string
---@param writer string  that of the file: "moonrank fit"
---@param change fun(key: string, text: string): string
function M.rewrite(path, writer, change)
  local names, tensors, keys, values = core.load_tensors(path, writer)
  local kept, texts = {}, {}
  for i, key in ipairs(keys) do
    if not own[key] then kept[#kept + 1], texts[#texts + 1] = key, change(key, values[i]) end
  end
  core.save_tensors(path, writer .. " 1", names, tensors, kept, texts)
end

return M
