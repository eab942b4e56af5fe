# SPDX-License-Identifier: BSD-3-Clause
"""Starts launches and records them. Each folder imports only itself and those before it: `model`,
`machine`, `foreign`, `backends`, `launch`, `study`, `commands`."""
