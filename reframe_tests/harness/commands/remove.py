# SPDX-License-Identifier: BSD-3-Clause
"""Removes folders of cotejo, or makes and marks them, with the standard library alone."""

import argparse

from ..machine import removal


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--claim", action="store_true",
                        help="create and mark the folders instead of removing them")
    parser.add_argument("below", help="parent folder; folders outside it are refused")
    parser.add_argument("folders", nargs="+", help="folders to remove")
    args = parser.parse_args()
    for folder in args.folders:
        try:
            if args.claim:
                removal.claim(folder)
            elif removal.remove(args.below, folder):
                print(f"removed {folder}")
        except removal.NotOursError as err:
            print(err)
        except OSError as err:
            return f"{folder}: {err.strerror}: {err.filename}; check its permissions"
    return 0
