-- Figure 5.4 of Westerborg (2022): which scores become rarer if the nRBP loss is bounded? Draws the distributions of
-- test nRBP after training with and without a bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").distributions("5_4", "nrbp")
