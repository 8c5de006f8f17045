-- Future work of Westerborg (2022): do bounds matter on other data?

-- Data and models: the MSLR slice (136 raw features) and ClueWeb09 (lists of 230 to 728 documents) are ranked by the
-- network for MQ2008, with labels of at least 2 or at least 1 relevant, in minibatches of 4 queries. CiteULike-a
-- (--sets citeulike) is ranked by the model for MovieLens. Protocol: validation chooses epoch and learning rate.
-- Changes are paired by query or user, with Holm's correction over each data set. Queries without relevant documents
-- are left out.
local here = arg[0]:match("^(.*/)") or "./"
local runs = dofile(here .. "beside.lua")

local args = runs.args{
  seed = { default = 1, help = "seed of models, of the order of lists, and of splits and negatives of CiteULike-a" },
  sets = { default = { "mslr", "clueweb" }, choices = runs.names, help = "which data sets" },
  recipe = runs.recipe, samples = runs.samples,
}
local texts, tables, captions, cells, legends = {}, {}, {}, {}, {}
for i, name in ipairs(args.sets) do
  local set = runs.set(args, name)
  print(("%s%s\n"):format(i > 1 and "\n" or "", set.title))
  local found = runs.compare(args, set, "skip")
  texts[i], tables[i], captions[i], cells[i], legends[i] = found.text, found.tables[1], set.title, found.cells[1],
    found.legends[1]
end
return { text = table.concat(texts, "\n\n"), tables = tables, captions = captions, cells = cells, legends = legends,
  studies = rawget(args, "studies") }
