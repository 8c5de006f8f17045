-- Estimates from a script's options how much memory the training runs of Tables 2 and 3 of Li & Wu need, so that runs
-- that do not fit are refused before they start. Estimates count numbers of 4 bytes; the factors in the formulas were
-- fitted to measured peaks of memory.
local mr = require "moonrank"

local M = {}

local program = 350 * 2 ^ 20  -- bytes that a process needs in any case, even for tiny images
local batch = 200             -- rows of a minibatch: two images of each of 100 pairs

-- Returns the number of features per image: pixels in three colours, or outputs of the random network. Returns 0 if
-- --features names a file with features, which has not been read yet.
local function features_of(args)
  if not args.table_3 then return 3 * args.size ^ 2 end
  if args.features ~= "" then return 0 end
  local kernel = math.min(3, args.kernel)
  return 48 * (((args.size - kernel + 1) // 2 - kernel + 1) // 2) ^ 2
end

-- Returns how many numbers the training of a network holds in memory: weights, gradients, and the rows of a
-- minibatch.
local function of_networks(args, width)
  local weights, inputs = 0, width
  for _, units in ipairs(args.widths) do weights, inputs = weights + inputs * units, units end
  return 5 * weights + 10 * batch * width
end

-- Returns how many numbers the convolution windows of a minibatch take up. The backward pass needs the windows. They
-- count twice, because windows of the previous minibatch may not be garbage-collected yet.
local function of_convolutions(args)
  if args.table_3 then return 0 end
  local kernel = args.kernel
  local first = math.max(0, args.size - kernel + 1)
  local second = math.max(0, first // 2 - kernel + 1)
  return batch * (2 * 3 * kernel ^ 2 * first ^ 2 + 2 * 6 * kernel ^ 2 * second ^ 2)
end

-- Returns how many numbers tree training holds in memory: the rows of all training pairs, twice, and the histograms
-- of tree nodes. A histogram has two float64 numbers for each bin of each feature.
local function of_trees(args, images, width)
  local rows, bins = 2 * (args.pairs * 9 // 12), math.min(256, images)
  local nodes = math.min(2 ^ 9, 0.36 * images)  -- estimated number of tree nodes that have a histogram in memory
  return 2 * rows * width + 4 * nodes * bins * width
end

---Estimates how many bytes one process needs for the system (model) of Table 2 or 3 that needs most
---memory.
---@param args table  options of the command line
---@param count integer  number of images
---@return number
function M.bytes(args, count)
  local width, images = features_of(args), math.ceil(0.65 * count)
  local most = math.max(of_networks(args, width), of_convolutions(args), of_trees(args, images, width),
    -- memory while lasso or ridge is fitted: float64 numbers, each counted as two numbers of 4 bytes
    (2 * 4 * images + 256) * width)
  local data = 7 * count * (3 * args.size ^ 2) + 3 * count * width
  return program + 4 * (data + most)
end

---Raises an error that names the options if the runs of Table 2 or 3 need more memory than is free.
---Without --workers, as many processes run as fit into memory, at most one per core.
---@param args table    options of the command line
---@param count integer  number of images
---@param available? number  bytes of free memory (default: as measured)
function M.check(args, count, available)
  local options = ("--size %d with %d images, --pairs %d, --kernel %d, --widths %s"):format(args.size, count,
    args.pairs, args.kernel, table.concat(args.widths, ","))
  mr.experiment.fit_workers(args, args.table_3 and "table 3" or "table 2", options, M.bytes(args, count),
    { advice = "Lower --size, --pairs or --widths", available = available })
end

return M
