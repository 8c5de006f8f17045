-- Westerborg (2022), Figure 5.6: whom does bounding AP change? Every user's and query's score, bounded against
-- unbounded.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").instances("5_6", "ap")
