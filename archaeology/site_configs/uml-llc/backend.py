# SPDX-License-Identifier: BSD-3-Clause
"""User-mode Linux guests in place of the hosts of a cluster: a kernel of its own on each."""

from .namespaces import Namespaces


class Guests(Namespaces):
    guests = True

    def cores(self, hosts, others):
        return [0] * hosts  # of each guest's own kernel

    def shares_files(self, request):
        return False

    def realtime(self, request):
        return True  # each guest has a core of its own for its ranks' threads


KINDS = (Guests,)
