-- Figure 5.1 of Westerborg (2022): do bounded losses rank better near the top? Draws nDCG@k against k for each loss and
-- data set, with a line per bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").curves("5_1")
