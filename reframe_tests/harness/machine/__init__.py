# SPDX-License-Identifier: BSD-3-Clause
"""This machine: its topology and its scheduler's allocation, locks of its cores, complete files,
removal of folders, and variables of a shell that could steer an MPI."""
