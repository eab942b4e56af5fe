# SPDX-License-Identifier: BSD-3-Clause
"""Counters of network cards: what the host where the launcher starts received during a launch.

They count everybody's bytes: that a card carried the payload is shown by no less than it, on a
host that the launch has for itself. What a transport must *not* have carried is shown by the
ranks' own TCP connections alone (`observed.tcp_bytes`).
"""

import re

#: Counter -> files below /sys, and octets of one count. InfiniBand's ports count in units of four
#: octets (Linux, Documentation/ABI/stable/sysfs-class-infiniband: port_rcv_data), Omni-Path's by
#: the same file. A file of cxi's telemetry holds VALUE@TIME.
FILES = {
    "infiniband": ("class/infiniband/*/ports/*/counters/port_rcv_data", 4),
    "omni-path": ("class/infiniband/hfi1_*/ports/*/counters/port_rcv_data", 4),
    "cxi": ("class/cxi/*/device/telemetry/hni_sts_rx_ok_octets", 1),
}
BEFORE, AFTER = "counters.before", "counters.after"


def commands(transport, root="/sys"):
    """Commands before and after the launcher that write what its counters stand at."""
    def look(target):
        files = " ".join(f"{root}/{FILES[name][0]}" for name in wanted)
        return (f'for file in {files}; do [ -r "$file" ] && echo "$file $(cat "$file")"; done '
                f"> {target}; true")

    wanted = [name for name in transport.proof if name in FILES]
    return ([look(BEFORE)], [look(AFTER)]) if wanted else ([], [])


def _read(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return {file: int(value.partition("@")[0]) for file, value in
            (line.split(maxsplit=1) for line in lines if " " in line)}


def received(stage, name):
    """Bytes by card that a counter grew by during a launch; {} where there is no such card."""
    pattern, octets = FILES[name]
    regex = re.compile(re.escape(pattern).replace(r"\*", "[^/]+") + "$")
    before, after = _read(stage / BEFORE), _read(stage / AFTER)
    found = {}
    for file, value in after.items():
        if (match := regex.search(file)) and file in before:
            card = match[0].split("/")[2]  # class/KIND/CARD/...
            found[card] = found.get(card, 0) + octets * (value - before[file])
    return found


def counted(stage, transport, observed):
    """Counter -> card -> bytes of all that the transport is proved by; of TCP the ranks' own."""
    return {name: {"ranks": observed["tcp_bytes"]} if name == "tcp" else received(stage, name)
            for name in transport.proof}


def problem(proof, transport, asked, observed, card=""):
    """Why the counters contradict the transport, or ''. `card`: the site's, which is to carry."""
    share = (observed.get("payload_bytes") or 0) / max(asked["hosts"], 1)
    for name in (n for n, what in transport.proof.items() if what == "carries" and n in FILES):
        cards = proof[name]
        if not cards:
            return (f"transport {transport.name}: there is no counter of {name} on this host, and "
                    f"so no proof: has it no such card?")
        if max(cards.values()) < 0.9 * share:
            return (f"transport {transport.name}: cards received "
                    + ", ".join(f"{count} B ({one})" for one, count in sorted(cards.items()))
                    + f" for {share:.0f} B of payload to this host")
        if card and cards.get(card, 0) < 0.9 * share:
            return (f"transport {transport.name}: {card} of the site received "
                    f"{cards.get(card, 0)} B, {max(cards, key=cards.get)} carried the messages")
    if card and transport.proof.get("tcp") == "carries" and asked["hosts"] > 1:
        seen = observed["interfaces"]
        if seen.get(card, 0) < 0.9 * share:
            return (f"transport {transport.name}: {card} of the site received "
                    f"{seen.get(card, 0)} B, the messages went by another interface: {seen}")
    return ""
