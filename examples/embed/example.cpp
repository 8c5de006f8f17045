// Fits scores of two queries to their grades by gradient descent on smooth nDCG under a bound, and prints exact nDCG.
#include <cstdio>
#include <moonrank.h>
#include <vector>

int main() {
  const std::vector<float> grades{2, 0, 1, 0, /* next query */ 0, 1, 0};
  const std::vector<int64_t> sizes{4, 3};
  const moonrank_lists lists{grades.data(), sizes.data(), 7, 2};
  std::vector<double> scores(7), gradient(7);

  moonrank_state* const state = moonrank_open();
  if (state == nullptr) {
    std::fprintf(stderr, "%s\n", moonrank_error(nullptr));
    return 1;
  }
  int status = MOONRANK_OK;
  for (int step = 0; step <= 20 && status == MOONRANK_OK; ++step) {
    double loss = 0, ndcg = 0;
    status = moonrank_loss(state, "ndcg:expectation", scores.data(), MOONRANK_FLOAT64, &lists, &loss, gradient.data());
    if (status != MOONRANK_OK) break;
    status = moonrank_evaluate(state, "ndcg", scores.data(), MOONRANK_FLOAT64, &lists, &ndcg, nullptr);
    if (step % 10 == 0) std::printf("step %2d: loss %7.4f, nDCG %.4f\n", step, loss, ndcg);
    for (size_t i = 0; i < scores.size(); ++i) scores[i] -= gradient[i];
  }
  if (status != MOONRANK_OK) std::fprintf(stderr, "%s\n", moonrank_error(state));
  moonrank_close(state);
  return status;
}
