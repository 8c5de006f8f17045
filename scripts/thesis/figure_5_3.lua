-- Westerborg (2022), Figure 5.3: which scores become rarer when AP is bounded? Distributions of its score, bounded
-- against unbounded.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").distributions("5_3", "ap")
