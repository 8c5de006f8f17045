-- Figure 5.2 of Westerborg (2022): which scores become rarer if the nDCG loss is bounded? Draws the distributions of
-- test nDCG after training with and without a bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").distributions("5_2", "ndcg")
