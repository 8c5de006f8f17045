-- How do I get trec_eval's numbers for a run file?
-- Read the run file and the judgments, then call `run:evaluate`. It follows trec_eval: documents without a judgment
-- are not relevant, and documents with equal scores are ordered by name. In a shell, `moonrank eval my.qrels my.run -m
-- map ndcg recip_rank` prints these numbers.
local mr = require "moonrank"
local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end
write("my.qrels", "q1 0 a 1\nq1 0 b 0\nq1 0 c 1\nq2 0 a 0\nq2 0 d 1\n")
write("my.run", "q1 Q0 a 1 9.0 me\nq1 Q0 b 2 8.0 me\nq1 Q0 c 3 7.5 me\nq2 Q0 a 1 3.0 me\nq2 Q0 d 2 2.0 me\n")
local run, qrels = mr.data.trec_run "my.run", mr.data.trec_qrels "my.qrels"
local found = run:evaluate(qrels, { "map", "ndcg", "recip_rank" })
print(found)
--> metric        mean  lists  skipped
--> ----------  ------  -----  -------
--> ap          0.6667      2        0
--> ndcg        0.7753      2        0
--> recip_rank  0.7500      2        0
--> gain linear; ties trec; empty lists zero; cutoff none; relevant 1; denominator relevant
