# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of machines that ranks are launched on, behind one protocol (`backend.Backend`).

A partition of a site chooses its own by what its `extras` say; nothing outside of this folder
asks which one it is.
"""

from . import guests, namespaces, real, simulated
from .backend import Backend, BackendError

__all__ = ["Backend", "BackendError", "KINDS", "of"]

#: The first whose key a partition's `extras` have; a real machine has none.
KINDS = (simulated.Simulated, guests.Guests, namespaces.Namespaces, real.Real)


def of(extras):
    """The backend of a partition, by its `extras`."""
    return next(kind for kind in KINDS if kind.fits(extras))(extras)

