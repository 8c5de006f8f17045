-- Westerborg (2022), Figure 5.4: which scores become rarer when nRBP is bounded? Distributions of its score, bounded
-- against unbounded.
return dofile((arg[0]:match("^(.*/)") or "./") .. "figures_5.lua").distributions("5_4", "nrbp")
