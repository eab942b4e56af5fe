# SPDX-License-Identifier: BSD-3-Clause
# Registers the exhibits of the package.

register_exhibits(system.file("exhibits.yaml", package = "cotejo", mustWork = TRUE))
