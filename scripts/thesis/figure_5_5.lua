-- Westerborg (2022), Figure 5.5: whom does bounding nDCG change? Every user's and query's score, bounded against
-- unbounded.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").instances("5_5", "ndcg")
