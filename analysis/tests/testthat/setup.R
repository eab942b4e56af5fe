# SPDX-License-Identifier: BSD-3-Clause
# Results are not cached between tests or in the user's cache, unless a test enables the cache.
options(cotejo.cache = FALSE)
