# SPDX-License-Identifier: BSD-3-Clause
"""Concretizes an environment for a target: `spack python stack/spack_lock.py FOLDER TARGET`."""

import sys

import spack.environment
import spack.platforms
from spack.vendor.archspec import cpu

folder, target = sys.argv[-2:]
# Spack chooses among the targets of this machine's family. For another family, set the target.
if cpu.TARGETS[target].family != cpu.host().family:
    spack.platforms.host().default = target
environment = spack.environment.Environment(folder)
with environment, environment.write_transaction():
    environment.concretize(force=True)
    environment.write(regenerate=False)
