# SPDX-License-Identifier: BSD-3-Clause
"""This machine, whatever runs on it: its topology and its scheduler's allocation, whose its cores
are, files that are whole, what may be removed, what of a shell could steer an MPI."""
