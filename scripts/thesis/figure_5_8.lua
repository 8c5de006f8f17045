-- Figure 5.8 of Westerborg (2022): which lists gain if the nDCG loss is bounded? Draws how training under a bound
-- changes the test nDCG of each user or query, against their number of relevant items.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").gains("5_8", "ndcg")
