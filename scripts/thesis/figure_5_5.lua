-- Figure 5.5 of Westerborg (2022): whose scores change if the nDCG loss is bounded? Draws every user's and query's test
-- nDCG after training with a bound against that without a bound.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").instances("5_5", "ndcg")
