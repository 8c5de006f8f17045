-- Images of faces with ages, and training runs of the systems that predict which of two faces is older. Tables 2 and 3
-- and Figures 3 to 7 of Li & Wu share this module. Images are split into train, validation and test parts before pairs
-- are drawn, so that no image is in two parts.
local mr = require "moonrank"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local experiment, protocol = mr.experiment, dofile(here .. "faces_protocol.lua")
local systems, grids, memory = dofile(here .. "systems.lua"), dofile(here .. "grids.lua"), dofile(here .. "memory.lua")

local M = { systems = systems }

local smoke = { images = "", count = 60, size = 12, pairs = 60, kernel = 3, epochs = 2, seeds = 1, extensions = 0 }

---Parses the command line of a script on faces: its own options `own`, and the shared options of
---images, pairs and training runs.
---@param own? table
---@param o? { features?: boolean }  features: whether rows are features of images instead of their pixels
function M.args(own, o)
  own = own or {}
  own.images = { default = "",
    help = "folder of photographs with labels.csv (file, label: the age), below --data if given",
    shown = "faces are drawn" }
  own.count = { default = 2000, least = 20, help = "faces that are drawn" }
  own.size = { default = 20, least = 8, most = 512,
    help = "height and width that images are scaled to; in the paper 100" }
  own.pairs = { default = 12000, least = 20,
    help = "pairs: three quarters train, a twelfth chooses, a sixth is the test" }
  own.kernel = { default = 5, least = 1, help = "side of the filters of convolutional networks; in the paper 17" }
  own.epochs = { default = 10, least = 1, help = "of networks and linear models that are trained step by step" }
  own.widths = { default = { 200, 100, 50 }, least = 1,
    help = "units of the hidden layers of networks; in the paper 1000,500,100" }
  own.rate = { type = "number", least = 1e-12, most = 1000,
    help = "learning rate of what is trained step by step; in the paper 0.0003", shown = "the best on validation" }
  own.extensions = { default = 8, least = 0,
    help = "how often a grid of rates or penalties gets another value where validation chose its edge" }
  own.seeds = { default = 1, least = 1, help = "splits, pairs and models of so many seeds" }
  if o and o.features then
    own.features = { path = "file", default = "",
      help = "table of item and numbers for each photograph (mr.data.item_features); default: a random network's" }
  end
  local sets = { features = own.features and "" or nil }
  for name, value in pairs(smoke) do sets[name] = value end
  local args = experiment.args(own, { document = "cmu", smoke = sets })
  args.table_3 = o and o.features or false
  if not args.table_3 then args.features = "" end
  return args
end

---Returns a title to which the kind of images is appended: a folder of photographs, or made-up faces.
function M.title_of(args, title)
  return ("%s, %s"):format(title,
    args.images ~= "" and "images of " .. args.images or "made-up faces, drawn, no photographs")
end

---Returns a sentence for the report that says which images are used.
function M.sentence_of(args)
  if args.images ~= "" then return ("The images are those of %s."):format(args.images) end
  return ("The %d faces are made up and drawn, with hair, wrinkles and proportions of their age; "
    .. "they are no photographs."):format(args.count)
end

-- Returns the features of each part (train, validation, test): columns of the file that --features names, or outputs
-- of a random network (Table 3), or pixels (Table 2).
local function features_of(parts, args)
  local found = {}
  for i, part in ipairs(parts) do
    if args.features ~= "" then
      found[i] = mr.data.item_features(args.features):of(part.files)
    else
      found[i] = args.table_3 and protocol.random_features(part, args.kernel) or part:features()
    end
  end
  return found
end

local function images_of(args)
  if args.images == "" then return mr.data.drawn_faces{ count = args.count, size = args.size } end
  return mr.data.images(experiment.place(args, args.images), { size = args.size })
end

-- Ends the script if the --features table cannot be read or lacks features of an image. All runs would fail otherwise.
local function check_features(args)
  if args.features == "" then return end
  local images = images_of(args)
  local ok, why = pcall(function() return mr.data.item_features(args.features):of(images.files) end)
  if not ok then mr.exit(2, "--features: " .. tostring(why):gsub("^[^\n]-:%d+: ", ""):gsub("%s*\n%s*", " ")) end
end

---Loads the images of one seed and splits them. The result has the parts `train`, `valid` and `test`,
---each with its images, standardised features, single images as items, and pairs of images.
---@param args table    options of the command line
---@param seed integer  of the split and the pairs
local function data_of(args, seed)
  local images = images_of(args)
  local parts = { protocol.face_parts(images, seed) }
  local features, found = protocol.standardised(parts, features_of(parts, args)), { images = images }
  for _, name in ipairs{ "size", "kernel", "epochs", "widths" } do found[name] = args[name] end
  for i, name in ipairs{ "train", "valid", "test" } do
    found[name] = { images = parts[i], features = features[i], items = parts[i]:items{ features = features[i] },
      pairs = protocol.face_pairs(parts[i], { part = name, pairs = args.pairs, seed = seed, features = features[i] }) }
  end
  return found
end
M.data = data_of

-- Returns a study (a named set of stored training runs) that trains each system with all seeds at the settings in
-- `wanted`. A setting is the number of a learning rate, penalty or depth, e.g. `wanted.RankNet = {1, 2, 3}`. Only
-- runs that the store lacks are trained.
local function study(args, name, wanted)
  local names, known, data, space = {}, {}, {}, {}
  for _, each in ipairs(systems.of(args.table_3)) do
    if wanted[each.name] then
      names[#names + 1], known[each.name] = each.name, each
      space[#space + 1] = mr.when("system", each.name, { setting = mr.choice(wanted[each.name]) })
    end
  end
  space.system, space.split = mr.choice(names), mr.range(1, args.seeds)
  local settings = { images = args.images, features = args.features, rate = args.rate,
    widths = table.concat(args.widths, " ") }
  for _, each in ipairs{ "count", "size", "pairs", "kernel", "epochs" } do settings[each] = args[each] end
  return experiment.study(args, {
    name = (args.table_3 and "table 3" or "table 2") .. name, settings = settings, space = space,
    run = function(trial)
      data[trial.split] = data[trial.split] or data_of(args, trial.split)
      local system = known[trial.system]
      return systems.run(system, grids.value(system.grid, trial.setting, args.rate), data[trial.split], trial)
    end })
end

---Returns the studies (sets of stored training runs) of Table 2 or 3, and trains missing runs. The
---first study has the initial settings (learning rates, penalties or depths) of each system. Each
---further study extends the settings of systems for which validation chose the smallest or largest.
---@return mr.Results[]
function M.results(args)
  -- Unreadable images, options that do not fit, and too little memory raise an error before any training starts.
  local images = args.images ~= "" and images_of(args) or nil
  if not args.kept then
    memory.check(args, images and images.count or args.count)
    check_features(args)
  end
  if not args.table_3 then
    local ok, why = pcall(mr.models.cnn, { height = args.size, width = args.size, kernel = args.kernel })
    if not ok then mr.exit(2, "--size, --kernel: " .. tostring(why):gsub("^[^\n]-:%d+: ", "")) end
  end
  local all, tried = systems.of(args.table_3), {}
  for _, each in ipairs(all) do tried[each.name] = grids.first(each.grid, args.made_up, args.rate) end
  local studies = { study(args, "", tried) }
  for number = 1, args.extensions do
    local function chosen(name, seed) return M.chosen(studies, name, seed).setting end
    local more = grids.more(all, tried, args.rate, chosen, args.seeds)
    if not more then break end
    studies[#studies + 1] = study(args, (", longer grid %d"):format(number), more)
  end
  return studies
end

---Returns the training runs of a system with one seed, in the order in which settings were tried.
---`studies` are from M.results. A run's `setting` is the number of its learning rate, penalty or depth, and `number` is
---that of the run in the study. A classifier has `values.both`, the share of pairs whose two images are labelled right,
---and a regression `values.r2`.
---@return { results: mr.Results, number: integer, setting: integer, values: table<string, number> }[]
function M.runs(studies, system, seed)
  local found = {}
  for _, results in ipairs(studies) do
    local columns = results:columns()
    for _, run in ipairs(experiment.runs(results, { system = system, split = seed })) do
      local values = {}
      for _, name in ipairs(columns:numbers()) do values[name] = columns:column(name)[run.row] end
      found[#found + 1] = { results = results, number = run.number, values = values,
        setting = columns:column("setting")[run.row] }
    end
  end
  return found
end

---Returns the training run of a system and seed with the setting (learning rate, penalty or depth) that
---validation chose. Among equally good settings it is the first that was tried. `studies` are from
---M.results.
function M.chosen(studies, system, seed)
  local best = protocol.choose(M.runs(studies, system, seed))
  if not best then
    error(("no run of %s has finished; the errors are in the store (moonrank results)"):format(system), 0)
  end
  return best
end

---Returns one number per test pair of the first seed: 1 if the system, at the setting that validation
---chose, scores the older image higher, else 0.
---@return number[]
function M.right(studies, system)
  local best, found = M.chosen(studies, system, 1), {}
  for i, margin in ipairs(best.results:per_list(best.number, "margin"):totable()) do
    found[i] = margin > 0 and 1 or 0
  end
  return found
end

---Returns the learning rate, penalty or tree depth that a setting number stands for in a system's grid.
---@param args table      options of the command line
---@param name string     name of the system
---@param setting integer
---@return number
function M.value_of(args, name, setting)
  for _, each in ipairs(systems.of(args.table_3)) do
    if each.name == name then return grids.value(each.grid, setting, args.rate) end
  end
  error("no system " .. name)
end

---Returns a text such as "rate 0.03" for the setting of a system that validation chose with one seed. "
---(edge)" is appended if this setting is the smallest or largest that was tried.
function M.setting_text(args, studies, system, seed)
  local tried, chosen = {}, M.chosen(studies, system.name, seed).setting
  for i, run in ipairs(M.runs(studies, system.name, seed)) do tried[i] = run.setting end
  local edge = #tried > 1 and (chosen == math.min(table.unpack(tried)) or chosen == math.max(table.unpack(tried)))
  return ("%s %g%s"):format(system.grid.name, M.value_of(args, system.name, chosen), edge and " (edge)" or "")
end

---Ends a script like `mr.experiment.finish`, with a title above its table. `figure` is the file of a figure, which has
---been saved.
function M.finish(args, title, figure, text, one)
  print(title .. "\n")
  local section = experiment.finish(args, nil, text, one)
  if figure then print("Saved as " .. figure) end
  section.figure = figure
  return section
end

return M
