-- Figure 5.3 of Westerborg (2022): which scores become rarer if the AP loss is bounded? Draws the distributions of test
-- AP after training with and without a bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").distributions("5_3", "ap")
