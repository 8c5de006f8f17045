-- Figure 5.10 of Westerborg (2022): which lists gain if the nRBP loss is bounded? Draws how training under a bound
-- changes the test nRBP of each user or query, against their number of relevant items.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").gains("5_10", "nrbp")
