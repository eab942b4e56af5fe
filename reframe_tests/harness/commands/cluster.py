# SPDX-License-Identifier: BSD-3-Clause
"""Virtual clusters of this machine: up, down, which are up."""

from .. import backends
from ..backends import clusters, virtual_hosts
from . import shared


def main():
    parser = shared.Parser(description="Starts, ends or lists virtual clusters of this machine.")
    parser.add_argument("verb", choices=["up", "down", "list"])
    parser.add_argument("cluster", nargs="?", help="name of a cluster in clusters.yaml")
    parser.add_argument("--name", help="name of this cluster, if two of one kind are up")
    parser.add_argument("--hosts", type=int, help="number of hosts, 2 to 16")
    args = parser.parse_args()
    kind = next((backend.kind for backend in backends.of_site() if hasattr(backend, "kind")),
                virtual_hosts.HOSTS)
    if args.cluster:
        args.name = args.name or clusters.named(args.cluster, kind)
    if args.verb == "list":
        clusters.sweep()
        for folder in sorted(clusters.run_folder().glob("*")):
            if found := clusters.state(folder.name):
                print(f"{folder.name}: {len(found['hosts']) - 1} hosts, {found['folder']}")
        return 0
    if not args.cluster:
        parser.error(f"{args.verb} needs the name of a cluster")
    if args.verb == "down":
        return 0 if clusters.down(args.name) else f"cluster: {args.cluster} is not up"
    found = clusters.up(args.cluster, args.name, args.hosts, kind_of_hosts=kind)
    print(f"cluster: {len(found['hosts']) - 1} hosts are up; "
          f"start launchers by {virtual_hosts.tool('enter', kind)} {found['folder']}")
    return 0
