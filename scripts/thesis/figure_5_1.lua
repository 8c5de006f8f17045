-- Westerborg (2022), Figure 5.1: do bounded losses rank better near the top? nDCG@k against k, by loss and data set, a
-- line per bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").curves("5_1")
