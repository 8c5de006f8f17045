-- Figure 5.9 of Westerborg (2022): which lists gain if the AP loss is bounded? Draws how training under a bound
-- changes the test AP of each user or query, against their number of relevant items.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").gains("5_9", "ap")
