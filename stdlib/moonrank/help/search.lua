-- Searches the text of the documentation. A word in a name weighs most, then a word in options and fields, then one in
-- the summary, then one in the rest of the text.
local M = {}

---@class mr.help.Document
---@field path string      name of the function, class, metric, recipe or page
---@field summary string   one sentence
---@field text string      the whole documentation
---@field parts? mr.luacats.Entry[]  arguments, options or fields

local most = 20  -- largest number of search hits that are shown

-- Returns how often a word occurs in a text as a whole word, and how often as a part of a longer word.
local function occurrences(text, word)
  local whole, part, at = 0, 0, 1
  while true do
    local first, last = text:find(word, at, true)
    if not first then return whole, part end
    local is_whole = not text:sub(first - 1, first - 1):match "[%w_]" and not text:sub(last + 1, last + 1):match "[%w_]"
    whole, part = whole + (is_whole and 1 or 0), part + (is_whole and 0 or 1)
    at = last + 1
  end
end

-- Maps words that users search for to the word that the documentation uses instead. If the key has several words, the
-- words of its value replace them in a search.
M.synonyms = { minibatch = "batch_size", mini_batch = "batch_size", batchsize = "batch_size",
  regularization = "decay", regularisation = "decay", dataframe = "table",
  hyperparameter = "sweep", tuning = "sweep", stopping = "patience", embedding = "factors", optimiser = "optimizer",
  ["ctrl+c"] = "ctrl-c", ["control-c"] = "ctrl-c", label = "grade", query = "list", normalization = "normalize",
  normalisation = "normalize", truncation = "cutoff",
  standardization = "standardize", factorization = "factorisation", overfitting = "patience", overfit = "patience",
  autograd = "backward", ["~="] = "lua", ["!="] = "lua", ["early stopping"] = "patience",
  ["reciprocal rank"] = "metric rr", ["mean reciprocal rank"] = "metric rr",
  ["expected reciprocal rank"] = "metric err", ["average precision"] = "metric ap",
  ["mean average precision"] = "metric ap", ["cross validation"] = "folds", ["k-fold"] = "folds",
  ["leave one out"] = "folds", ["grid search"] = "sweep sampler", ["gradient boosting"] = "trees",
  ["discounted cumulative gain"] = "metric ndcg", ["normalized discounted cumulative gain"] = "metric ndcg",
  gbdt = "trees", transformer = "attention", hitrate = "hit", ["hit rate"] = "hit", libsvm = "letor",
  ["bayesian optimisation"] = "tpe", ["bayesian optimization"] = "tpe",
  implicit = "interactions", feedback = "interactions", mrr = "rr", map = "ap", lambdamart = "trees",
  -- names of PyTorch, NumPy and scikit-learn
  dataloader = "batches", train_test_split = "split", gridsearchcv = "sweep", randomizedsearchcv = "sweep",
  cross_val_score = "folds", kfold = "folds", standardscaler = "standardize", roc_auc_score = "auc",
  ndcg_score = "ndcg", clip_grad_norm_ = "clip_gradients", concatenate = "cat", vstack = "cat", hstack = "cat",
  load_state_dict = "load", state_dict = "save", to_numpy = "totable", tolist = "totable", einsum = "matmul",
  no_grad = "detach" }

-- Endings of words that are removed to get the stem: "batch" for "batches", "query" for "queries". The ending "ies" is
-- replaced by "y".
M.endings = { "ies", "es", "s", "ing", "ed" }

-- Largest number of words of a search that count. More would only make it slow.
local most_words <const> = 12

-- Returns the words of a search in lower case. Words that have a synonym together, such as "mean reciprocal rank", are
-- replaced by it, the longest first.
local function words_of(topic)
  local all, words = {}, {}
  for word in topic:lower():gmatch "%S+" do
    all[#all + 1] = word
    if #all == most_words then break end
  end
  local i = 1
  while i <= #all do
    local last, word = i, all[i]
    for j = math.min(#all, i + 3), i + 1, -1 do
      local together = M.synonyms[table.concat(all, " ", i, j)]
      if together and last == i then last, word = j, together end
    end
    for each in word:gmatch "%S+" do words[#words + 1] = each end
    i = last + 1
  end
  return words
end

-- Returns all forms of a search word: the word, the word without a cutoff ("recall" for "recall@20"), its stems
-- ("batch" for "batches"), and synonyms of all these.
local function forms_of(word)
  local forms = { word, word:match "^(%a[%w_]*)@[%dk]*$" }
  for _, ending in ipairs(M.endings) do
    local stem = word:sub(1, -#ending - 1)
    if #stem >= 3 and word:sub(-#ending) == ending then forms[#forms + 1] = ending == "ies" and stem .. "y" or stem end
  end
  for i = 1, #forms do forms[#forms + 1] = M.synonyms[forms[i]] end
  return forms
end

-- True if `word` is the name of `entry` (an option or a field), or a name that another library gives to it.
local function is_called(entry, word)
  if entry.name:lower() == word then return true end
  for _, other in ipairs(entry.also or {}) do
    if other == word then return true end
  end
  return false
end

-- Returns the search score of a word in a document, which is 0 if the word does not occur. Also returns the document's
-- first option or field that has the word as its name, or as its name in another library.
local function score_of(document, word)
  local name = document.path:lower()
  local score, named = 0, nil
  local whole, part = occurrences(name, word)
  score = score + (whole > 0 and 100 or part > 0 and 50 or 0)
  for _, entry in ipairs(document.parts or {}) do
    if is_called(entry, word) then
      score, named = score + 40, named or entry
    elseif entry.name:lower():find(word, 1, true) then
      score = score + 10
    end
  end
  whole, part = occurrences(document.summary:lower(), word)
  score = score + (whole > 0 and 20 or part > 0 and 8 or 0)
  whole, part = occurrences(document.text:lower(), word)
  score = score + 3 * math.min(whole, 5) + math.min(part, 5)
  -- options of functions directly in `mr`, such as mr.fit, are preferred
  if named and name:match "^mr%.%w+$" then score = score + 30 end
  return score, named
end

-- Returns the best score among the forms of a word. Stems and synonyms count less than the word itself.
local function best_score(document, forms)
  local best, named = 0, nil
  for i, form in ipairs(forms) do
    local score, option = score_of(document, form)
    score = i > 1 and score * 0.75 or score
    if score > best then best, named = score, option end
  end
  return best, named
end

-- Returns the documents that contain every word of `topic`, or with `any` one of them, with their scores. Several words
-- also match as one name: "batch size" matches batch_size.
local function matching(documents, topic, any)
  local hits, words, joined = {}, words_of(topic), nil
  for i, word in ipairs(words) do words[i] = forms_of(word) end
  if #words > 1 then joined = topic:lower():match "^%s*(.-)%s*$":gsub("%s+", "_") end
  for _, document in ipairs(documents) do
    local total, missing, option = 0, false, nil
    for _, forms in ipairs(words) do
      local score, named = best_score(document, forms)
      missing = missing or score == 0
      total, option = total + score, option or named
    end
    local score, named = 0, nil
    if joined then score, named = score_of(document, joined) end
    if score > 0 then total, missing, option = total + #words * score, false, named or option end
    if total > 0 and (any or not missing) then
      local summary = option and ("%s: %s"):format(option.name, option.text ~= "" and option.text or option.type)
        or document.summary
      hits[#hits + 1] = { path = document.path, summary = summary, score = total }
    end
  end
  return hits
end

---Returns a topic with blanks in place of dots, parentheses, underscores, hyphens and cutoffs. Of a method or
---field of a variable, such as loss.item(), it returns only the name after the dot. Single letters are left out if the
---topic has other words.
---Example: `require "moonrank.help.search".divided "x:sum()"   --> sum`
function M.divided(topic)
  local words, long = {}, {}
  topic = topic:match "^%s*[%w_]+[.:]([%w_]+)%s*[()]*%s*$" or topic
  for word in topic:gsub("@[%dk]*", " "):gsub("[()._@/-]", " "):gmatch "%S+" do
    words[#words + 1] = word
    if #word > 1 then long[#long + 1] = word end
  end
  return table.concat(#long > 0 and long or words, " ")
end

---Returns the documents that contain every word of a topic, the best first. If there are none, returns the documents
---that contain at least one of its words. Synonyms and stems of a word count, too, with a lower score.
---@param documents mr.help.Document[]
---@param topic string  words separated by blanks
---@return { path: string, summary: string, score: integer }[]
function M.find(documents, topic)
  local hits = matching(documents, topic:gsub("[()]", " "), false)
  -- If nothing was found, the parts of words such as "loss.item" are searched. A topic that begins with "mr." is not
  -- divided.
  if #hits == 0 and not topic:find "^mr%." then hits = matching(documents, M.divided(topic), false) end
  if #hits == 0 then hits = matching(documents, topic, true) end
  table.sort(hits, function(a, b)
    if a.score ~= b.score then return a.score > b.score end
    return a.path < b.path
  end)
  return hits
end

---Returns search hits as one text of several lines: at most 20 hits and, if there are more, a line
---with the number of the others.
function M.written(hits)
  local width, lines = 0, {}
  for i = 1, math.min(most, #hits) do width = math.max(width, #hits[i].path) end
  for i = 1, math.min(most, #hits) do
    lines[i] = ("  %s  %s"):format(hits[i].path .. (" "):rep(width - #hits[i].path), hits[i].summary):gsub("%s+$", "")
  end
  if #hits > most then lines[#lines + 1] = ("  ... (%d more)"):format(#hits - most) end
  return table.concat(lines, "\n")
end

return M
