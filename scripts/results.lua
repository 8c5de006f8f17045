-- Makes the results pages, docs/results/*.md, from the results files beside them. The files come from `all.lua --kept --results docs/results`.
local mr = require "moonrank"
local core = require "moonrank.core"
local here = arg[0]:match("^(.*/)") or "./"
local results_file, documents = dofile(here .. "results_file.lua"), dofile(here .. "documents.lua")

local args = mr.args{
  folder = { path = "folder", default = here .. "../docs/results", help = "folder of the results files, and of the pages" },
}

local head = [[
# %s

This page is made by `moonrank scripts/results.lua` from the CSV files in `%s/`. Do not edit it.
Every table says which command made it, under which numerics version and from which data.

]]

local function page_of(name)
  local parts = { head:format(documents.title_of(name), name) }
  for _, file in ipairs(core.list_folder(args.folder .. "/" .. name)) do
    local path = name .. "/" .. file
    if file:find "%.csv$" then parts[#parts + 1] = results_file.page_section(path, results_file.read(args.folder .. "/" .. path)) end
  end
  return #parts > 1 and table.concat(parts, "\n") or nil
end

for _, name in ipairs(documents.names) do
  local page = core.is_folder(args.folder .. "/" .. name) and page_of(name)
  if page then
    core.write_file(("%s/%s.md"):format(args.folder, name), page)
    print(("%s/%s.md"):format(args.folder, name))
  end
end
