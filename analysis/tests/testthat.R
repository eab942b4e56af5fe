# SPDX-License-Identifier: BSD-3-Clause
# Runs the tests of the installed package (R CMD check).
library(testthat)
library(cotejo)

test_check("cotejo")
