# SPDX-License-Identifier: BSD-3-Clause
# Figures of the bench of answers. Verdicts come from the functions that write every report:
# read_study(), compare_configurations(), fastest_of() and series_changes().
#
# Rscript bench/answers.R FIGURES CHECKOUT prints one JSON object per figure and cell: `figure`,
# `cell`, `value` (and `low`, `high`: 95 % interval). FIGURES is `data`, `proof`, `simulated`,
# `alternatives`: other priors of the variance than the chosen one, or `causes`: experiments that
# show the causes of missed criteria.

suppressPackageStartupMessages({
  library(cotejo)
  library(data.table)
})
words <- commandArgs(TRUE)
root <- words[[2L]]
stated <- yaml::read_yaml(file.path(root, "bench/answers.yaml"))
count <- stated$studies
SIZES <- stated$sizes

say <- function(figure, value, cell = "", low = NULL, high = NULL) {
  out <- list(figure = figure, cell = cell, value = value, low = low, high = high)
  cat(jsonlite::toJSON(Filter(length, out), auto_unbox = TRUE, digits = 6), "\n", sep = "")
}

# A share in percent with its interval.
say_share <- function(figure, share, cell = "") {
  do.call(say, c(
    list(figure, 100 * share[[1L]], cell), list(low = 100 * share[[2L]], high = 100 * share[[3L]])
  ))
}
share_of <- cotejo:::share_of
of_clusters <- cotejo:::share_of_clusters

# The dataset.

of_reference <- function() {
  study <- cotejo:::compare_results(file.path(root, "data/reference"))
  cards <- cotejo:::answer(study$comparison)
  file <- tempfile()
  cotejo:::write_answers(cards, file)
  comparison <- study$comparison
  tested <- comparison[verdict != "not tested"]
  within <- tested$verdict == "within" & tested$at_most <= 0.1
  say("settled", 100 * mean(within | tested$verdict %in% c("faster", "slower")), "")
  # Groups of a stratum and size in which all pairs were tested.
  tiers <- tiers_of(comparison)
  strata <- setdiff(names(tiers), c("configuration", "tier"))
  groups <- tiers[, list(first = sum(tier %in% 1L), tested = !anyNA(tier)), by = strata]
  say("winner", 100 * mean(groups[groups$tested]$first == 1L), "")
}

launches_of_proof <- function() {
  summary <- summarise_launches(read_study(file.path(root, "data/proof")))
  summary[status == "ok" & !is.na(parameter_alias)]
}

of_proof <- function() {
  summary <- launches_of_proof()
  names <- cotejo:::planted_names(unique(summary, by = "key"))
  criteria <- cotejo:::proof_criteria()
  families <- rbindlist(lapply(criteria$false_alarms$designs, function(n) {
    found <- cotejo:::compare_sets(summary, names, n, cotejo:::equal_pairs)
    cotejo:::alarms_of(found)
  }), fill = TRUE)
  for (part in split(families, families$design)) {
    cell <- paste(part$design[[1L]], "blocks")
    say("real_families", nrow(part), cell)
    rate <- of_clusters(part$alarm, part$cluster)
    say("real_errors", 100 * rate[[3L]], sprintf(
      "%s, %.1f %% in %d clusters", cell, 100 * rate[[1L]], uniqueN(part$cluster)
    ))
  }
  within <- criteria$power_within
  trials <- cotejo:::planted_trials(
    summary[hosts == 1L], names, format(within$share), within$launches
  )
  trials <- trials[bytes >= within$bytes]
  quiet <- trials[variation <= within$variation]
  for (part in list(trials, quiet)) {
    cell <- sprintf("block spread up to %.0f %%", 100 * max(part$variation))
    say_share("real_power", of_clusters(part$verdict_of_slow == "slower", part$cluster), cell)
  }
}

# Experiments on the launches of the proof that change one property and nothing else.
causes <- function() {
  summary <- launches_of_proof()
  names <- cotejo:::planted_names(unique(summary, by = "key"))
  criteria <- cotejo:::proof_criteria()
  # Blocks in another order: five blocks of a set no longer follow each other.
  for (order in c("as measured", paste("shuffled", 1:3))) {
    rows <- copy(summary)
    if (order != "as measured") {
      set.seed(as.integer(sub("shuffled ", "", order)))
      rows[, launch := sample(unique(launch))[match(launch, unique(launch))],
        by = c("site", "session", "test")
      ]
    }
    found <- cotejo:::alarms_of(cotejo:::compare_sets(rows, names, 5L, cotejo:::equal_pairs))
    say_share("errors_5", of_clusters(found$alarm, found$cluster), order)
  }
  # Times of launches without a slowdown, multiplied by 1.1; their spread is scaled.
  within <- criteria$power_within
  plant <- format(within$share)
  host <- summary[hosts == 1L & bytes >= within$bytes]
  for (part in c(1, 1 / 2, 1 / 4)) {
    prepare <- function(rows) {
      rows <- copy(rows)[,
        median_s := exp(mean(log(median_s)) + part * (log(median_s) - mean(log(median_s)))),
        by = c("mpi", "operation", "bytes")
      ]
      cotejo:::plant_in_numbers(plant)(rows)
    }
    found <- cotejo:::compare_sets(host, names, within$launches, cotejo:::equal_pairs, prepare)
    # The first name of each pair has the slowdown.
    say_share("added_power", of_clusters(found$verdict == "slower", found$cluster), sprintf(
      "spread x %g, median %.0f %% of %d", part,
      100 * stats::median(found$error * sqrt(pmin(found$n_a, found$n_b))), nrow(found)
    ))
  }
}

# Simulated studies. The data of a library are an array of log times: launches, sizes, studies.
# Half of the variance of a launch is common to its sizes.

together <- function(draw, n, studies, spread) {
  common <- array(draw(n * studies), c(n, studies))
  own <- array(draw(n * SIZES * studies), c(n, SIZES, studies))
  each <- aperm(array(common, c(n, studies, SIZES)), c(1L, 3L, 2L))
  spread * (each + own) / sqrt(2)
}

# A value per launch, the same at all sizes.
whole <- function(values, studies) {
  n <- length(values) / studies
  aperm(array(values, c(n, studies, SIZES)), c(1L, 3L, 2L))
}

serial <- function(n, studies) {
  of <- function(columns) {
    apply(matrix(rnorm((n + 20L) * columns), ncol = columns), 2L, function(noise) {
      tail(as.numeric(stats::filter(noise, 0.3, "recursive")), n)
    }) * sqrt(1 - 0.3^2)
  }
  both <- whole(of(studies), studies) + array(of(SIZES * studies), c(n, SIZES, studies))
  0.05 * both / sqrt(2)
}

LAWS <- list(
  normal = function(n, studies) together(rnorm, n, studies, 0.05),
  `t, 2 df` = function(n, studies) together(\(k) rt(k, 2), n, studies, 0.03),
  `two modes` = function(n, studies) {
    together(rnorm, n, studies, 0.02) + whole(log(1.4) * (runif(n * studies) < 0.3), studies)
  },
  outliers = function(n, studies) {
    together(rnorm, n, studies, 0.05) + whole(log(3) * (runif(n * studies) < 0.1), studies)
  },
  ties = function(n, studies) together(rnorm, n, studies, 0.05),
  `AR(1) 0.3` = serial
)
# Times of 300 ns by a timer of 10 ns.
STEP <- 1 / 30

# Launches of two libraries as a summary: each study is a question of its own.
#
# a, b: log times; blocks: numbers of the launches of b, those of a are 1, 2, ...
summary_of <- function(a, b, blocks = seq_len(dim(b)[[1L]]), step = 0) {
  rows <- function(x, mpi, launches) {
    at <- arrayInd(seq_along(x), dim(x))
    time <- exp(as.vector(x))
    if (step > 0) time <- round(time / step) * step
    data.table(
      mpi = mpi, operation = paste0("operation", at[, 3L]), bytes = 2^at[, 2L],
      launch = launches[at[, 1L]], median_s = 3e-7 * time
    )
  }
  out <- rbind(rows(a, "a", seq_len(dim(a)[[1L]])), rows(b, "b", blocks))
  out[, c(
    "site", "simulated", "scale", "experiment", "test", "transport", "placement", "hosts", "ranks",
    "settings", "parameters", "observed_hosts", "session"
  ) := list(
    "local", "", "quick", "simulated", "simulated", "shm", "near", 1L, 2L, "", "", "h|h", "s"
  )]
  # Properties that must be the same for both libraries.
  out[, c(
    "reported_transport", "observed_cpus", "observed_cores", "cpu_model", "kernel", "governor",
    "measuring", "lock_sha256", "library"
  ) := "simulated"]
  out[, key := paste(mpi, operation, launch)]
  out[]
}

compared <- function(summary, forecast = FALSE) {
  found <- compare_configurations(summary, forecast = forecast)
  found[, study := as.integer(sub("operation", "", operation))]
  found[]
}

# Designs: function of the number of studies and the log ratios of the sizes -> summary.
shifted <- function(x, truth) x + rep(rep(truth, each = dim(x)[[1L]]), dim(x)[[3L]])

paired <- function(law, n) {
  force(law)
  force(n)
  function(studies, truth) {
    draw <- LAWS[[law]]
    summary_of(
      shifted(draw(n, studies), truth), draw(n, studies), step = if (law == "ties") STEP else 0
    )
  }
}

unpaired <- function(n_a, n_b, spread_a, spread_b) {
  function(studies, truth) {
    summary_of(
      shifted(together(rnorm, n_a, studies, 0.02 * spread_a), truth),
      together(rnorm, n_b, studies, 0.02 * spread_b), n_a + seq_len(n_b)
    )
  }
}

cells_of_design <- function() {
  out <- list()
  for (law in names(LAWS)) {
    for (n in c(5L, 6L, 10L)) out[[sprintf("%s, %d blocks", law, n)]] <- paired(law, n)
  }
  c(out, list(
    `spreads 1:6, 10 and 10 launches` = unpaired(10L, 10L, 1, 6),
    `20 and 5 launches` = unpaired(20L, 5L, 1, 1),
    `spreads 1:6, 20 and 5 launches` = unpaired(20L, 5L, 1, 6),
    `spreads 6:1, 20 and 5 launches` = unpaired(20L, 5L, 6, 1)
  ))
}

errors_and_coverage <- function() {
  cells <- cells_of_design()
  truth <- seq(-0.2, 0.2, length.out = SIZES)
  for (cell in names(cells)) {
    none <- compared(cells[[cell]](count$families, numeric(SIZES)))
    called <- none[, any(verdict %in% c("faster", "slower")), by = "study"]$V1
    say_share("family_error", share_of(sum(called), length(called)), cell)
    some <- compared(cells[[cell]](count$coverage, truth))
    own <- truth[log2(some$bytes)]
    held <- log(some$low) <= own & own <= log(some$high)
    rate <- of_clusters(held, some$study)
    level <- mean(some$confidence)
    say("coverage", 100 * abs(rate[[1L]] - level), cell)
  }
}

# Families without a difference whose studies go on, block by block, while they are not settled.
# Serial dependence is left out: no test takes it into account, and a card warns of it.
budget <- function() {
  for (law in setdiff(names(LAWS), "AR(1) 0.3")) {
    sides <- lapply(1:2, \(side) LAWS[[law]](BUDGET[[2L]], count$families))
    n <- rep(BUDGET[[1L]], count$families)
    for (block in seq(BUDGET[[1L]], BUDGET[[2L]] - 1L)) {
      on <- which(n == block)
      if (!length(on)) break
      rows <- seq_len(block)
      curves <- lapply(on, \(k) sides[[1L]][rows, , k] - sides[[2L]][rows, , k])
      found <- cotejo:::open_at_look(curves, seq_along(on))
      n[on] <- block + found[, any(open), by = "curve"]$V1
    }
    all <- summary_of(sides[[1L]], sides[[2L]], step = if (law == "ties") STEP else 0)
    all <- all[launch <= n[as.integer(sub("operation", "", operation))]]
    called <- compared(all)[, any(verdict %in% c("faster", "slower")), by = "study"]$V1
    say_share("budget_error", share_of(sum(called), length(called)), sprintf(
      "%s, %.1f blocks on average", law, mean(n)
    ))
  }
}
BUDGET <- c(10L, 30L)

# Two libraries whose log ratios per block have a standard deviation of 7 %.
sides_of <- function(n, studies, effect) {
  side <- function() together(rnorm, n, studies, 0.07 / sqrt(2))
  list(side() + log1p(effect), side())
}

power <- function() {
  for (n in c(6L, 8L, 10L)) {
    sides <- sides_of(n, count$power, 0.1)
    found <- compared(summary_of(sides[[1L]], sides[[2L]]))
    rate <- of_clusters(found$verdict == "slower", found$study)
    say_share(paste0("power_", n), rate)
  }
}

SETTLED <- c("faster", "slower", "within")

# The smallest size of studies that is not settled with six blocks. The studies are continued with
# the forecast number of launches, and with each number of launches.
forecasts <- function(effect) {
  sides <- sides_of(MOST, count$forecast, effect)
  all <- summary_of(sides[[1L]], sides[[2L]])
  all[, study := as.integer(sub("operation", "", operation))]
  settled_at <- function(n) {
    found <- compared(all[study %in% first$study & launch <= n[study], !"study"])
    found[bytes == 2][first, on = "study"]$verdict %in% SETTLED
  }
  first <- compared(all[launch <= 6, !"study"], forecast = TRUE)
  first <- first[bytes == 2 & verdict == "not settled"]
  total <- pmin(6 + first$more_launches, MOST)
  n <- integer(count$forecast)
  n[first$study] <- total
  settled <- settled_at(n)
  cell <- sprintf("+%g %%", 100 * effect)
  say_share("forecast_settled", share_of(sum(settled), length(settled)), cell)
  tried <- c(7:20, seq(22L, 40L, 2L), seq(45L, MOST, 5L))
  enough <- Position(\(n) mean(settled_at(rep(n, count$forecast))) >= 0.8, tried)
  say("forecast_size", median(total) / tried[[enough]], cell)
}
SETTLED <- c("faster", "slower", "within")
MOST <- 206L

STEPLESS <- list(
  `AR(1) 0.5` = function(n) as.numeric(arima.sim(list(ar = 0.5), n, sd = 0.012)),
  `AR(1) 0.8` = function(n) as.numeric(arima.sim(list(ar = 0.8), n, sd = 0.012)),
  ramp = function(n) seq(0, log(1.1), length.out = n) + rnorm(n, 0, 0.01),
  walk = function(n) cumsum(rnorm(n, 0, 0.01))
)

# Series of 20 sessions, each as one of the 200 series of a history.
change_points <- function() {
  for (law in names(STEPLESS)) {
    series <- lapply(seq_len(count$series), \(i) STEPLESS[[law]](20L))
    dated <- parallel::mclapply(series, function(x) {
      nrow(series_changes(x, prior = 0.5 / (200 * 19))) > 0L
    }, mc.cores = 2L, mc.set.seed = FALSE)
    say_share("stepless", share_of(sum(unlist(dated)), length(dated)), law)
  }
}

# Priors of the variance: functions like moderate(). Those of limma are fitted to each question.
of_limma <- function(...) {
  function(spread, df, apart, curve) {
    for (here in split(seq_along(spread), curve)) {
      held <- limma::squeezeVar(spread[here], df[here], ...)
      spread[here] <- held$var.post
      df[here] <- df[here] + held$df.prior
    }
    list(spread = spread, df = df)
  }
}
ALTERNATIVES <- list(
  chosen = cotejo:::moderate,
  none = function(spread, df, apart, curve) list(spread = spread, df = df),
  `limma per question` = of_limma(),
  `limma, trend over sizes` = of_limma(covariate = seq_len(SIZES)),
  `limma over all questions` = function(spread, df, apart, curve) {
    held <- limma::squeezeVar(spread, df)
    list(spread = held$var.post, df = df + held$df.prior)
  }
)

# Family errors and power of each prior, for paired blocks.
alternatives <- function(n = 6L) {
  for (prior in names(ALTERNATIVES)) {
    tested <- function(a, b) {
      x <- matrix(a - b, n)
      found <- cotejo:::trimmed_moments(x)
      study <- rep(seq_len(ncol(x) / SIZES), each = SIZES)
      held <- ALTERNATIVES[[prior]](found$spread, found$kept - 1, found$apart, study)
      tests <- cotejo:::tests_from(found$effect, found$n, held$spread / found$kept, held$df)
      data.table(study, effect = found$effect, q = cotejo:::within_questions(tests, study)$q)
    }
    for (law in c("normal", "t, 2 df", "two modes", "outliers")) {
      set.seed(1L)
      draw <- \() LAWS[[law]](n, count$families)
      called <- tested(draw(), draw())[, any(q <= 0.05), by = "study"]$V1
      rate <- share_of(sum(called), length(called))
      say_share("family_error", rate, paste(prior, law, sep = ": "))
    }
    set.seed(1L)
    sides <- sides_of(n, count$power, 0.1)
    found <- tested(sides[[1L]], sides[[2L]])
    say_share("power_6", of_clusters(found$q <= 0.05 & found$effect > 0, found$study), prior)
  }
}

if (words[[1L]] == "alternatives") {
  alternatives()
} else if (words[[1L]] == "causes") {
  causes()
} else if (words[[1L]] == "data") {
  of_reference()
} else if (words[[1L]] == "proof") {
  of_proof()
} else {
  # One seed for each part, so that parts can be repeated alone.
  options(cotejo.cache = FALSE)
  for (part in list(
    errors_and_coverage, budget, power, \() forecasts(0.04), \() forecasts(0.07), change_points
  )) {
    set.seed(1L)
    part()
  }
}
