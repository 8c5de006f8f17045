-- Calls every function of mr.stats with valid and invalid inputs and options of many kinds. Prints "ended", then all
-- errors that mr.stats did not raise itself: those of Lua or of the native code.
local mr = require "moonrank"
local s, inf, nan = mr.stats, math.huge, 0 / 0

local inputs = {
  5, "x", true, type, {}, { "a", "b", "c" }, { 1, "a", 3 }, { { 1, 2 }, { 3, 4 } }, { { 1 }, { 2, 3 } }, { 1, nil, 3 },
  { a = 0.5 }, { 3 }, { nan, nan, 1 }, { nan, nan, nan }, { inf, 1, 2 }, { -inf, inf, inf }, { inf, inf, inf },
  { -1, -2, -3 }, { 1e308, -1e308, 1e308 }, { 5e-324, 0, 1e-320 }, { 1e-150, 2e-150, 5e-150 }, { 2, 2, 2 }, { 1, 2, 4 },
  { 0.3, 1.7, 0.2, 4, 5, 2 }, { true, false }, mr.tensor{ { 1, 2 }, { 3, 4 } },
  mr.tensor({ 1, 2, 3 }, { dtype = "int64" }), mr.tensor(3), mr.tensor({}, { dtype = "float64" }),
  coroutine.create(print), io.stdout, nil,
}
local kinds = 32
local values = { 0, -1, 1.5, 2 ^ 53, 1 << 53, math.mininteger, inf, nan, -inf, "x", "3", true, {}, { 1 }, { 0, inf },
  { nan, 1 }, { 1, 2, 3 }, { 0, 1 }, type, 1e-300, 1e300 }
local options = {
  permutation = { "orders", "seed" }, bootstrap = { "statistic", "samples", "level", "method", "seed" },
  ecdf_compare = { "direction" }, kde = { "bandwidth", "points", "range", "kernel" },
  kernel_regression = { "bandwidth", "points", "range", "degree", "least", "nearest", "level" },
  spline = { "lambda", "points", "range", "level" }, standardize = { "within" },
}
local of_one = { bootstrap = true, kde = true, standardize = true }

local foreign = {}
local line = s.linear_model{ y = { 1, 2, 4, 9 }, factors = { q = { 1, 1, "b", "b" } },
  covariates = { n = { 1, 2, 3, 5 } } }
local function predict(...) return line:predict(...) end

local function try(name, ...)
  local arguments = table.pack(...)
  local ok, message = pcall(function()
    local call = name == "predict" and predict or s[name]
    local result = call(table.unpack(arguments, 1, arguments.n))
    if type(result) == "table" and getmetatable(result) then return #tostring(result) end
  end)
  if ok then return end
  message = tostring(message)
  local own = message:find("expected", 1, true) or message:find "mr%.stats" or message:find "mr%.LinearModel"
    or message:find "bad argument"
  if not own or message:find "attempt to" or message:find "boost" then
    foreign[#foreign + 1] = name .. ": " .. message
  end
end

for name in pairs(s) do
  for i = 1, kinds do
    try(name, inputs[i])
    for j = 1, kinds do try(name, inputs[i], inputs[j]) end
  end
end
for i = 1, kinds do
  for j = 1, kinds do
    local a, b = inputs[i], inputs[j]
    try("bootstrap", { a, b }, { samples = 10, method = "bca" })
    try("bootstrap", a, { samples = 10, method = "bca", statistic = function() return b end })
    try("standardize", a, { within = { q = b } })
    try("standardize", a, { within = { q = b, b } })
    try("predict", { q = a, n = b }, { level = b })
    for _, field in ipairs{ "factors", "covariates", "interactions" } do
      try("linear_model", { y = a, [field] = b })
      try("linear_model", { y = a, [field] = { q = b } })
      try("linear_model", { y = { 1, 2, 3.5 }, covariates = { c = { 1, 2, 4 } }, [field] = { b } })
    end
  end
end
for name, fields in pairs(options) do
  local one = of_one[name]
  for _, value in ipairs(values) do
    for _, field in ipairs(fields) do
      if one then
        try(name, { 1, 2, 4 }, { [field] = value })
      else
        try(name, { 1, 2, 4, 5 }, { 2, 3, 3, 9 }, { [field] = value })
      end
    end
    if one then try(name, { 1, 2 }, value) else try(name, { 1, 2, 4, 5 }, { 1, 2, 3, 1 }, value) end
  end
end
print "ended"
table.sort(foreign)
for _, each in ipairs(foreign) do io.stderr:write(each, "\n") end
