-- Defines the options, parameters and scores of mr.models.cnn, a convolutional network that scores images.
local check = require "moonrank.check"
local declare = require("moonrank.options").declare
local layers = require "moonrank.models.layers"
local model_options = require "moonrank.models.options"
local models = require "moonrank.models.model"
local tensors = require "moonrank.tensor"

local largest_side = 65536

-- Returns height and width after all convolutions and poolings; below 1 if the images are too small.
local function sizes_after(o)
  local height, width = o.height, o.width
  for _ = 1, #o.filters do
    height, width = (height - o.kernel + 1) // 2, (width - o.kernel + 1) // 2
    if height < 1 or width < 1 then break end
  end
  return height, width
end

local function check_sizes(o)
  local where = "mr.models.cnn"
  local height, width = sizes_after(o)
  if height < 1 or width < 1 then
    check.fail("%s: images of %d x %d pixels are too small for %d convolutions of %d x %d with pooling, expected "
      .. "larger images or a smaller kernel", where, o.height, o.width, #o.filters, o.kernel, o.kernel)
  end
end

return {
  options = declare("mr.models.CnnOptions", {
    { "height", "integer", required = true, least = 1, most = largest_side, help = "height of images, in pixels" },
    { "width", "integer", required = true, least = 1, most = largest_side, help = "width of images, in pixels" },
    { "channels", "integer", default = 3, least = 1, most = largest_side, help = "planes of an image: 3 for colours" },
    { "filters", "integer[]", default = { 6, 16 }, least = 1,
      some = "number; mr.models.mlp has no convolutions", help = "number of outputs of each convolution" },
    { "kernel", "integer", default = 17, least = 1, also = { "kernel_size" }, help = "side of a convolution's window" },
    model_options.hidden({ 300, 60 }, "widths of the fully connected layers"),
    model_options.activation("relu", "activation of the fully connected layers"),
  }, model_options.common),
  check = check_sizes,
  parameters = function(o)
    local made, order, channels = {}, {}, o.channels
    for i, outputs in ipairs(o.filters) do
      local range = 1 / math.sqrt(channels * o.kernel ^ 2)
      for _, part in ipairs{ { "weight", { outputs, channels, o.kernel, o.kernel } }, { "bias", { outputs } } } do
        local key = ("convolution%d.%s"):format(i, part[1])
        order[#order + 1] = key
        made[key] = tensors.uniform(part[2],
          { low = -range, high = range, seed = o.seed, stream = key, dtype = o.dtype })
      end
      channels = outputs
    end
    local height, width = sizes_after(o)
    layers.add_scoring(made, order, channels * height * width, o)
    return made, order
  end,
  forward = function(self, batch)
    models.check_batch("cnn", batch, { "features" }, self["layer1.weight"].device)
    local o, x = self.options, batch.features
    local rows, pixels = #x, o.channels * o.height * o.width
    check.expect(x:size(2) == pixels, "model cnn", "the number of features", x:size(2), "%d: %d x %d x %d pixels",
      pixels, o.channels, o.height, o.width)
    x = x:reshape(rows, o.channels, o.height, o.width)
    for i = 1, #o.filters do
      x = x:conv2d(self[("convolution%d.weight"):format(i)],
        { bias = self[("convolution%d.bias"):format(i)] }):relu():max_pool(2)
    end
    return layers.scores(self, x:reshape(rows, x:numel() // rows))
  end,
}
