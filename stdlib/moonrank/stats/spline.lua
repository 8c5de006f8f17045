-- Cubic smoothing splines (Reinsch 1967) in time linear in the number of different x, the penalty by generalised cross validation (Craven &
-- Wahba 1979), with intervals from the posterior covariance (Wahba 1983). Notation of Green & Silverman (1994), chapter 2: h are distances
-- between knots, Q takes second differences, R the Gram matrix of the hat functions, gamma the second derivatives at inner knots.
local core = require "moonrank.core"
local check = require "moonrank.check"
local input = require "moonrank.stats.input"

local where = "mr.stats.spline"

---@class mr.stats.SplineOptions
---@field lambda? number    weight of the integral of the squared second derivative (default: by generalised cross validation)
---@field points? integer   default 100
---@field range? number[]   {lowest, highest} point, within those of x (default: these)
---@field level? number     of the band, point by point (default 0.95)

-- Pairs of equal x as one knot with their mean and number; also the squares about these means.
local function knots_of(x, y)
  local order, k = {}, { x = {}, y = {}, w = {}, within = 0.0, n = #x }
  for i = 1, #x do order[i] = i end
  table.sort(order, function(a, b) return x[a] < x[b] end)
  for _, i in ipairs(order) do
    local last = #k.x
    if k.x[last] ~= x[i] then
      last = last + 1
      k.x[last], k.y[last], k.w[last] = x[i], 0.0, 0
    end
    local delta = y[i] - k.y[last]
    k.w[last] = k.w[last] + 1
    k.y[last] = k.y[last] + delta / k.w[last]
    k.within = k.within + delta * (y[i] - k.y[last])
  end
  k.h = {}
  for i = 1, #k.x - 1 do k.h[i] = k.x[i + 1] - k.x[i] end
  return k
end

-- The three entries of column j of Q.
local function column(k, j) return 1 / k.h[j], -1 / k.h[j] - 1 / k.h[j + 1], 1 / k.h[j + 1] end

-- R + lambda Q' W^-1 Q, which has five diagonals, as L D L': pivots d and the two diagonals below those of L.
local function factorise(k, lambda)
  local w, d, l1, l2 = k.w, {}, {}, {}
  local m = #k.x - 2
  for j = 1, m do
    local a, b, c = column(k, j)
    local main = (k.h[j] + k.h[j + 1]) / 3 + lambda * (a * a / w[j] + b * b / w[j + 1] + c * c / w[j + 2])
    if j > 1 then main = main - l1[j - 1] ^ 2 * d[j - 1] end
    if j > 2 then main = main - l2[j - 2] ^ 2 * d[j - 2] end
    d[j], l1[j], l2[j] = main, 0.0, 0.0
    if j < m then
      local e, f = column(k, j + 1)
      local beside = k.h[j + 1] / 6 + lambda * (b * e / w[j + 1] + c * f / w[j + 2])
      if j > 1 then beside = beside - l2[j - 1] * d[j - 1] * l1[j - 1] end
      l1[j] = beside / main
    end
    if j < m - 1 then l2[j] = lambda * c * column(k, j + 2) / w[j + 2] / main end
  end
  return { d = d, l1 = l1, l2 = l2 }
end

-- Solves with the factors, in place.
local function solve(f, b)
  local m = #f.d
  for j = 1, m do b[j] = b[j] - (j > 1 and f.l1[j - 1] * b[j - 1] or 0) - (j > 2 and f.l2[j - 2] * b[j - 2] or 0) end
  for j = m, 1, -1 do
    b[j] = b[j] / f.d[j] - (j < m and f.l1[j] * b[j + 1] or 0) - (j < m - 1 and f.l2[j] * b[j + 2] or 0)
  end
  return b
end

-- Q' v.
local function second_differences(k, v)
  local found = {}
  for j = 1, #k.x - 2 do
    local a, b, c = column(k, j)
    found[j] = a * v[j] + b * v[j + 1] + c * v[j + 2]
  end
  return found
end

-- Q v.
local function spread(k, v)
  local found = {}
  for i = 1, #k.x do found[i] = 0.0 end
  for j = 1, #v do
    local a, b, c = column(k, j)
    found[j], found[j + 1], found[j + 2] = found[j] + a * v[j], found[j + 1] + b * v[j], found[j + 2] + c * v[j]
  end
  return found
end

-- Trace of the smoother: knots less lambda tr(W^-1 Q S^-1 Q'), of whose inverse only the middle five diagonals are needed (Hutchinson &
-- de Hoog 1985).
local function freedom(k, lambda, f)
  local m, left = #f.d, 0.0
  local one, two = { s0 = 0, s1 = 0, s2 = 0 }, { s0 = 0, s1 = 0, s2 = 0 }  -- the rows below
  for j = m, 1, -1 do
    local s2 = -f.l1[j] * one.s1 - f.l2[j] * two.s0
    local s1 = -f.l1[j] * one.s0 - f.l2[j] * one.s1
    local s0 = 1 / f.d[j] - f.l1[j] * s1 - f.l2[j] * s2
    local a, b, c = column(k, j)
    left = left + s0 * (a * a / k.w[j] + b * b / k.w[j + 1] + c * c / k.w[j + 2])
    if j < m then
      local p, q = column(k, j + 1)
      left = left + 2 * s1 * (b * p / k.w[j + 1] + c * q / k.w[j + 2])
    end
    if j < m - 1 then left = left + 2 * s2 * c * column(k, j + 2) / k.w[j + 2] end
    one, two = { s0 = s0, s1 = s1, s2 = s2 }, one
  end
  return #k.x - lambda * left
end

-- The spline of a penalty: values and second derivatives at the knots, degrees of freedom, squared residuals and the score of the penalty.
local function fit(k, lambda)
  local f = factorise(k, lambda)
  local gamma = solve(f, second_differences(k, k.y))
  local g, rss = spread(k, gamma), k.within
  for i = 1, #g do
    g[i] = k.y[i] - lambda * g[i] / k.w[i]
    rss = rss + k.w[i] * (k.y[i] - g[i]) ^ 2
  end
  local df = freedom(k, lambda, f)
  return { lambda = lambda, factors = f, g = g, gamma = gamma, df = df, rss = rss, gcv = k.n * rss / (k.n - df) ^ 2 }
end

-- The penalty with the least score: the best of a grid over twelve powers of ten, then golden sections beside it.
local function chosen(k)
  local scale = (k.x[#k.x] - k.x[1]) ^ 3 * k.n
  local function score(power) return fit(k, scale * 10 ^ power).gcv end
  local best, least = -12, math.huge
  for power = -12, 2, 0.5 do
    local found = score(power)
    if found < least then best, least = power, found end
  end
  local ratio, low, high = (math.sqrt(5) - 1) / 2, best - 0.5, best + 0.5
  local a, b = high - ratio * (high - low), low + ratio * (high - low)
  local at_a, at_b = score(a), score(b)
  while high - low > 1e-6 do
    if at_a < at_b then
      high, b, at_b = b, a, at_a
      a = high - ratio * (high - low)
      at_a = score(a)
    else
      low, a, at_a = a, b, at_b
      b = low + ratio * (high - low)
      at_b = score(b)
    end
  end
  return scale * 10 ^ ((low + high) / 2), best == -12 or best == 2
end

-- The spline at x as weights of the values and second derivatives at the knots i and i + 1 around it.
local function weights_at(k, x)
  local lo, hi = 1, #k.x - 1
  while lo < hi do
    local middle = (lo + hi + 1) // 2
    if k.x[middle] <= x then lo = middle else hi = middle - 1 end
  end
  local h = k.h[lo]
  local s, t = (k.x[lo + 1] - x) / h, (x - k.x[lo]) / h
  return lo, s, t, (s ^ 3 - s) * h * h / 6, (t ^ 3 - t) * h * h / 6
end

-- Variance of the spline at these weights, in units of the residuals' variance: c' (W + lambda K)^-1 c, where c has the part that goes
-- through the second derivatives R^-1 Q' g in it.
local function variance(k, one, plain, i, s, t, u, v)
  local through, m = {}, #k.x - 2
  for j = 1, m do through[j] = 0.0 end
  if i > 1 then through[i - 1] = u end
  if i <= m then through[i] = v end
  local c = spread(k, solve(plain, through))
  c[i], c[i + 1] = c[i] + s, c[i + 1] + t
  local scaled = {}
  for p = 1, #c do scaled[p] = c[p] / k.w[p] end
  local back, sum = spread(k, solve(one.factors, second_differences(k, scaled))), 0.0
  for p = 1, #c do sum = sum + scaled[p] * (c[p] - one.lambda * back[p]) end
  return sum
end

---@param x mr.Tensor|number[]
---@param y mr.Tensor|number[]
---@param options? mr.stats.SplineOptions
return function(x, y, options)
  local o = check.options(where, options, { lambda = check.none, points = 100, range = check.none, level = 0.95 })
  input.share(where, "level", o.level)
  if o.lambda ~= nil and not (type(o.lambda) == "number" and o.lambda > 0 and o.lambda < math.huge) then
    check.fail("%s: lambda is %s, expected a number above 0", where, tostring(o.lambda))
  end
  local a, b, skipped = core.complete_pairs(input.moderate(where, "x", x), input.moderate(where, "y", y))
  local k = knots_of(core.numbers(a), core.numbers(b))
  if #k.x < 3 then check.fail("%s: x has %d different values, expected at least three", where, #k.x) end
  local lambda, at_edge = o.lambda, false
  if not lambda then lambda, at_edge = chosen(k) end
  local one, plain = fit(k, lambda), factorise(k, 0)
  if one.df ~= one.df then check.fail("%s: x has values too near to each other for a curve between %g and %g", where, k.x[1], k.x[#k.x]) end
  local at, curve, err = input.points(where, o, k.x[1], k.x[#k.x]), {}, {}
  local sd = math.sqrt(one.rss / (k.n - one.df))
  for p, each in ipairs(core.numbers(at)) do
    if each < k.x[1] or each > k.x[#k.x] then check.fail("%s: range reaches beyond x", where) end
    local i, s, t, u, v = weights_at(k, each)
    curve[p] = s * one.g[i] + t * one.g[i + 1] + u * (one.gamma[i - 1] or 0) + v * (one.gamma[i] or 0)
    err[p] = sd * math.sqrt(math.max(0, variance(k, one, plain, i, s, t, u, v)))
  end
  local function tensor(values) return core.tensor(values, "float64", "cpu") end
  local line, half = tensor(curve), tensor(err) * core.normal_quantile(0.5 + 0.5 * o.level)
  return { x = at, y = line, low = line - half, high = line + half, error = tensor(err), lambda = lambda, at_edge = at_edge, df = one.df,
    gcv = one.gcv, n = k.n, skipped = skipped }
end
