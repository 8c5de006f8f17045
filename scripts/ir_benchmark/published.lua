-- Numbers of Yang et al. (2025) for matrix factorisation: hyperparameters (Tables 11 to 14), which have the names of
-- options in this library, and Recall@20 and NDCG@20 on test (Table 2).
return {
  health = {
    title = "Amazon Health", folder = "amazon2014-health",
    BPR = { rate = 0.001, decay = 1e-4, printed = { 0.1627, 0.1234 } },
    LLPAUC = { rate = 0.1, alpha = 0.7, beta = 0.01, printed = { 0.1644, 0.1209 } },
    SL = { rate = 0.1, tau = 0.2, printed = { 0.1719, 0.1261 } },
    BSL = { rate = 0.1, tau1 = 0.2, tau2 = 0.2, printed = { 0.1719, 0.1261 } },
    PSL = { rate = 0.1, tau_star = 0.1, printed = { 0.1718, 0.1268 } },
    ["SL@20"] = { rate = 0.1, tau = 0.2, tau_beta = 2.5, every = 5, printed = { 0.1823, 0.1390 } },
  },
  electronic = {
    title = "Amazon Electronic", folder = "amazon2014-electronic",
    BPR = { rate = 0.001, decay = 1e-5, printed = { 0.0816, 0.0527 } },
    LLPAUC = { rate = 0.1, alpha = 0.5, beta = 0.01, printed = { 0.0821, 0.0499 } },
    SL = { rate = 0.01, tau = 0.2, printed = { 0.0821, 0.0529 } },
    BSL = { rate = 0.1, tau1 = 0.5, tau2 = 0.2, printed = { 0.0834, 0.0530 } },
    PSL = { rate = 0.01, tau_star = 0.1, printed = { 0.0838, 0.0541 } },
    ["SL@20"] = { rate = 0.01, tau = 0.2, tau_beta = 2.25, every = 20, printed = { 0.0901, 0.0590 } },
  },
  gowalla = {
    title = "Gowalla", folder = "gowalla",
    BPR = { rate = 0.001, decay = 1e-6, printed = { 0.1355, 0.1111 } },
    LLPAUC = { rate = 0.1, alpha = 0.7, beta = 0.01, printed = { 0.1610, 0.1189 } },
    SL = { rate = 0.1, tau = 0.1, printed = { 0.2064, 0.1624 } },
    BSL = { rate = 0.1, tau1 = 0.2, tau2 = 0.1, printed = { 0.2071, 0.1630 } },
    PSL = { rate = 0.1, tau_star = 0.05, printed = { 0.2089, 0.1647 } },
    ["SL@20"] = { rate = 0.01, tau = 0.1, tau_beta = 1, every = 20, printed = { 0.2121, 0.1709 } },
  },
  book = {
    title = "Amazon Book", folder = "amazon2014-book",
    BPR = { rate = 0.0001, decay = 0, printed = { 0.0665, 0.0453 } },
    LLPAUC = { rate = 0.1, alpha = 0.7, beta = 0.01, printed = { 0.1150, 0.0811 } },
    SL = { rate = 0.1, tau = 0.05, printed = { 0.1559, 0.1210 } },
    BSL = { rate = 0.1, tau1 = 0.5, tau2 = 0.05, printed = { 0.1563, 0.1212 } },
    PSL = { rate = 0.1, tau_star = 0.025, printed = { 0.1569, 0.1227 } },
    ["SL@20"] = { rate = 0.01, tau = 0.05, tau_beta = 0.5, every = 20, printed = { 0.1612, 0.1269 } },
  },
}
