# Makes linear_models.json: linear models, their confidence intervals and estimated marginal means, by R and its package
# emmeans.
#
#     apt-get install r-base-core r-cran-emmeans && Rscript tests/golden/make_linear_models.R
#
# Run in the root of the repository. The designs are those of Li, Urbano & Hanjalic (SIGIR 2021): losses, data sets and
# negative sampling ratios, with three splits each. Each design is fitted with all rows and with a third of the rows
# missing.
suppressMessages(library(emmeans))
set.seed(20210711)

number <- function(x) ifelse(is.na(x), "null", sprintf("%.17g", x))
text <- function(x) paste0('"', x, '"')
list_of <- function(x) paste0("[", paste(if (is.numeric(x)) number(x) else text(x), collapse = ", "), "]")
object <- function(...) {
  parts <- list(...)
  paste0("{", paste0(text(names(parts)), ": ", unlist(parts), collapse = ",\n "), "}")
}

losses <- c("rr", "ap", "ndcg", "nrbp")
rows <- expand.grid(split = 1:3, nsr = c("1", "2", "5"), data = c("a", "b", "c"), loss = losses, stringsAsFactors = FALSE)
rows$epochs <- round(runif(nrow(rows), 100, 3000))
effect <- c(rr = -0.2, ap = 0, ndcg = 0.01, nrbp = 0.02)
rows$score <- 0.9 + effect[rows$loss] - 0.05 * match(rows$nsr, c("1", "2", "5")) * match(rows$data, c("a", "b", "c")) +
  0.03 * (rows$loss == "nrbp") * (rows$data == "b") + rnorm(nrow(rows), 0, 0.01)
missing <- sample(nrow(rows), nrow(rows) %/% 3)

# renames R's coefficients to Moonrank's form, such as "loss=ap:data=b"
renamed <- function(names) {
  names <- gsub("(^|:)(loss|data|nsr)", "\\1\\2=", names)
  sub("(Intercept)", "(mean)", names, fixed = TRUE)
}

means <- function(model, rows, specs) {
  grid <- emmeans(model, specs, data = rows)
  near <- as.data.frame(confint(grid))
  far <- as.data.frame(predict(grid, interval = "prediction"))
  stopifnot(all.equal(near$emmean, far$prediction, check.attributes = FALSE))
  level <- do.call(paste, c(lapply(specs, function(name) as.character(near[[name]])), sep = ", "))
  ninety <- as.data.frame(confint(grid, level = 0.9))
  object(level = list_of(level), mean = list_of(near$emmean), error = list_of(near$SE), low = list_of(near$lower.CL),
         high = list_of(near$upper.CL), prediction_low = list_of(far$lower.PL), prediction_high = list_of(far$upper.PL),
         low_90 = list_of(ninety$lower.CL))
}

contrasts_of <- function(model, rows, specs) {
  grid <- emmeans(model, specs, data = rows)
  found <- as.data.frame(pairs(grid, adjust = "none"))
  holm <- as.data.frame(pairs(grid, adjust = "holm"))
  object(difference = list_of(found$estimate), error = list_of(found$SE), t = list_of(found$t.ratio), p = list_of(found$p.value),
         adjusted = list_of(holm$p.value))
}

predictions <- function(model, new, level) {
  near <- predict(model, new, interval = "confidence", level = level, se.fit = TRUE)
  far <- predict(model, new, interval = "prediction", level = level)
  object(level = number(level), mean = list_of(near$fit[, "fit"]), error = list_of(near$se.fit), low = list_of(near$fit[, "lwr"]),
         high = list_of(near$fit[, "upr"]), prediction_low = list_of(far[, "lwr"]), prediction_high = list_of(far[, "upr"]))
}

new <- data.frame(loss = c("nrbp", "rr", "ap", "ndcg"), data = c("b", "a", "c", "b"), nsr = c("5", "1", "2", "2"),
                  epochs = c(10, 500, 1500, 9000), stringsAsFactors = FALSE)

case <- function(rows, formula) {
  # levels in order of appearance
  for (name in c("loss", "data", "nsr")) rows[[name]] <- factor(rows[[name]], levels = unique(rows[[name]]))
  rows$z <- ave(rows$score, rows$data, rows$nsr, FUN = function(x) as.vector(scale(x)))
  model <- lm(formula, rows)
  summed <- summary(model)
  object(loss = list_of(as.character(rows$loss)), data = list_of(as.character(rows$data)), nsr = list_of(as.character(rows$nsr)),
         epochs = list_of(rows$epochs), score = list_of(rows$score), z = list_of(rows$z),
         names = list_of(renamed(names(coef(model)))), coefficients = list_of(coef(model)), errors = list_of(summed$coefficients[, 2]),
         sigma = number(summed$sigma), df = number(model$df.residual), r2 = number(summed$r.squared),
         loss_means = means(model, rows, "loss"), cell_means = means(model, rows, c("loss", "data")),
         contrasts = contrasts_of(model, rows, "loss"), predictions = predictions(model, new, 0.95),
         predictions_80 = predictions(model, new, 0.8))
}

writeLines(object(
  about = text(paste0("Linear models of made-up scores by lm and predict of ", R.version.string, ", marginal means by emmeans ",
                      packageVersion("emmeans"), "; z is the score standardised within data and nsr by ave and scale. ",
                      "Made by make_linear_models.R.")),
  new = object(loss = list_of(new$loss), data = list_of(new$data), nsr = list_of(new$nsr), epochs = list_of(new$epochs)),
  balanced = case(rows, z ~ loss * data + loss * nsr),
  unbalanced = case(rows[-missing, ], z ~ loss * data + loss * nsr),
  all_pairs = case(rows[-missing, ], z ~ (loss + data + nsr)^2 + epochs),
  slopes = case(rows[-missing, ], score ~ loss * epochs + data + nsr)
), "tests/golden/linear_models.json")
