# SPDX-License-Identifier: BSD-3-Clause
"""Counters of network cards: the bytes that every host of a launch received while its ranks ran.

Each rank reads the counters of its host before and after the program. The growth of a host is from
the first reading to the last. The counters include the bytes of all users. They prove that cards
carried the payload if the host is not shared and the growth is at least the payload. Only the
ranks' own TCP connections (`observed.tcp_bytes`) prove that TCP did *not* carry it.
"""

import re
import shlex

#: Counter -> files below /sys, and octets of one count. InfiniBand's ports count in units of four
#: octets (Linux, Documentation/ABI/stable/sysfs-class-infiniband: port_rcv_data), Omni-Path's by
#: the same file. A file of cxi's telemetry holds VALUE@TIME. Interfaces are read for TCP only, if
#: a site names the interface that must carry it.
FILES = {
    "infiniband": ("class/infiniband/*/ports/*/counters/port_rcv_data", 4),
    "omni-path": ("class/infiniband/hfi1_*/ports/*/counters/port_rcv_data", 4),
    "cxi": ("class/cxi/*/device/telemetry/hni_sts_rx_ok_octets", 1),
    "interfaces": ("class/net/*/statistics/rx_bytes", 1),
}
#: Each rank writes counters.MOMENT.HOST.PROCESS. The shell remains beside the program and returns
#: its status, which a shell that the program ends could not do.
SCRIPT = """look() {{ for file in {files}; do \
[ -r "$file" ] && echo "$file $(cat "$file")"; done > "counters.$1.$(uname -n).$$"; }}; \
look before; "$@"; ended=$?; look after; exit $ended"""


def wanted(transport, card=()):
    """Counters with which a launch is compared; `card`: the cards that the partition names."""
    tcp = transport.proof.get("tcp") == "carries" and card
    return [*(n for n in transport.proof if n in FILES), *(["interfaces"] if tcp else [])]


def each_rank(names, root="/sys"):
    """Words before the program on every rank, for a shell, which read counters."""
    files = " ".join(f"{root}/{FILES[name][0]}" for name in names)
    return ["sh", "-c", shlex.quote(SCRIPT.format(files=files)), "counters"] if names else []


def _read(path):
    return {file: int(value.partition("@")[0]) for file, value in
            (line.split(maxsplit=1) for line in path.read_text().splitlines() if " " in line)}


def _readings(stage, moment, choose):
    """Host -> file -> the first or the last (`choose`: min, max) that its ranks read."""
    found = {}
    for path in stage.glob(f"counters.{moment}.*"):
        host = found.setdefault(path.name.split(".", 2)[2].rpartition(".")[0], {})
        for file, value in _read(path).items():
            host[file] = choose(value, host.get(file, value))
    return found


def received(stage, name):
    """Host -> card -> bytes that a counter grew by during a launch."""
    pattern, octets = FILES[name]
    regex = re.compile(re.escape(pattern).replace(r"\*", "[^/]+") + "$")
    before, after = _readings(stage, "before", min), _readings(stage, "after", max)
    found = {host: {} for host in before}
    for host, cards in found.items():
        for file, value in after.get(host, {}).items():
            if (match := regex.search(file)) and file in before[host]:
                card = match[0].split("/")[2]  # class/KIND/CARD/...
                cards[card] = cards.get(card, 0) + octets * (value - before[host][file])
    return found


def counted(stage, transport, observed, card=()):
    """The member `proof` of a description: counter -> host -> card -> bytes; of TCP connections
    the ranks' own."""
    own = {"tcp": {"ranks": observed["tcp_bytes"]}} if "tcp" in transport.proof else {}
    return {**own, **{name: received(stage, name) for name in wanted(transport, card)}}


def must_cross(payload, asked):
    """The part of a payload (B) that hosts must receive: all of it if no two ranks share a host.
    Otherwise, messages to every rank cross at least as often as there are other hosts."""
    return payload * (asked["hosts"] - 1) / max(asked["ranks"] - 1, 1)


def problem(proof, transport, asked, observed, card=()):
    """Why the counters contradict the transport, or ''. `card`: the cards of the site that are to
    carry the messages."""
    if asked["hosts"] < 2:
        return ""
    least = 0.9 * must_cross(observed.get("payload_bytes") or 0, asked)
    for name in (n for n in wanted(transport, card)
                 if n == "interfaces" or transport.proof[n] == "carries"):
        hosts = proof[name]
        without = sorted(host for host, cards in hosts.items() if not cards)
        if without or len(hosts) != asked["hosts"]:
            return (f"transport {transport.name}: there is no counter of {name} on "
                    f"{', '.join(without) or 'some host'}, and so no proof: has it no such card?")
        total = {one: sum(cards.get(one, 0) for cards in hosts.values())
                 for cards in hosts.values() for one in cards}
        said = "; ".join(f"{host}: " + ", ".join(f"{count} B ({one})" for one, count
                                                 in sorted(cards.items()))
                         for host, cards in sorted(hosts.items()))
        # Messages may be split over several cards.
        most = sum if len(card) > 1 else max
        if sum(most(cards.values()) for cards in hosts.values()) < least:
            return (f"transport {transport.name}: for {least / 0.9:.0f} B of payload between "
                    f"hosts cards received {said}")
        own = sum(total.get(one, 0) for one in card)
        if card and own < least:
            return (f"transport {transport.name}: {', '.join(card)} of the site received {own} B, "
                    f"another card carried the messages: {said}")
    return ""
