# SPDX-License-Identifier: BSD-3-Clause
# A plot -> its axes, and what each layer has in each panel.
#
# ggplot2::ggplot_build() asks the scales of each panel for each column of each layer, and twice:
# 70 ms a figure, and a report has hundreds. Here the same scales, facets, positions and geometries
# of ggplot2 are asked, but once for all rows of a panel, and none for what nobody draws.

#' Build a plot as [ggplot2::ggplot_build()] does, of layers that show their data as they are.
#'
#' @param plot a ggplot.
#' @return list: `data` (the columns of each layer, `PANEL` the number of its panel), `layout`
#'   (`layout`, a row a panel, `facet`, `coord`, and `panel_params`: the axes of each panel, as
#'   [axis_of_scale()] has them), and `plot`, whose scales are trained.
#' @noRd
built_of <- function(plot) {
  layers <- plot$layers
  layout <- panels_of_facet(plot)
  data <- lapply(layers, columns_of_layer, plot, layout)
  scales <- scales_of(plot, data)
  axes <- list(
    x = panel_scales(scales$x, layout$SCALE_X), y = panel_scales(scales$y, layout$SCALE_Y)
  )
  for (axis in axes) data <- lapply(data, transform_columns, axis)
  data <- place_on_axes(data, axes)
  data <- Map(set_positions, layers, data)
  for (axis in axes) for (scale in axis$scales) scale$reset()
  data <- place_on_axes(data, axes)
  looks <- scales[setdiff(names(scales), names(axes))]
  data <- Map(add_defaults, layers, look_of_data(data, looks))
  known <- lapply(axes, function(axis) lapply(axis$scales, axis_of_scale))
  list(
    data = data,
    layout = list(
      layout = layout, facet = plot$facet, coord = plot$coordinates,
      panel_params = lapply(seq_len(nrow(layout)), function(i) {
        list(x = known$x[[layout$SCALE_X[[i]]]], y = known$y[[layout$SCALE_Y[[i]]]])
      })
    ),
    plot = list(labels = plot$labels, layers = layers, mapping = plot$mapping, scales = scales)
  )
}

# The data of a layer: its own, or those of the plot.
data_of_layer <- function(layer, plot) {
  if (is.data.frame(layer$data)) layer$data else plot$data
}

#' The panels of a plot, as its facets lay them out: a row each.
#' @noRd
panels_of_facet <- function(plot) {
  facet <- plot$facet
  tables <- c(list(plot$data), lapply(plot$layers, data_of_layer, plot))
  params <- facet$setup_params(tables, facet$params)
  params$plot_env <- plot$plot_env
  layout <- facet$compute_layout(tables, params)
  layout$PANEL <- as.integer(layout$PANEL)
  layout
}

#' What a layer maps, evaluated in its data, with `PANEL` and `group`. Rows without a value of a
#' facet are in all panels of it.
#' @noRd
columns_of_layer <- function(layer, plot, layout) {
  if (!inherits(layer$stat, "StatIdentity")) {
    refuse(sprintf(
      "figures have no marks for %s: they draw what they are given, and no statistic of it",
      class(layer$geom)[[1L]]
    ))
  }
  data <- data_of_layer(layer, plot)
  mapping <- mapping_of(layer, plot)
  mapping <- mapping[setdiff(names(mapping), names(layer$aes_params))]
  n <- nrow(data)
  columns <- lapply(mapping, function(value) {
    rep_len(unname(rlang::eval_tidy(value, data)), n)
  })
  facets <- intersect(setdiff(names(layout), LAYOUT_COLUMNS), names(data))
  rows <- if (length(facets)) {
    key <- function(table) do.call(paste, c(lapply(facets, \(name) table[[name]]), sep = "\r"))
    split(seq_len(n), factor(key(data), unique(key(layout))))[key(layout)]
  } else {
    rep(list(seq_len(n)), nrow(layout))
  }
  at <- unlist(rows, use.names = FALSE)
  columns$PANEL <- rep.int(layout$PANEL, lengths(rows))
  # In the order of the data, on which what is drawn above what depends.
  order <- order(at, method = "radix")
  columns[names(mapping)] <- lapply(columns[names(mapping)], `[`, at[order])
  columns$PANEL <- columns$PANEL[order]
  columns$group <- group_of(columns[setdiff(names(mapping), "label")], length(at))
  columns
}

# What a layout has beside the values of its facets.
LAYOUT_COLUMNS <- c("PANEL", "ROW", "COL", "SCALE_X", "SCALE_Y", "COORD")

# What a layer maps: its own, and unless it says otherwise the plot's.
mapping_of <- function(layer, plot) {
  own <- as.list(layer$mapping)
  inherited <- if (isTRUE(layer$inherit.aes)) as.list(plot$mapping)
  c(own, inherited[setdiff(names(inherited), names(own))])
}

#' Numbers of the groups that discrete columns make, in the order of their values; -1 without any.
#' @noRd
group_of <- function(columns, n) {
  discrete <- Filter(is_discrete, columns)
  if (!length(discrete) || !n) {
    return(rep(-1L, n))
  }
  frankv(unname(discrete), ties.method = "dense")
}

is_discrete <- function(values) {
  is.factor(values) || is.character(values) || is.logical(values)
}

#' The scales of a plot by their first aesthetic, as copies; of those that it does not say the ones
#' that ggplot2 takes.
#' @noRd
scales_of <- function(plot, data) {
  scales <- lapply(plot$scales$scales, copy_scale)
  names(scales) <- vapply(scales, function(scale) scale$aesthetics[[1L]], "")
  known <- unlist(lapply(scales, `[[`, "aesthetics"))
  for (name in c("x", "y", "colour", "fill", "shape", "linetype")) {
    values <- unlist(lapply(data, function(columns) list(columns[[name]])), recursive = FALSE)
    values <- Filter(Negate(is.null), values)
    if (name %in% known || !length(values) && !name %in% c("x", "y")) next
    kind <- if (length(values) && is_discrete(values[[1L]])) "discrete" else "continuous"
    scales[[name]] <- getExportedValue("ggplot2", paste("scale", name, kind, sep = "_"))()
  }
  scales
}

#' A copy of a scale that has all it inherits itself: what is asked of it, and of its own copies,
#' again and again would be looked for in each of its ancestors.
#' @noRd
copy_scale <- function(scale) {
  copy <- scale$clone()
  above <- copy
  while (is.function(parent <- .subset2(above, "super"))) {
    above <- parent()
    members <- function(of) ls(of, all.names = TRUE, sorted = FALSE)
    lacking <- setdiff(members(above), members(copy))
    list2env(mget(lacking, above), copy)
  }
  copy
}

#' The copies of a scale that panels have, and which of them each panel has. What is asked of them
#' again and again is looked up once, which in ggplot2's objects takes long.
#' @noRd
panel_scales <- function(scale, id) {
  discrete <- scale$is_discrete()
  list(
    scales = lapply(seq_len(max(id)), function(i) scale$clone()), id = id,
    aesthetics = scale$aesthetics, discrete = discrete,
    # Without limits nothing is cut off.
    free = !discrete && is.null(scale$limits)
  )
}

on_axis <- function(axis, columns) intersect(axis$aesthetics, names(columns))

transform_columns <- function(columns, axis) {
  if (!axis$discrete) {
    transform <- axis$scales[[1L]]$transform
    for (name in on_axis(axis, columns)) columns[[name]] <- transform(columns[[name]])
  }
  columns
}

#' Train the scales of all panels, and take values to their places on them.
#' @noRd
place_on_axes <- function(data, axes) {
  for (axis in axes) {
    train_scales(axis, data)
    if (axis$free) next
    data <- lapply(data, function(columns) {
      for (name in on_axis(axis, columns)) {
        columns[[name]] <- placed(columns[[name]], axis$id[columns$PANEL], axis$scales)
      }
      columns
    })
  }
  data
}

train_scales <- function(axis, data) {
  values <- unlist(lapply(data, function(columns) {
    found <- unname(columns[on_axis(axis, columns)])
    if (length(axis$scales) == 1L) {
      return(lapply(found, list))
    }
    of <- factor(axis$id[columns$PANEL], seq_along(axis$scales))
    lapply(found, function(value) unname(split(value, of)))
  }), recursive = FALSE)
  discrete <- vapply(values, function(parts) is_discrete(parts[[1L]]), NA)
  for (i in seq_along(axis$scales)) {
    here <- lapply(values, `[[`, i)
    train <- axis$scales[[i]]$train
    for (part in c(here[discrete], list(unlist(here[!discrete])))) if (length(part)) train(part)
  }
}

#' Values on the scales of their panels: beyond limits there is nothing.
#' @noRd
placed <- function(values, id, scales) {
  out <- rep(NA_real_, length(values))
  for (rows in split(seq_along(id), id)) {
    out[rows] <- as.numeric(scales[[id[[rows[[1L]]]]]]$map(values[rows]))
  }
  out
}

#' What the geometry and the position of a layer make of its places.
#' @noRd
set_positions <- function(layer, columns) {
  if (!length(columns$PANEL)) {
    return(columns)
  }
  data <- as_frame(columns)
  params <- layer$geom$setup_params(data, c(layer$geom_params, layer$aes_params))
  data <- layer$geom$setup_data(data, params)
  position <- layer$position
  if (!inherits(position, "PositionIdentity")) {
    params <- position$setup_params(data)
    data <- position$setup_data(data, params)
    data <- position$compute_layer(data, params, list(get_scales = function(...) list()))
  }
  as.list(data)
}

as_frame <- function(columns) {
  structure(columns, class = "data.frame", row.names = .set_row_names(length(columns$PANEL)))
}

#' Train the scales that are no axes, and put in place of values how they look.
#' @noRd
look_of_data <- function(data, scales) {
  for (scale in scales) {
    names <- scale$aesthetics
    values <- unlist(lapply(data, function(columns) {
      lapply(unname(columns[intersect(names, names(columns))]), unique)
    }), recursive = FALSE)
    if (!length(values)) next
    for (part in values) scale$train(part)
    plain <- function(part) if (is.factor(part)) as.character(part) else part
    known <- unique(unlist(lapply(values, plain)))
    looks <- scale$map(known)
    data <- lapply(data, function(columns) {
      for (name in intersect(names, names(columns))) {
        columns[[name]] <- looks[match(columns[[name]], known)]
      }
      columns
    })
  }
  data
}

# What a layer says of all its marks, and what its geometry does where nothing is said.
add_defaults <- function(layer, columns) {
  if (!length(columns$PANEL)) {
    return(columns)
  }
  as.list(layer$geom$use_defaults(as_frame(columns), layer$aes_params, list()))
}

# Range of a scale, and its breaks with their texts, how wide these are, and their places.
axis_of_scale <- function(scale) {
  discrete <- scale$is_discrete()
  expand <- scale$expand
  if (inherits(expand, "waiver")) {
    expand <- if (discrete) ggplot2::expansion(add = 0.6) else ggplot2::expansion(mult = 0.05)
  }
  range <- scale$dimension(expand)
  limits <- scale$get_limits()
  breaks <- scale$get_breaks(if (discrete) limits else sort(range))
  places <- as.numeric(if (discrete) scale$map(breaks, limits) else breaks)
  labels <- vapply(as.list(scale$get_labels(breaks)), function(v) paste(v, collapse = ""), "")
  shown <- !is.na(places) & places >= range[[1L]] - 1e-9 & places <= range[[2L]] + 1e-9
  labels <- labels[shown]
  list(
    range = range, places = places[shown], labels = labels,
    wide = vapply(labels, widest, 0, PICTURE$small, USE.NAMES = FALSE)
  )
}
