# SPDX-License-Identifier: BSD-3-Clause
"""User-mode Linux guests in place of the hosts of a cluster: a kernel of its own on each."""

import pathlib
import shutil
import subprocess

from ..model import families
from .backend import BackendError
from .namespaces import Namespaces
from .virtual_hosts import Kind, program


class Guest(Kind):
    folder = pathlib.Path(__file__).parent
    name = "guests"
    title, one = "User-mode Linux guests", "guest of "
    # The kernels of guests wake too: 150 us on 2 cores.
    waking_s = 800e-6

    def lacking(self):
        return "" if shutil.which("linux.uml") else (
            "no linux.uml on PATH (Debian: user-mode-linux)")

    def boot(self, found):
        """Boots a guest in place of each host."""
        library = families.preloaded("guest_registers",
                                     pathlib.Path(program("cotejo-switch")).parents[1])
        if not pathlib.Path(library).exists():
            raise BackendError(f"no {library}; run `make build ARCHAEOLOGY=yes`")
        done = subprocess.run([str(self.folder / "boot"), found["folder"], library], text=True,
                              timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise BackendError(done.stderr.strip() or "no guests")

    def there(self, found, host):
        """A guest ends with its console."""
        if host["name"] == "head":
            return super().there(found, host)
        return (pathlib.Path(found["folder"]) / f"{host['name']}.console").exists()


class Guests(Namespaces):
    kind = Guest()

    def cores(self, hosts, others):
        return [0] * hosts  # of each guest's own kernel

    def shares_files(self, request):
        return False

    def realtime(self, request):
        return True  # each guest has a core of its own for its ranks' threads


KINDS = (Guests,)
