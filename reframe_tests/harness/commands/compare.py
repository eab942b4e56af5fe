# SPDX-License-Identifier: BSD-3-Clause
"""Judges an upgrade by results from before and after it.

Exit status: 0 nothing is slower, 1 something is slower by more than --delta, 2 more launches or
sessions are needed, 3 the folders cannot be read or compared.
"""

import re
import subprocess

from ..machine import r
from . import shared


def main():
    parser = shared.Parser(description=__doc__)
    parser.add_argument("before", help="folder of results from before the upgrade")
    parser.add_argument("after", help="folder of results from after it")
    parser.add_argument("--changed", default="", metavar="NAMES",
                        help="what was upgraded: mpi, stack, kernel, cotejo, governor, site")
    parser.add_argument("--delta", default="", metavar="SHARE",
                        help="slowdown that is accepted (default: 3%%)")
    parser.add_argument("--page", default="report/compare.html", metavar="FILE",
                        help="the page; a CSV and a JUnit file are written beside it")
    args = parser.parse_args()
    changed = [name for name in re.split("[ ,]+", args.changed) if name]
    code = (f"cotejo::run_command(status = 3L, quit(status = write_comparison("
            f"{r.text(args.before)}, {r.text(args.after)}, {r.text(args.page)}, "
            f"changed = {r.text(changed)}, "
            f"delta = share_of_text({r.text(args.delta)}, 0.03))))")
    words, variables = r.command(code)
    return subprocess.run(words, env=variables).returncode
