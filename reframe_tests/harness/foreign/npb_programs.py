# SPDX-License-Identifier: BSD-3-Clause
"""NAS's own programs (NPB, NPB-MZ, those for OpenMP): where Spack put them, and what they print as
samples."""

import math
import re

from . import adapter, languages

CLASSES = "SWABCD"

#: Programs as NPB names them: the number of ranks is compiled in before version 3.4.
NAMES = ("{kernel}.{letter}.x", "{kernel}.{letter}.{ranks}")


#: Operations of the multi-zone programs in millions, by class: NAS counts them zone by zone, and
#: those of BT-MZ are uneven. Our kernels count the same.
ZONES_MOP = {
    "sp-mz": (162.9006, 7290.3124, 73770.1537, 303353.3922, 1224749.1721,
              25990962.9754),
    "bt-mz": (381.8335, 14351.9753, 146211.2000, 601200.8998, 2426981.8641,
              51496899.3365),
    "lu-mz": (46.4695, 11648.8052, 102632.1849, 448921.5082, 1920512.1376,
              37617382.9099)}


def find(prefix, kernel, letter, ranks=""):
    """The program of a kernel and class in the `bin` of a prefix, for that many ranks or, without
    ranks, for OpenMP; '' if there is none."""
    for name in NAMES:
        path = prefix / "bin" / name.format(kernel=kernel, letter=letter, ranks=ranks)
        if path.exists():
            return str(path)
    return ""


def mop(kernel, letter):
    """Operations of a run in millions, as NAS counts them.

    NAS prints a rate, and a time to 10 ms only: the count is what makes times of rates.
    """
    at = CLASSES.index(letter)
    if kernel in ZONES_MOP:
        return ZONES_MOP[kernel][at]
    if letter == "D":
        raise ValueError(f"no count of operations for {kernel} of class D")
    if kernel == "ep":
        return 2e-6 * 2 ** (24, 25, 28, 30, 32)[at]
    if kernel == "is":
        return 10e-6 * 2 ** (16, 20, 23, 25, 27)[at]
    if kernel == "cg":
        rows, nonzeros = ((1400, 7), (7000, 8), (14000, 11), (75000, 13), (150000, 15))[at]
        each = nonzeros * (nonzeros + 1)
        return 2e-6 * (15, 15, 15, 75, 75)[at] * rows * (6 + each + 25 * (5 + each))
    if kernel == "mg":
        return 58e-6 * (4, 4, 4, 20, 20)[at] * (32, 128, 256, 256, 512)[at] ** 3
    if kernel == "ft":
        points = 2 ** (18, 19, 23, 25, 27)[at]
        log, iterations = math.log(points), (6, 6, 6, 20, 20)[at]
        return 1e-6 * points * (14.8157 + 7.19641 * log + (5.23518 + 7.21113 * log) * iterations)
    raise ValueError(f"no count of operations for {kernel}")


def printed(output, name):
    """The value that a program printed as `name = value`; '' if it printed none."""
    found = re.search(rf"^\s*{name}\s*=\s*(\S+)", output, re.MULTILINE)
    return found[1] if found else ""


def sample(output):
    """(operation, time in s, Mop of the run, version) of what a program printed.

    ValueError: it printed no result, or did not verify it.
    """
    def value(name):
        found = printed(output, name)
        if not found:
            raise ValueError(f"the program printed no '{name}'")
        return found

    title = re.search(r"^\s*([A-Z-]+) Benchmark Completed", output, re.MULTILINE)
    if not title:
        raise ValueError("the program printed no result")
    if value("Verification") != "SUCCESSFUL":
        raise ValueError("the program's result is wrong: NAS's verification failed")
    kernel, letter, rate = title[1].lower(), value("Class"), float(value("Mop/s total"))
    if not 0 < rate < math.inf:
        raise ValueError("the run was too short for NAS's clock")
    count = mop(kernel, letter)
    return f"nas-{kernel}-{letter}", count / rate, count, value("Version")


def write_samples(stage, output, threads, *, alone=False):
    """Completes a launch from a verified result; returns why there is none, or ''. `alone`: the
    program uses OpenMP, and prints how many threads it had."""
    had = printed(output, "Total threads")
    try:
        operation, time_s, count, version = sample(output)
        if alone and had != str(threads):
            raise ValueError(f"{threads} threads were requested, the program had {had or 'none'}")
    except ValueError as err:
        adapter.complete(stage, [], languages.COLUMNS, "NPB")
        return str(err)
    return adapter.complete(stage, [{
        "operation": operation, "bytes": 0, "time_s": time_s, "threads": threads, "mop": count,
        "rate_mops": count / time_s}], languages.COLUMNS,
        f"NPB{'-OMP' if alone else ''} {version}", **languages.UNTOLD)
