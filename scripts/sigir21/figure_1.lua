-- Li, Urbano & Hanjalic (2021), Figure 1: how well do losses rank by each metric, LambdaRank and listwise, at each NSR?
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures.lua").levels("1")
