-- Westerborg (2022), Figure 5.8: who gains when nDCG is bounded? The change of score against the number of relevant
-- items.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").gains("5_8", "ndcg")
