-- Figure 5.8 of Westerborg (2022): which lists gain if the nDCG loss is bounded? Draws the change of each user's or
-- query's score against their number of relevant items.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").gains("5_8", "ndcg")
