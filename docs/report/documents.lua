-- The documents (papers, a thesis, a lecture) whose experiments are reproduced here, and the grid of all losses
-- under all bounds, in the order of reports.
local M = {}

M.names = { "thesis", "sigir21", "objectives", "lecture", "cmu", "ir_benchmark", "grid" }

-- Authors (short form) and title of each document (paper, thesis or lecture), by its short name.
M.written = {
  thesis = { "Westerborg (2022)", "User/query-wise metric bounding in learning to rank" },
  sigir21 = { "Li, Urbano & Hanjalic (2021)",
    "New insights into metric optimization for ranking-based recommendation" },
  objectives = { "Tang, Lupău & Bonfanti (2023)",
    "Neural learning-to-rank models: a comparison between objective functions" },
  lecture = { "Seguí (2022)", "Learning to rank, a lecture" },
  cmu = { "Li & Wu", "Application of neural networks in ranking" },
  ir_benchmark = { "Yang et al. (2025)",
    "Breaking the Top-K barrier: advancing Top-K ranking metrics optimization in recommender systems" },
  grid = { "The grid", "every loss under every bound" },
}

---Returns the authors and title of a document as headings show them: "Seguí (2022), Learning to rank, a
---lecture".
---@param name string  short name, such as "sigir21"
---@return string
function M.title_of(name) return table.concat(M.written[name], ", ") end

return M
