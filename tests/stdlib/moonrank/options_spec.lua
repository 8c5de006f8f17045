-- Tests declarations of options: accepted values, errors, and that public functions accept what their declarations say.
local mr = require "moonrank"
local docs = require "moonrank.help.docs"
local entries = require "moonrank.help.entries"
local options = require "moonrank.options"
local says = require "tests.support.says"
local test = require "moonrank.test"
local it, check, equal, raises = test.it, test.check, test.equal, test.raises

local declared = options.declare("mr.test.SomeOptions", {
  "Numbers",
  { "count", "integer", default = 3, least = 1, most = 9, help = "how many" },
  { "rate", "number", required = true, above = 0, help = "a rate" },
  { "share", "number", least = 0, below = 1, help = "a share" },
  { "limit", "number", default = math.huge, infinite = true, help = "a limit" },
  "Others",
  { "ties", "string", default = "mean", choices = { "mean", "worst" }, help = "rule for ties",
    also = { "tie_rule", rank_of_ties = "Write ties = 'mean'" } },
  { "names", "string[]", default = { "a" }, help = "names" },
  { "schedule", "mr.Schedule", class = "mr.Schedule", help = "a schedule" },
  { "even", "integer", accept = function(value) return value % 2 == 0 end, expected = "an even integer",
    help = "an even number" },
  { "quiet", "boolean", default = false, help = "no output" },
  { "null", "integer|string", choices = { 0, "missing" }, help = "choices of several types" },
  { "sides", "integer|integer[]", help = "a number or a list" },
  { "sizes", "(integer|false)[]", help = "a list" },
  { "weights", "mr.Tensor", class = "mr.Tensor", help = "an object of a class in C++" },
})

it("options.declare fills in defaults, and copies tables among them", function()
  local o = declared:read("f", { rate = 0.5 })
  equal(o.count, 3)
  equal(o.limit, math.huge)
  equal(o.ties, "mean")
  equal(o.quiet, false)
  equal(o.share, nil)
  o.names[1] = "changed"
  equal(declared:read("f", { rate = 1 }).names[1], "a")
end)

it("options.declare takes values within the limits unchanged", function()
  local given = { rate = 1e-300, count = 9, share = 0, limit = -math.huge, ties = "worst", even = 4, quiet = true,
    schedule = mr.schedule.cosine{}, null = 0, sides = 3, sizes = { 3, false }, weights = mr.ones(2) }
  local o = declared:read("f", given)
  for name, value in pairs(given) do equal(o[name], value) end
end)

it("options.declare refuses other values, and names the option and the value", function()
  local nan = 0 / 0
  for name, values in pairs{ count = { 0, 10, 1.0, "3", true }, rate = { 0, -1, nan, math.huge, "1" },
    share = { -0.1, 1, nan }, limit = { nan, "inf" }, ties = { "best", 1 }, names = { "a" },
    schedule = { 1, "cosine" }, even = { 3 }, quiet = { 1, "true" }, null = { 1, "0" }, sizes = { 3 },
    weights = { 1 } } do
    for _, value in ipairs(values) do
      local ok, message = pcall(declared.read, declared, "f", { rate = name ~= "rate" and 1 or nil, [name] = value })
      check(not ok, name)
      local found = value ~= value and "NaN" or tostring(value)
      check(message:find("f: " .. name, 1, true) and message:find(found, 1, true), message)
    end
  end
  raises(function() declared:read("f", {}) end, "f", "rate")
  raises(function() declared:read("f", 3) end, "number")
end)

it("options.declare takes options of several types, and choices beside a type", function()
  local several = options.declare("mr.test.SeveralTypes", {
    { "by", "string|string[]", help = "a name, or names" },
    { "bandwidth", "string|number", choices = { "cv", "scott" }, above = 0, help = "a rule, or the bandwidth" },
    { "f", "fun(x: string|number): number", help = "a function of texts or numbers" },
    { "marks", "(string|mr.Metric)[]", help = "a list" },
    { "degree", "integer", choices = { 0, 1 }, help = "a degree" },
  })
  local allowed = { by = { "a", { "a" } }, bandwidth = { "cv", 0.5 }, f = { print }, marks = { {} }, degree = { 1 } }
  for name, values in pairs(allowed) do
    for _, value in ipairs(values) do equal(several:read("g", { [name] = value })[name], value) end
  end
  local refused = { by = { 3, true }, bandwidth = { "no", 0, true }, f = { "print" }, marks = { "a" }, degree = { 2 } }
  for name, values in pairs(refused) do
    for _, value in ipairs(values) do
      raises(function() several:read("g", { [name] = value }) end, name, tostring(value))
    end
  end
  equal(several:fields()[2].type, '"cv"|"scott"|number')
  raises(function() several:read("g", { bandwidth = { 1, "a" } }) end, "bandwidth", "{1, 'a'}")
end)

it("options.declare refuses lists of numbers with gaps, names or elements out of range", function()
  local row = { "widths", "integer[]", default = {}, least = 1, help = "widths" }
  local lists = options.declare("mr.test.ListOptions", { row })
  equal(lists:read("f", { widths = { 3, 1 } }).widths[2], 1)
  for key, widths in pairs{ ["[2] is 0"] = { 3, 0 }, ["[1] is 2.5"] = { 2.5 }, ["[2] is nil"] = { 1, nil, 2 },
    [" has the field 'last'"] = { 1, last = 3 } } do
    raises(function() lists:read("f", { widths = widths }) end, "widths" .. key)
  end
  raises(function() lists:read("f", { widths = 3 }) end, "widths", "3")
  local texts = options.declare("mr.test.TextOptions", { { "names", "string[]", help = "names" } })
  equal(texts:read("f", { names = { "a", "b" } }).names[2], "b")
  raises(function() texts:read("f", { names = { "a", 2 } }) end, "names[2] is 2", "text")
  raises(function() texts:read("f", { names = { "a", also = "b" } }) end, "names", "'also'")
end)

it("options.declare refuses unknown options, and suggests the right name", function()
  raises(function() declared:read("f", { rate = 1, coutn = 3 }) end, "'count'")
  raises(function() declared:read("f", { rate = 1, tie_rule = "mean" }) end, "'ties'")
  raises(function() declared:read("f", { rate = 1, rank_of_ties = 2 }) end, "Write ties = 'mean'")
end)

-- Returns the text that `f` writes to standard error.
local function written_by(f)
  local parts, real = {}, io.stderr
  local function write(_, ...) parts[#parts + 1] = table.concat{ ... } end
  io.stderr = { write = write }  -- luacheck: ignore
  local ok, message = pcall(f)
  io.stderr = real  -- luacheck: ignore
  check(ok, message)
  return table.concat(parts)
end

it("options.declare accepts a former name with one warning per process", function()
  local renamed = options.declare("mr.test.RenamedOptions", {
    { "steep", "number", default = 1, above = 0, formerly = "spec_former", renamed = 1, help = "a number" },
    { "other", "integer", help = "another" },
  })
  local function read(given) return function() equal(renamed:read("f", given).steep, 2) end end
  local warning = written_by(read{ spec_former = 2, other = 1 })
  says(warning, "options_spec.lua:", "f:", "spec_former", "steep")
  equal(written_by(read{ spec_former = 2 }), "")
  equal(written_by(read{ steep = 2 }), "")
  raises(function() renamed:read("f", { spec_former = 2, steep = 2 }) end, "f", "spec_former")
  raises(function() renamed:read("f", { spec_former = -1 }) end, "steep", "-1")
  raises(function() renamed:read("f", { former_spec = 1 }) end, "'former_spec'")
  check(renamed:fields()[1].text:find("spec_former", 1, true))
end)

it("options.declare accepts several former names, and values of the former form", function()
  local renamed = options.unlisted("mr.test.TwiceRenamed", {
    { "rate", "number", formerly = { "spec_second", "spec_first" }, renamed = { 2, 1 }, help = "" },
    { "direction", "string", choices = { "up", "down" }, formerly = "spec_falls", renamed = 1,
      meant = { [true] = "down", [false] = "up" }, help = "" },
  })
  for given, value in pairs{ rate = 1, spec_second = 2, spec_first = 3 } do
    local warning = written_by(function() equal(renamed:read("f", { [given] = value }).rate, value) end)
    equal(warning:find(given, 1, true) ~= nil, given ~= "rate", warning)
  end
  for value, meant in pairs{ [true] = "down", [false] = "up" } do
    written_by(function() equal(renamed:read("f", { spec_falls = value }).direction, meant) end)
  end
  raises(function() renamed:read("f", { spec_falls = "sideways" }) end, "direction", "sideways")
  raises(function() renamed:read("f", { spec_first = 1, spec_second = 2 }) end, "spec_first", "spec_second", "rate")
  local o = renamed:read("f", { rate = 1 })
  equal(options.names_before(1, o), { rate = "spec_first", direction = "spec_falls" })
  equal(options.names_before(2, o), { rate = "spec_second" })
  equal(options.names_before(1, { rate = 1 }), nil)
end)

it("a name can be former in one function and present in another", function()
  local one = options.unlisted("mr.test.One", { { "spec_k", "integer", formerly = "n", renamed = 2, help = "" } })
  local other = options.unlisted("mr.test.Other", { { "n", "integer", help = "" }, { "spec_k", "integer", help = "" } })
  written_by(function() equal(one:read("f", { n = 3 }), { spec_k = 3 }) end)
  equal(written_by(function() equal(other:read("g", { n = 3, spec_k = 4 }), { n = 3, spec_k = 4 }) end), "")
  equal(options.names_before(2, other:read("g", { spec_k = 4 })), nil)
end)

-- Options that version 0.2 renamed: a function with the option, the option's former and present name, the same value
-- under both, and what the function needs besides. Both calls must return equal values of the function `of`.
local renamed_options = {
  { mr.losses.top_n_rank, "n", 3, "k", 3, of = function(loss) return loss.metric end },
  { mr.losses.approx_ndcg, "alpha", 3, "steepness", 3, of = function(loss) return loss.options.steepness end },
  { function(o) return mr.metrics.define("spec_renamed", { gain = math.abs, discount = math.abs }, o) end, "minimize",
    true, "direction", "minimize", of = function() return mr.metrics.parse("spec_renamed").minimize end },
  { function(o) return mr.stats.ecdf_compare({ 1 }, { 2 }, o) end, "better", "lower", "direction", "minimize",
    of = function(found) return found.regions[1].better end },
  { mr.plot.parallel, "minimize", true, "direction", "minimize", { axes = { { values = { 1, 2 } } }, color = { 1, 2 } },
    of = function(figure) return figure:script() end },
  { mr.table, "better", { a = "min" }, "direction", { a = "minimize" }, { columns = { "a" } },
    of = function(t) return t.direction.a end },
  { function(o)
      local set = mr.data.synthetic{ kind = "queries", queries = 2 }
      o.train, o.valid, o.test = set, set, set
      return mr.data.fold(o)
    end, "title", "mine", "name", "mine", of = tostring },
}

it("every renamed option accepts its former name with one warning, and not both names", function()
  local warned = {}
  for _, each in ipairs(renamed_options) do
    local f, former, was, present, value, more = table.unpack(each, 1, 6)
    local function call(given)
      for name, besides in pairs(more or {}) do given[name] = besides end
      return f(given)
    end
    local found
    local function go() found = each.of(call{ [former] = was }) end
    local warning, again = written_by(go), written_by(go)
    local words = former .. " is called " .. present
    if not warned[words] then says(warning, words, "options_spec.lua:") end
    equal({ select(2, warning:gsub("\n", "")), again }, { warned[words] and 0 or 1, "" })
    warned[words] = true
    equal(found, each.of(call{ [present] = value }), present)
    raises(function() call{ [former] = was, [present] = value } end, former, present, "both")
  end
end)

it("every option table with renamed options reads them under former names, and refuses two names of one", function()
  local seen = {}
  for _, name in ipairs(docs.option_names()) do
    check(docs.class(name), name)  -- loads the module that declares it
    local declaration, is_complete = options.declared[name], true
    for _, row in ipairs(declaration.rows) do is_complete = is_complete and not row.required end
    for _, row in ipairs(declaration.rows) do
      for _, former in ipairs(row.formerly and options.former_names(row) or {}) do
        seen[#seen + 1] = name
        local value, given = row.default ~= nil and row.default or 1, nil
        written_by(function()
          raises(function() declaration:read(name, { [former] = value, [row[1]] = value }) end, former, row[1], "both")
          given = is_complete and declaration:read(name, { [former] = value })[row[1]]
        end)
        if is_complete then equal(given, value, name .. "." .. former) end
      end
    end
  end
  check(#seen > 10, #seen)
end)

it("options.declare refuses a former name that another option has", function()
  local wrong = options.declare("mr.test.TwiceNamed", {
    { "a", "integer", formerly = "b", renamed = 1, help = "one" }, { "b", "integer", help = "another" },
  })
  raises(function() wrong:read("f", {}) end, "former name")
  options.declared["mr.test.TwiceNamed"] = nil
end)

it("options.declare refuses options that contradict each other, and documents it", function()
  local related = options.unlisted("mr.test.RelatedOptions", {
    { "steps", "integer", excludes = { epochs = "both are lengths" }, required_without = "epochs", help = "" },
    { "epochs", "integer", help = "" },
    { "low", "number", default = 1, not_above = "high", help = "" },
    { "high", "number", help = "" },
    { "label", "string", requires = "caption", help = "" },
    { "caption", "string", help = "" },
    { "by", "string", default = "user", choices = { "user", "time", "last" }, help = "" },
    { "at", "integer", only_with = { by = { "time", "last" } }, help = "" },
    { "fast", "boolean", only_with = { by = "user" }, help = "" },
  })
  local function refused(given, ...) raises(function() related:read("f", given) end, "f", ...) end
  refused({ steps = 1, epochs = 2 }, "steps", "epochs", "both are lengths")
  refused({}, "steps", "epochs")
  refused({ steps = 1, low = 3, high = 2 }, "low", "3", "high", "2")
  refused({ steps = 1, high = 0.5 }, "low", "1", "high", "0.5")
  refused({ steps = 1, label = "x" }, "label", "caption")
  refused({ steps = 1, at = 0 }, "at is 0", "by = 'user'", "'time' or 'last'", "Leave out at")
  refused({ steps = 1, fast = false, by = "time" }, "fast is false", "by = 'time'", "'user'")
  equal(related:read("f", { epochs = 2, low = 2, high = 2, label = "x", caption = "y" }).epochs, 2)
  equal(related:read("f", { steps = 1, by = "last", at = 3 }).at, 3)
  equal(related:read("f", { steps = 1, fast = false }).fast, false)
  local text = {}
  for _, entry in ipairs(related:fields()) do text[#text + 1] = entry.text end
  for i, word in pairs{ [1] = "epochs", [3] = "high", [5] = "caption", [8] = "'time' or 'last'" } do
    check(text[i]:find(word, 1, true), text[i])
  end
end)

it("options.declare checks elements of arrays and values of tables by name, and refuses empty arrays", function()
  local nested = options.unlisted("mr.test.NestedOptions", {
    { "marks", "table<string, string|number>", each = { "string|number", choices = { "max", "min" }, above = 0 },
      help = "" },
    { "rows", "any[][]", each = { "table" }, help = "" },
    { "metrics", "string[]", some = "metric", help = "" },
    { "sides", "string[]", each = { "string", choices = { "left", "right" } }, help = "" },
  })
  local given = { marks = { a = "max", b = 0.5 }, rows = { {}, { 1 } }, metrics = { "ap" },
    sides = { "left" } }
  for name, value in pairs(nested:read("f", given)) do equal(value, given[name]) end
  for _, case in ipairs{
    { { marks = { a = "mox" } }, "marks.a is 'mox'", "'max'" }, { { marks = { a = 0 } }, "marks.a", "0" },
    { { marks = { "max" } }, "marks", "1", "text" }, { { rows = { {}, 3 } }, "rows[2] is 3", "table" },
    { { sides = { "left", "up" } }, "sides[2] is 'up'", "'right'" },
    { { rows = { a = {} } }, "rows", "'a'" }, { { metrics = {} }, "metrics is empty", "metric" } } do
    raises(function() nested:read("f", case[1]) end, "f: ", table.unpack(case, 2))
  end
end)

it("options.arguments checks positional arguments in their order, and returns them", function()
  local checked = options.arguments({ "n", "integer", least = 1 }, { "f", "function", required = false },
    { "names", "string[]" })
  equal({ checked("g", 3, nil, { "a" }) }, { 3, nil, { "a" } })
  equal((select(2, checked("g", 3, print, {}))), print)
  raises(function() checked("g", 0, nil, {}) end, "g: n is 0", "an integer of at least 1")
  raises(function() checked("g") end, "g: n is nil", "integer")
  raises(function() checked("g", 1, 2, {}) end, "g: f is 2", "function")
  raises(function() checked("h", 1, nil, { "a", 2 }) end, "h: names[2] is 2", "text")
  raises(function() checked("h", 1, nil) end, "h: names is nil", "texts")
end)

it("options.declare documents every option with its default, limits and group", function()
  local by_name = {}
  for _, field in ipairs(declared:fields()) do by_name[field.name] = field end
  check(by_name.count.text:find("3", 1, true) and by_name.count.text:find("from 1 to 9", 1, true), by_name.count.text)
  equal(by_name.ties.type, '"mean"|"worst"')
  equal(by_name.rate.optional, false)
  equal(by_name.share.optional, true)
  equal(by_name.count.group, "Numbers")
  equal(by_name.quiet.group, "Others")
end)

it("options.declare takes over the options of other tables", function()
  local more = options.declare("mr.test.MoreOptions", { { "extra", "integer", default = 1, help = "more" } }, declared)
  local first = options.declare("mr.test.FirstOptions", { declared, { "extra", "integer", help = "more" } })
  equal(first:fields()[1].name, "count")
  equal(more:read("g", { rate = 1 }).extra, 1)
  equal(more:read("g", { rate = 1 }).count, 3)
  raises(function() more:read("g", { rate = 1, count = 0 }) end, "count", "0")
end)

it("options.declare checks a table within a table by its own declaration", function()
  local inner = { "inner", "mr.test.SomeOptions", help = "a table of options" }
  local outer = options.declare("mr.test.OuterOptions", { inner })
  raises(function() outer:read("h", { inner = 3 }) end, "inner", "3")
  equal(declared:read("h inner", outer:read("h", { inner = { rate = 1 } }).inner).count, 3)
end)

-- Returns true if an option has an effect with the defaults of the other options.
local function has_effect(declaration, row)
  for other, values in pairs(row.only_with or {}) do
    if values ~= declaration.by_name[other].default then return false end
  end
  return true
end

it("every option table of the library is documented and accepts its own defaults", function()
  local names = docs.option_names()
  check(#names > 0)
  for _, name in ipairs(names) do
    check(docs.class(name), name)
    local given = {}
    for _, row in ipairs(options.declared[name].rows) do
      check(row.help ~= "", name .. "." .. row[1])
      if row.default ~= nil and has_effect(options.declared[name], row) then given[row[1]] = row.default end
    end
    for _, row in ipairs(options.declared[name].rows) do
      if row.required or row.required_without then given = nil end
    end
    if given then options.declared[name]:read(name, given) end
  end
end)

-- Returns values that a declared option must reject: of another type, not among its choices, and beyond each of its
-- limits.
local function refused_by(row)
  if row.choices then return { "no such choice" } end
  if row[2]:find("|", 1, true) then return {} end
  if row[2] == "boolean" or row[2]:find "%[%]$" then return { "no number" } end
  if row[2] == "string" or row.class then return { 17 } end
  if row[2] ~= "integer" and row[2] ~= "number" then return {} end
  local values = { "no number", 0 / 0, not row.infinite and math.huge or nil }
  if row[2] == "integer" then values[#values + 1] = 1.5 end
  if row.least then values[#values + 1] = row.least - 1 end
  if row.most and row.most < 1e15 then values[#values + 1] = row.most + 1 end
  values[#values + 1] = row.above
  values[#values + 1] = row.below
  return values
end

-- Checks that the function `read` of an option table rejects what the declaration rejects. The error must name the
-- option and the value, and suggest the option for a misspelt name.
local function refuses(where, declaration, read)
  local required
  for _, row in ipairs(declaration.rows) do
    local name = row[1]
    required = required or row.required and name
    for _, bad in ipairs(refused_by(row)) do
      local shown = bad ~= bad and name or tostring(bad)
      raises(function() read{ [name] = bad } end, name, shown)
    end
    -- not for mr.compare, where any other name is a system
    if #name > 4 and where ~= "mr.compare" then
      raises(function() read{ [name .. "x"] = 1 } end, ("'%sx'"):format(name), ("'%s'"):format(name))
    end
  end
  if required then raises(function() read{} end, required) end
end

it("every option table of the library refuses values beyond its limits and misspelt names", function()
  for _, name in ipairs(docs.option_names()) do
    local declaration = options.declared[name]
    refuses(name, declaration, function(given) declaration:read(name, given) end)
  end
end)

it("every public function with an option table as its only argument checks it by the declaration", function()
  local seen = 0
  for _, entry in ipairs(entries.all()) do
    local item = not entry.item and type(entry.value) == "function" and docs.item(entry.value)
    local kind = item and not entry.path:find(":", 1, true) and #item.params == 1 and item.params[1].type
    if kind and options.declared[kind] then
      seen = seen + 1
      refuses(entry.path, options.declared[kind], entry.value)
    end
  end
  check(seen > 0)
end)

test.it("an option of choices or a number says both if a text is not among the choices", function()
  local read = require("moonrank").stats.kernel_regression
  test.raises(function() read({ 1, 2, 3 }, { 1, 2, 3 }, { least = "nearest" }) end, "least", "'nearest'", "silverman",
    "a number from")
end)
