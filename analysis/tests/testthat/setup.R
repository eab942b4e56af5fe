# SPDX-License-Identifier: BSD-3-Clause
# Nothing is kept from one test to the next, or in the user's cache, unless a test asks for it.
options(cotejo.cache = FALSE)
