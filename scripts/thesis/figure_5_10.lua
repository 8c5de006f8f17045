-- Westerborg (2022), Figure 5.10: who gains when nRBP is bounded? The change of score against the number of relevant
-- items.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").gains("5_10", "nrbp")
