-- The network of mr.models.self_attention.
local core = require "moonrank.core"
local check = require "moonrank.check"
local parts = require "moonrank.models.parts"

local function checked(options)
  local o = check.options("mr.models.self_attention", options,
    { inputs = check.none, width = 64, heads = 2, blocks = 2, inner = check.none, dropout = 0, seed = 1, dtype = "float32" })
  o.inner = o.inner or 2 * (tonumber(o.width) or 0)
  parts.positive_integers("mr.models.self_attention", o, { "inputs", "width", "heads", "blocks", "inner" })
  if o.width % o.heads ~= 0 then
    check.fail("mr.models.self_attention: heads is %d, expected a divisor of width, which is %d", o.heads, o.width)
  end
  if type(o.dropout) ~= "number" or not (o.dropout >= 0 and o.dropout < 1) then
    check.fail("mr.models.self_attention: dropout is %s, expected a number of at least 0 and below 1", tostring(o.dropout))
  end
  return o
end

-- The parameters of a layer, from the index of its weights on.
local function linear(x, p, at, activation) return core.layer(x, p[at], p[at + 1], activation or "none") end
local function norm(x, p, at) return x:layer_norm(p[at], p[at + 1]) end

-- What a block adds to x: by attention, then by a network of one hidden layer. `dropped` drops entries of what is added.
local function run_block(x, p, block, lists, heads, dropped)
  local seen = norm(x, p, block.norm1)
  local mixed = lists:attention(linear(seen, p, block.query), linear(seen, p, block.key), linear(seen, p, block.value), heads)
  x = x + dropped(linear(mixed, p, block.out))
  local inner = linear(norm(x, p, block.norm2), p, block.inner, "relu")
  return x + dropped(linear(inner, p, block.outer))
end

return function(options, source)
  local o = checked(options)
  local parameters, names = {}, {}
  local function layer(name, inputs, outputs) return parts.layer(parameters, names, name, inputs, outputs, o, source) end
  local function normed(name)
    for _, each in ipairs{ { "gain", 1 }, { "bias", 0 } } do
      local at = #parameters + 1
      names[at] = ("%s.%s"):format(name, each[1])
      parameters[at] = source(names[at], { 1, o.width }, 0, names[at], o, each[2])
    end
    return #parameters - 1
  end
  local first, blocks = layer("input", o.inputs, o.width), {}
  for b = 1, o.blocks do
    local function named(name) return ("block%d.%s"):format(b, name) end
    blocks[b] = {
      norm1 = normed(named "norm1"), query = layer(named "query", o.width, o.width), key = layer(named "key", o.width, o.width),
      value = layer(named "value", o.width, o.width), out = layer(named "out", o.width, o.width), norm2 = normed(named "norm2"),
      inner = layer(named "inner", o.width, o.inner), outer = layer(named "outer", o.inner, o.width),
    }
  end
  local last, score = normed("norm"), layer("score", o.width, 1)

  local model = parts.build("self_attention", o, parameters, names, function(p, batch)
    local count = 0
    local function dropped(x)
      if o.dropout == 0 or not batch.step then return x end
      count = count + 1
      return x:dropout(o.dropout, o.seed, ("dropout %d of step %d"):format(count, batch.step))
    end
    local x = linear(batch.features, p, first)
    for _, block in ipairs(blocks) do x = run_block(x, p, block, batch.lists, o.heads, dropped) end
    return linear(norm(x, p, last), p, score):reshape(#x)
  end)
  model.repeats = o.dropout == 0
  return model
end
