-- Concatenates datasets: the result has the lists of the first dataset, then the lists of the second one, and so on.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"

-- Raises an error unless an input, such as "features", has the same dtype and number of columns in all `parts`.
local function check_widths(input, parts)
  local first = parts[1][input]
  for i, part in ipairs(parts) do
    local x = part[input]
    if x.dtype ~= first.dtype then
      check.fail_in_call("%s of dataset 1 ('%s') have dtype %s, but those of dataset %d ('%s') have %s", input,
        parts[1].name, first.dtype, i, part.name, x.dtype)
    end
    if x.dims == 2 and x:size(2) ~= first:size(2) then
      check.fail_in_call("dataset 1 ('%s') has %d columns of %s, but dataset %d ('%s') has %d%s", parts[1].name,
        first:size(2), input, i, part.name, x:size(2),
        input == "features" and ". Pass features = n to read n features from every file" or "")
    end
  end
end

-- Concatenates `all`, the tensors of one input of several datasets, along rows, on the device of the first tensor.
local function joined_rows(input, parts, all)
  check_widths(input, parts)
  for i, x in ipairs(all) do all[i] = x:to(all[1].device) end
  return core.cat(all, 1)
end

---Returns a dataset, named `name`, with the lists of all datasets in `parts`, one dataset after the
---other. All datasets need the same inputs (features, users, items, categories). A single dataset is
---returned itself, under its own name.
---@param parts mr.Dataset[]
---@param name string
---@return mr.Dataset
return function(parts, name)
  if #parts == 1 then return parts[1] end
  local joined = { name = name, levels = parts[1].levels or nil, ids = parts[1].ids or nil }
  for _, input in ipairs{ "lists", table.unpack(dataset.inputs) } do
    local all = {}
    for i, part in ipairs(parts) do
      if (part[input] and true) ~= (parts[1][input] and true) then
        local has, lacks = part[input] and i or 1, part[input] and 1 or i
        check.fail_in_call("dataset %d ('%s') has %s, but dataset %d ('%s') has none. Either all datasets need them, "
          .. "or none", has, parts[has].name, input, lacks, parts[lacks].name)
      end
      all[i] = part[input] or nil
    end
    if #all > 0 then joined[input] = input == "lists" and core.join_lists(all) or joined_rows(input, parts, all) end
  end
  local set = dataset.new(joined)
  set._binary = true
  for _, part in ipairs(parts) do set._binary = set._binary and part._binary end
  return set
end
