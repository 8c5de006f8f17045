-- Makes or resumes the study whose pages serve.py tests: study.lua STORE TRIALS
local mr = require "moonrank"

mr.sweep{ name = "study", store = arg[1], workers = 0, progress = false, metric = "ndcg@10", direction = "maximize",
  sampler = "random", trials = tonumber(arg[2]), force = true,
  space = { loss = mr.choice{ "ndcg", "ap", "<script>alert(1)</script>" }, lr = mr.loguniform(0.005, 0.5),
    layers = mr.range(1, 4) },
  run = function(trial)
    local best, value = trial.loss == "ap" and 0.38 or 0.42, 0
    for step = 1, 25 do
      value = best * step / (step + 0.5 / trial.lr) + 0.01 * ((trial.number * step) % 3)
      trial:report(step, { ["ndcg@10"] = value, loss = 1 - value })
    end
    if trial.number % 13 == 7 then error "the loss is <b>NaN</b>" end
    return { ["ndcg@10"] = value, ap = 0.8 * value }
  end }
