-- Figure 5.6 of Westerborg (2022): whose scores change if the AP loss is bounded? Draws every user's and query's test
-- AP after training with a bound against that without a bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").instances("5_6", "ap")
