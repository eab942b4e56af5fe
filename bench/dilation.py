# SPDX-License-Identifier: BSD-3-Clause
"""Whether a dilated network is the declared one: times at several dilations, taken apart.

The time on the wire is the same in the network's own time at every dilation. The time in the
hosts is divided by the dilation. So times are fitted to wire + host/D, and the wire's part is
compared with the time that arithmetic gives for the declared network.
"""

import math
import statistics

from bench.common import say
from bench.launching import all_at_once, launch_on_hosts
from reframe_tests.harness.backends import clusters, network_check
from reframe_tests.harness.model import families

DILATIONS = (1, 4, 10)
SIZES = [1 << exponent for exponent in range(10, 21, 2)]
ROUNDS = 5
# Headers of a frame: Ethernet, IP and TCP with its time stamps; and the headers in the IP packet.
HEADERS, IN_PACKET = 14 + 20 + 32, 20 + 32
LEAST, PREAMBLE, CHECK, AROUND = 60, 8, 4, 24


def one_way(size, rate, latency, mtu=1500):
    """When the last bit of a message of `size` B is through two links and a switch that stores
    each frame and then sends it on, s."""
    most = mtu - IN_PACKET
    pieces = [most] * (size // most) + ([size % most] if size % most else [])
    first = second = there = 0.0
    for piece in pieces:
        frame = max(piece + HEADERS, LEAST)
        arrives = first + 8 * (frame + PREAMBLE + CHECK) / rate + latency
        first += 8 * (frame + AROUND) / rate
        begins = max(arrives, second)
        there = begins + 8 * (frame + PREAMBLE + CHECK) / rate
        second = begins + 8 * (frame + AROUND) / rate
    return there


def fit(times):
    """wire and host of wire + host/D, from D -> time: least squares."""
    over = {1 / d: t for d, t in times.items()}
    x, y = statistics.fmean(over), statistics.fmean(over.values())
    host = (sum((u - x) * (t - y) for u, t in over.items())
            / sum((u - x) ** 2 for u in over))
    return y - host * x, host


def measure(found, family, folder):
    """Median time of each size in one launch of TCP's ping-pong."""
    record = launch_on_hosts(
        family, found, folder, "pingpong", "--sizes", ",".join(map(str, SIZES)), "--budget", "0.5",
        "--max-repetitions", "200", "--dilation", str(found["options"]["dilation"]))
    return {row["bytes"]: row["median_s"] for row in record["summary"]}


def taken_apart(folder):
    family = families.load(layers=True)["sockets"]
    entry = clusters.entry_of("gigabit", 2)
    found = {d: clusters.up("gigabit", f"dilated-{d}", hosts=2, dilation=d) for d in DILATIONS}
    try:
        rounds = [{d: measure(found[d], family, folder) for d in DILATIONS}
                  for _ in range(ROUNDS)]
    finally:
        for d in DILATIONS:
            clusters.down(f"dilated-{d}")
    for size in SIZES:
        times = {d: min(one[d][size] for one in rounds) for d in DILATIONS}
        wire, host = fit(times)
        model = one_way(size, float(entry["rates"][0]), float(entry["latency"]))
        say(f"gigabit, {size} B: the wire's part of times at dilations "
            f"{', '.join(map(str, DILATIONS))} within 5 % of the model",
            f"{1e6 * wire:.2f} us + {1e6 * host:.2f} us/D; the model {1e6 * model:.2f} us "
            f"({100 * (wire / model - 1):+.1f} %)", math.isclose(wire, model, rel_tol=0.05))


def beside_acknowledgements(mtu=1500):
    """Share of a link for the frames of a stream. Each second frame that arrives is acknowledged
    over the same link by a frame without payload (RFC 5681, 4.2)."""
    two = 2 * (14 + mtu + AROUND)
    return two / (two + HEADERS + AROUND)


def carried():
    """All hosts of the dilated clusters send at once, each to the next and acknowledging."""
    room = beside_acknowledgements()
    for hosts in (4, 8):
        name = f"gigabit-{hosts}"
        slower = clusters.entry_of(name)["dilation"]
        found = clusters.up(name, "carried", verified=False)
        try:
            shares = all_at_once(found)
        finally:
            clusters.down("carried")
        least, most = network_check.RATE_SHARES
        say(f"{name}, {slower} times slower: all hosts send at once at {100 * least:.0f} % of the "
            f"rate less {100 * (1 - room):.1f} % for acknowledgements",
            f"{100 * min(shares) / room:.0f} to {100 * max(shares) / room:.0f} %",
            least <= min(shares) / room and max(shares) <= most)


def hold(folder):
    carried()
    taken_apart(folder)
