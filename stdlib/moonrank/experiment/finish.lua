-- The end of an experiment: prints tables and text, saves the figure, and returns all as a section for a report.
local core = require "moonrank.core"
local given = require "moonrank.experiment.given"
local studies = require "moonrank.experiment.studies"

local M = {}

---A table with its caption, the intervals of its cells, and the meaning of its columns.
---@class mr.experiment.Named
---@field table mr.Table
---@field caption string  "" for the only table of a script
---@field cells? mr.experiment.Cells
---@field legend? string

---Gives a table a caption, intervals of its cells, and the meaning of its columns (`legend`), for
---`mr.experiment.finish`.
---@param caption string  "" for the only table of a script
---@param one mr.Table
---@param cells? mr.experiment.Cells  intervals and numbers of runs of the cells
---@param legend? string  such as "d: mean change in its standard deviations; n: users compared"
---@return mr.experiment.Named
---Example: `mr.experiment.named("Test nDCG", mr.table{columns = {"a"}, rows = {{1}}}).caption   --> Test nDCG`
function M.named(caption, one, cells, legend)
  given.need("named", "caption", caption, "string", "a text, or '' for none")
  given.need("named", "one", one, "table", "a table, as from mr.table")
  return { caption = caption, table = one, cells = cells, legend = legend }
end

local made_up = "Made-up data, to see that the script runs (--smoke): none of the numbers is a result."

-- Splits tables into four arrays: tables, captions ("" for none), intervals of cells, and legends ("" for none).
local function apart(all)
  local tables, captions, cells, legends = {}, {}, {}, {}
  for i, each in ipairs(all) do
    local named = rawget(each, "table")
    tables[i], captions[i], cells[i] = named or each, named and each.caption or "", named and each.cells or {}
    legends[i] = named and each.legend or ""
  end
  return tables, captions, cells, legends
end

-- Returns a text followed by a sentence for each study that was continued with --force.
local function with_forced(text, list)
  local said = table.concat(studies.forced(list), "\n")
  return said == "" and text or text .. "\n\n" .. said
end

---Writes a text file; an existing file is replaced. Makes the file's folder if it is missing.
---@param path string
---@param text string
---Example:
---```lua
---local path = os.tmpname()
---mr.experiment.write(path, "a\n")
---io.lines(path)(), os.remove(path)   --> a, true
---```
function M.write(path, text)
  given.need("write", "path", path, "string", "the path of a file")
  given.need("write", "text", text, "string", "a text")
  core.make_folder(path)
  core.write_file(path, text)
end

-- Prints the tables and the text, with a notice above each if the data are made up.
local function print_all(args, text, all, captions, legends)
  local notice = rawget(args, "made_up") and made_up .. "\n" or ""
  for i, each in ipairs(all) do
    local own = captions[i] ~= "" and captions[i] .. "\n" or ""
    local legend = legends[i] ~= "" and "\n" .. legends[i] or ""
    print(notice .. own .. tostring(each) .. legend .. "\n")
  end
  print(notice .. text)
end

---An experiment's results, as `mr.experiment.finish` returns them.
---@class mr.experiment.Section
---@field text string
---@field tables mr.Table[]
---@field captions string[]  of the tables; "" for none
---@field legends string[]   meaning of the tables' columns; "" for none
---@field cells mr.experiment.Cells[]  intervals and numbers of runs of the tables' cells; {} for none
---@field figure? string     path of the figure
---@field studies? mr.Results[]  studies that the script read
---@field made_up boolean    whether the data are made up

---Ends a script: prints its tables and its text, saves the figure to the file of `args.out`, and shows
---it in the terminal if `args.show` is true (see `mr.experiment.figure_options`). If data are made up, a
---notice is printed above the text and each table. If studies were continued with --force, the text
---says so. Returns all of it as a section, which a script that writes a report can use. The section's
---field `made_up` stands for the notice.
---@param args table  option values, as from `mr.experiment.args` or `mr.args`
---@param fig? mr.Figure  nil if the script has no figure
---@param text string
---@param ... mr.Table|mr.experiment.Named  tables, plain or from `mr.experiment.named`
---@return mr.experiment.Section
---Example: `mr.experiment.finish({}, nil, "No table.").text   --> No table.`
function M.finish(args, fig, text, ...)
  given.need("finish", "args", args, "table", "option values, as from mr.experiment.args")
  given.need("finish", "text", text, "string", "a text")
  given.array("finish", "tables", { ... }, "table", "tables")
  local tables, captions, cells, legends = apart{ ... }
  text = with_forced(text, rawget(args, "studies"))
  print_all(args, text, tables, captions, legends)
  if fig then
    core.make_folder(args.out)
    fig:save(args.out)
    print("Saved as " .. args.out)
    if args.show then fig:show() end
  end
  return { figure = fig and args.out, text = text, tables = tables, captions = captions, cells = cells,
    legends = legends, studies = rawget(args, "studies"), made_up = rawget(args, "made_up") or false }
end

return M
