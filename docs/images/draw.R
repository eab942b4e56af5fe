# SPDX-License-Identifier: BSD-3-Clause
# Draws the figure of README.md from the reference dataset, once for light and once for dark pages,
# and writes its numbers to pingpong.csv:
#   R_LIBS=.stack/R Rscript docs/images/draw.R
library(cotejo)
library(data.table)
library(ggplot2)

# A quick study of three MPI libraries on two cores of an AMD EPYC.
SESSION <- "data/reference/local/20261121T200219Z.tar.xz"
FOLDER <- Sys.getenv("COTEJO_IMAGES", "docs/images")
NAMES <- c(mpich = "MPICH", "intel-mpi" = "Intel MPI")
TRANSPORTS <- c(shm = "Shared memory", tcp = "TCP over loopback")

study_of <- function(archive) {
  folder <- tempfile("cotejo-images-")
  site <- file.path(folder, "local")
  dir.create(site, recursive = TRUE)
  utils::untar(archive, exdir = site)
  read_study(folder)
}

draw <- function(table, ink, paper, grid, colours) {
  text <- element_text(colour = ink)
  ggplot(table, aes(bytes, ratio, colour = library, shape = library)) +
    geom_hline(yintercept = 1, colour = ink, linewidth = 0.4) +
    geom_linerange(
      aes(ymin = low, ymax = high),
      position = position_dodge(width = 0.3), linewidth = 0.6
    ) +
    geom_point(position = position_dodge(width = 0.3), size = 2) +
    facet_wrap(~panel) +
    scale_x_continuous(
      "message size",
      trans = "log2", breaks = 2^c(0, 6, 12, 18, 22),
      labels = c("1 B", "64 B", "4 KiB", "256 KiB", "4 MiB")
    ) +
    scale_y_continuous(
      "time / time of Open MPI",
      trans = "log2", breaks = 2^(-3:4), labels = c("1/8", "1/4", "1/2", 1, 2, 4, 8, 16)
    ) +
    coord_cartesian(ylim = c(1 / 8, 16)) +
    scale_colour_manual(NULL, values = colours) +
    scale_shape_manual(NULL, values = c(17, 15)) +
    labs(
      title = "Ping-pong: time compared with Open MPI (below 1: faster than Open MPI)",
      caption = paste0(
        "Two cores of an AMD EPYC, ", max(table$n_a), " launches of each library. ",
        "Bars: 95 % intervals over launches; some extend beyond the figure."
      )
    ) +
    theme_cotejo(10) +
    theme(
      text = text, axis.text = text, strip.text = text, plot.title = text, plot.caption = text,
      legend.text = text, axis.title = text,
      plot.background = element_rect(fill = paper, colour = NA),
      panel.background = element_rect(fill = paper), legend.background = element_blank(),
      legend.key = element_blank(), panel.grid.major = element_line(colour = grid)
    )
}

summary <- summarise_launches(study_of(SESSION))
compared <- compare_configurations(summary[summary$test == "pingpong_quick"])
table <- compared[compared$b == "openmpi"]
table[, `:=`(
  library = factor(NAMES[a], NAMES), panel = factor(TRANSPORTS[transport], TRANSPORTS)
)]
fwrite(
  table[, c("library", "transport", "bytes", "ratio", "low", "high", "n_a")],
  file.path(FOLDER, "pingpong.csv")
)
for (look in c("light", "dark")) {
  light <- look == "light"
  plot <- draw(
    table,
    ink = if (light) "grey15" else "grey88", paper = if (light) "white" else "#0d1117",
    grid = if (light) "grey91" else "grey25",
    colours = if (light) c("#D55E00", "#0072B2") else c("#E69F00", "#56B4E9")
  )
  ggsave(
    file.path(FOLDER, sprintf("pingpong-%s.svg", look)), plot,
    device = svglite::svglite, width = 7.6, height = 3.4, fix_text_size = FALSE
  )
}
