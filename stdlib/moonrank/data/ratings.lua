-- Ratings of items by users (mr.Ratings), and the methods that turn ratings into folds with lists of rows and grades.
local core = require "moonrank.core"
local check = require "moonrank.check"
local dataset = require "moonrank.data.dataset"
local arguments = require("moonrank.options").arguments
local declare = require("moonrank.options").declare
local find = require "moonrank.data.find"
local fingerprint = require "moonrank.data.fingerprint"
local folds = require "moonrank.data.fold"
local protocol = require "moonrank.data.protocol"
local tensors = require "moonrank.tensor"

local M = {}

---Ratings of items by users. Users and items have numbers from 1.
---@class mr.Ratings
---@field users integer        number of users
---@field items integer        number of items
---@field rows integer         number of ratings
---@field user mr.Tensor       [rows] int64
---@field item mr.Tensor       [rows] int64
---@field value mr.Tensor      [rows] float32
---@field timestamp mr.Tensor|false  [rows] int64, in the file's unit; false if no timestamps were read
---@field part mr.Tensor|false       [rows] int64: 0 train, 1 validation, 2 test; false unless these were separate files
---@field user_ids string[]    names of users 1, 2, ... in the file
---@field item_ids string[]    names of items 1, 2, ... in the file
---@field has_ratings boolean    false if no ratings were read, so that all are 1
---@field threshold number|false  smallest rating that :binarize made relevant
---@field least integer           users with fewer relevant (grades = true: rated) items are left out of folds
---@field fingerprint string    data fingerprint, which includes `least`
local Ratings = check.class("mr.Ratings")

-- Makes an mr.Ratings from the columns that a file reader of the C++ core returned.
function M.new(name, read)
  local function if_any(x) return x and #x > 0 and x or false end
  return setmetatable({
    name = name,
    user = read.user,
    item = read.item,
    value = read.value,
    user_ids = read.user_ids,
    item_ids = read.item_ids,
    users = #read.user_ids,
    items = #read.item_ids,
    rows = #read.user,
    binary = false,
    least = 0,
    has_ratings = read.has_ratings,
    threshold = false,
    timestamp = if_any(read.time),
    part = if_any(read.file),
    _titles = false,  -- default for :titles: folder and name of the titles' file, and its column of item ids
    _range = false,
    _rated = false,  -- after a call of :binarize, the ratings before it; else false
    _kept = {},
  }, Ratings)
end

-- Returns the grades after :binarize. They are computed when `value` is read, because folds do not need them.
local function binary_grades(self) return self._rated:ge(self.threshold) end

function Ratings:get_value()
  rawset(self, "value", binary_grades(self))
  return self.value
end

function Ratings:get_fingerprint()
  local more = {}
  if self.timestamp then table.move({ "timestamp", self.timestamp }, 1, 2, 1, more) end
  if self.part then table.move({ "part", self.part }, 1, 2, #more + 1, more) end
  local value = rawget(self, "value") or binary_grades(self)
  return fingerprint.combined("ratings", self.user, self.item, value, self.user_ids, self.item_ids, self.least,
    table.unpack(more))
end

local function changed(self, fields)
  local copy = {}
  for name, value in pairs(self) do copy[name] = value end
  for name, value in pairs(fields) do copy[name] = value end
  copy._kept = {}
  return setmetatable(copy, Ratings)
end

local titles_options = declare("mr.data.TitlesOptions", {
  { "item", "string", shown = '"item"; "movieId" for MovieLens', help = "name of the column of the item's id" },
  { "title", "string", default = "title", help = "name of the column of the title" },
})

---Returns the titles of the items by item number, from a table with a header, plain or .gz; "" for an
---item without a title. Without a path, MovieLens has titles from its file movies.csv. It is an
---error if no item is in the table.
---@param path? string  default: movies.csv beside the ratings of MovieLens
---@param options? mr.data.TitlesOptions
---@return string[]
---Example:
---```lua
---local books, reads = os.tmpname(), os.tmpname()
---io.open(books, "w"):write("item,title\n7,Emma\n8,Ulysses\n"):close()
---io.open(reads, "w"):write("user,item\nann,8\nann,9\n"):close()
---local titles = mr.data.interactions(reads):titles(books)
---os.remove(books)
---os.remove(reads)
---titles[1], #titles   --> Ulysses, 2
---```
function Ratings:titles(path, options)
  local where, own = "ratings:titles", self._titles
  local o = titles_options:read(where, options)
  local file = path ~= nil and find.path(path) or own and find.file(own.folder, { own.name })
  check.expect(file, where, "path", path, "the path of a table with titles%s",
    own and (", because %s has no %s"):format(own.folder, own.name) or "")
  local ids, names = core.read_pairs(file, o.item or own and own.item or "item", o.title)
  local by_id, titles, found = {}, {}, 0
  for i, id in ipairs(ids) do by_id[id] = names[i] end
  for i, id in ipairs(self.item_ids) do
    titles[i], found = by_id[id] or "", found + (by_id[id] and 1 or 0)
  end
  if found == 0 and self.items > 0 then
    check.fail("%s: none of the %d items is in %s. The first item is '%s', and that of the file is '%s'", where,
      self.items, file, core.safe_text(self.item_ids[1]), core.safe_text(ids[1] or ""))
  end
  return titles
end

---Returns the smallest and the largest rating in the data, as a table {smallest, largest}. After
---ratings:binarize, these are the ratings before it, not 0 and 1.
---@return { [1]: number, [2]: number }|false  false if there are no ratings
---Example: `mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4):range()[2]   --> 5.0`
function Ratings:range()
  if self._range or self.rows == 0 then return self._range end
  local values = self._rated or self.value
  self._range = { -(-values):max():item(), values:max():item() }
  return self._range
end

-- Returns the threshold that messages propose: 4, or the largest rating if all ratings are smaller.
local function usual_threshold(self)
  local range = self:range()
  return range and range[2] < 4 and range[2] or 4
end

-- Returns a sentence on what to do if no rating reaches the threshold of relevance, else "".
local function threshold_words(self)
  local range = self:range()
  if not range or range[2] >= self.threshold then return "" end
  return (". No rating is %.14g or more, and the largest is %.14g: call ratings:binarize(%.14g)"):format(
    self.threshold, range[2], usual_threshold(self))
end

local check_threshold = arguments{ "threshold", "number", infinite = true }

---Returns a copy of the ratings in which each rating becomes a grade: 1 (relevant) if the rating is
---at least `threshold`, else 0. Call it once. A second call with a threshold above 1, or of 0 or less,
---is an error, because the ratings are 0 and 1 by then.
---@param threshold number
---@return mr.Ratings
---Example: `mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4).users   --> 30`
function Ratings:binarize(threshold)
  check_threshold("ratings:binarize", threshold)
  if self.binary then
    dataset.check_second_threshold("ratings:binarize", threshold, "ratings")
    return changed(self, {})
  end
  local copy = changed(self, { binary = true, threshold = threshold, _rated = self.value, _range = false })
  copy.value = nil
  return copy
end

local check_relevant = arguments{ "n", "integer", least = 0 }

---Returns a copy of the ratings that leaves out users with fewer than `n` relevant items when folds
---are made. With the option `grades = true` of ratings:folds, rated items count instead of relevant
---ones. The other users keep their numbers.
---@param n integer
---@return mr.Ratings
---Example:
---```lua
---local r = mr.data.synthetic{kind = "ratings", users = 30, items = 90}:binarize(4)
---r:min_relevant(5).users <= r.users   --> true
---```
function Ratings:min_relevant(n)
  check_relevant("ratings:min_relevant", n)
  return changed(self, { least = n })
end

local hold_out_options = declare("mr.data.HoldOutOptions", {
  { "valid", "number", default = 0.1, above = 0, below = 1, formerly = "share", renamed = 2,
    help = "share of a user's rows of train that becomes validation" },
  { "seed", "integer", default = 1, help = "seed of the choice" },
})

-- Numbers that stand for the parts train and validation in the field `part` of ratings.
local in_train <const>, in_valid <const> = 0, 1

---Returns a copy of ratings of given parts (separate files for train and test) with a validation part:
---a random share of each user's rows of train, rounded down, but at least one row, even of a user with a
---single row. The code of IR-Benchmark (Yang et al. 2025) rounds like this, and its numbers need the same
---division. The option `valid` of ratings:folds rounds to the nearest number and leaves at least one row
---in train.
---@param options? mr.data.HoldOutOptions
---@return mr.Ratings
---Example:
---```lua
---local train, test = os.tmpname(), os.tmpname()
---local file = io.open(train, "w"):write "user,item\n"
---for item = 1, 19 do file:write(("ann,%d\n"):format(item)) end
---file:close()
---io.open(test, "w"):write("user,item\nann,20\n"):close()
---local ratings = mr.data.interactions{train = train, test = test}:binarize(1)
---os.remove(train)
---os.remove(test)
---local fold = ratings:hold_out{valid = 0.1}:folds{by = "given", nsr = 0}[1]
---fold.train.lists.rows, fold.valid.lists.rows   --> 18, 1
---```
function Ratings:hold_out(options)
  local o = hold_out_options:read("ratings:hold_out", options)
  if not self.part then
    check.fail("ratings:hold_out: the ratings have no parts. Read them from separate files: "
      .. "mr.data.interactions{train = ..., test = ...}")
  end
  local part, rows_of = self.part:totable(), {}
  local keys = tensors.uniform({ self.rows }, { seed = o.seed }):totable()
  for row, user in ipairs(self.user:totable()) do
    rows_of[user] = rows_of[user] or {}
    if part[row] == in_train then table.insert(rows_of[user], row) end
  end
  for _, rows in pairs(rows_of) do
    table.sort(rows, function(a, b) return keys[a] < keys[b] end)
    for k = 1, math.min(#rows, math.max(1, math.floor(o.valid * #rows))) do part[rows[k]] = in_valid end
  end
  return changed(self, { part = core.tensor(part, "int64", "cpu") })
end

local none = core.tensor({}, "int64", "cpu")

-- Rounds a number to single precision, because ratings in single precision are compared with the number.
local function in_single_precision(x) return string.unpack("f", string.pack("f", x)) end

-- Returns the user-item pairs that folds divide into parts: each user's relevant items, or with `grades` all rated
-- items. With `unrated`, negatives are sampled from items that the user has not rated. The results are cached.
function Ratings:kept(grades, unrated)
  if not self.binary and not grades then
    check.fail("ratings:folds: it is not known which ratings are relevant. Call ratings:binarize(%.14g) before, or "
      .. "pass grades = true", usual_threshold(self))
  end
  local key = (grades and "graded" or "binary") .. (unrated and ", unrated" or "")
  if not self._kept[key] and unrated then
    self._kept[key] = core.unrated_negatives(self:kept(grades), self.user, self.item, self.users)
  elseif not self._kept[key] then
    local rated = not grades and not rawget(self, "value") and self._rated
    self._kept[key] = core.positives(self.user, self.item, rated or self.value, self.timestamp or none,
      self.part or none, self.users, self.items, rated and in_single_precision(self.threshold) or 1, self.least, grades)
  end
  return self._kept[key]
end

---The items that each user rated in one part of a fold.
---@class mr.data.Rated
---@field items fun(): any           mr.UserItems: items that each user rated in the part, including items in no list
---@field fingerprint fun(): string  data fingerprint of the ratings and of the options that divided them

-- Returns a function from a part's name ("train", "valid", "test") to an mr.data.Rated, which has the items that each
-- user rated in that part of the fold. The items are computed in the first call.
local function rated_by_part(self, o, number, n, test)
  local tables
  return function(part)
    return {
      items = function()
        tables = tables or core.rated_by_part(self:kept(o.grades), self.user, self.item, self.timestamp or none,
          self.part or none, self.users, o.by, o.k, number, o.valid, o.seed, n, test, o.at)
        return tables[part]
      end,
      fingerprint = function()
        return fingerprint.combined("rated", self.fingerprint, part, o.by, o.k, number, o.valid, o.seed, n, test,
          o.at or false)
      end,
    }
  end
end

local function make_fold(self, o, number)
  -- The C++ core always expects numbers for `n` and `test`. It ignores a number if the option `by` has a value that
  -- does not use it.
  local n, test = o.n or protocol.defaults.n, o.test or protocol.defaults.test
  local made = core.make_fold(self:kept(o.grades, o.negatives == "unrated"), o.by, o.k, number, o.nsr, o.valid, o.seed,
    n, test, o.at)
  local rated = rated_by_part(self, o, number, n, test)
  local function part(name)
    local of = made[name]
    local set = dataset.new{ lists = of.lists, users = of.users, items = of.items, name = name,
      ids = { users = self.user_ids, items = self.item_ids } }
    set._rated, set._binary = rated(name), self.binary
    return set
  end
  return folds.new{
    train = part "train", valid = part "valid", test = part "test", short_users = made.short_users,
    whole_users = made.whole_users, new_users = made.new_users, new_items = made.new_items, users = self.users,
    items = self.items, number = number, k = o.k, nsr = o.nsr, negatives = o.negatives, seed = o.seed, by = o.by,
    title = protocol.title(o, number, made.short_users),
  }
end

---Divides the ratings into cross-validation folds, each with a train, a validation and a test part.
---A fold is made when a script first uses the fold. No interaction is in two parts of a fold. `by`
---says how the parts are divided:
---
---- "user": each user's relevant items are shuffled and assigned to k folds in rotation.
---  A share `valid` of the items outside test becomes validation (rounded; if `valid` is above 0, at
---  least one item of a user who has two or more outside test).
---- "share": a random share `test` of each user's items is test (80/20 is 0.2), and a share `valid`
---  of the remaining items is validation. The k folds are drawn independently (Monte Carlo).
---- "one": `n` random items of each user are test (leave-one-out), and `n` others validation (none
---  if valid = 0), k times. Users with too few items to leave one for train are in train only.
---- "last": like "one", but with the last n items by timestamp (leave-last-out), ties by row.
---- "user_time": the latest share `test` of each user's items, at least `n`, is test, and the
---  latest share `valid` of the remaining items is validation. Users with too few items to leave
---  one for train are in train only.
---- "time": ratings at time `at` or later are test, or else the latest share `test` of all ratings.
---  Validation is the latest share `valid` of the remaining ratings.
---- "cold_user", "cold_item": users or items are assigned to k folds in rotation, with all their
---  ratings. For cold items, the negatives of each part are items of that part.
---- "given": the parts are the files that the ratings were read from. Without a validation file, a
---  share `valid` of each user's items of train becomes validation (rounded as for "user";
---  ratings:hold_out rounds down, like the code of IR-Benchmark).
---
---Each part gets `nsr` negatives (sampled items) per relevant item, drawn once without replacement.
---The option `negatives` says from which items: "not_relevant" draws from items that are
---not relevant to the user in any part, which may include low ratings. "unrated" draws from items
---that the user has not rated at all. If a user has fewer of these items than requested, all are
---used, divided among the parts in proportion. The summary counts such users, and those who are in
---train only. `grades = true` uses the ratings as grades, for models that predict ratings. Every
---rated item is then assigned to a part.
---@param options? mr.FoldOptions
---@return mr.Fold[]
---Example: `#mr.data.synthetic{kind = "ratings", users = 20, items = 200}:binarize(4):folds{k = 3}   --> 3`
---Example: `mr.data.synthetic{kind = "ratings", users = 20, items = 200}:binarize(4):folds{by = "one"}[1].by   --> one`
function Ratings:folds(options)
  local o = protocol.options(self, options)
  local kept = self:kept(o.grades)
  if kept.count == 0 then
    check.expect(false, "ratings:folds", ("the number of users with %d or more %s items"):format(
      math.max(1, self.least), o.grades and "rated" or "relevant"), 0,
      "at least 1" .. (o.grades and "" or threshold_words(self)))
  end
  local valid = o.n and o.by ~= "user_time" and o.valid > 0 and o.n or 0
  if o.n and kept.longest - o.n <= valid then
    check.fail("ratings:folds: n is %d, which takes %d items of each user for test%s, but no user has more than %d "
      .. "items, and one must remain for train", o.n, o.n, valid > 0 and " and as many for validation" or "",
      kept.longest)
  end
  return folds.sequence(o.k, function(number) return make_fold(self, o, number) end)
end

-- Returns the range of the timestamps in words, with dates if they may be Unix times in seconds.
local function time_words(self)
  if not self.timestamp then return "no timestamps were read" end
  local least, most = core.time_span(self.timestamp)
  local words = ("timestamps from %d to %d"):format(least, most)
  -- Unix times of 1980 and 2100: timestamps outside this range are not shown as dates.
  local from, to = 315532800, 4102444800
  if least < from or most > to then return words end
  return ("%s (in seconds: %s to %s)"):format(words, os.date("!%Y-%m-%d", least), os.date("!%Y-%m-%d", most))
end

-- Returns in words which ratings are relevant, and of how many users and items.
local function left_words(self)
  if not self.binary then
    return ("no threshold: ratings:binarize(%.14g) sets which ratings are relevant"):format(usual_threshold(self))
  end
  local kept = self:kept(false)
  local words = ("relevant: rating >= %.14g; %d ratings of %d users and %d items"):format(self.threshold, kept.rows,
    kept.count, kept.distinct_items)
  return self.least > 0 and ("%s, of users with at least %d"):format(words, self.least) or words
end

---Returns a summary of the ratings as text: numbers of users, items and ratings, the range of
---ratings and of timestamps, the threshold of relevance, and how many ratings are relevant.
function Ratings:__tostring()
  local range = self.rows > 0 and self:range()
  local rated = not self.has_ratings and "no ratings were read: all are 1"
    or range and ("ratings from %.14g to %.14g"):format(range[1], range[2]) or "no ratings"
  return ("%s: %d users, %d items, %d ratings\n%s; %s\n%s"):format(core.safe_text(self.name), self.users, self.items,
    self.rows, rated, time_words(self), left_words(self))
end

return M
