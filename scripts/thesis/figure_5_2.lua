-- Westerborg (2022), Figure 5.2: which scores become rarer when nDCG is bounded? Distributions of its score, bounded
-- against unbounded.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").distributions("5_2", "ndcg")
