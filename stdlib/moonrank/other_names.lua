-- What to write instead of a field that tensors do not have: names that other libraries use, else the nearest one.
local core = require "moonrank.core"
local check = require "moonrank.check"

local instead = {
  view = "x:reshape(...)", unsqueeze = "x:reshape(...)", squeeze = "x:reshape(...)", flatten = "x:reshape(-1)",
  permute = "x:transpose(dim, other)", T = "x:t()", mm = "x:matmul(other)", bmm = "x:matmul(other)", dot = "x:matmul(other)",
  index_select = "x:rows(index)", scatter = "x:scatter_add(dim, index, values)", tolist = "x:totable()", numpy = "x:totable()",
  cpu = 'x:to("cpu")', cuda = 'x:to("cuda")', int = "x:long()", ndim = "x.dims", dim = "x.dims", nelement = "x:numel()",
  requires_grad_ = "x:requires_grad()", zero_ = "x:zero_grad() for gradients", norm = "(x * x):sum():sqrt()", mul = "x * y", add = "x + y",
  sub = "x - y", div = "x / y", pow = "x ^ y", neg = "-x", clone = "x itself: entries of a tensor do not change",
  cat = "mr.cat({x, y}, dim)", concat = "mr.cat({x, y}, dim)", stack = "mr.stack({x, y}, dim)", masked_fill = "mask:where(value, x)",
  split = "x:narrow(dim, first, count)", chunk = "x:narrow(dim, first, count)", argsort = "select(2, x:sort(dim))",
  expand = "nothing: operations broadcast sizes of 1", repeat_interleave = "lists:spread(x) for rows of lists",
  array = "mr.tensor(values)", from_numpy = "mr.tensor(values)", concatenate = "mr.cat({x, y}, dim)",
}

local class = core.classes["mr.Tensor"]

class.meta.__missing = function(_, name)
  local text = ("mr.Tensor has no field '%s'"):format(tostring(name))
  if type(name) ~= "string" then check.fail("%s", text) end
  if instead[name] then check.fail("%s; write %s", text, instead[name]) end
  local known = {}
  for method in pairs(class.methods) do known[#known + 1] = method end
  for getter in pairs(class.getters) do
    if getter ~= "[]" then known[#known + 1] = getter end
  end
  local near = check.nearest(name, known)
  check.fail("%s%s", text, near and (", did you mean '%s'?"):format(near) or "")
end

return instead
