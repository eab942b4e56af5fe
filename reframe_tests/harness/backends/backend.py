# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of backends: the questions that a launch asks of the machine it is for."""


class BackendError(RuntimeError):
    """A machine that is not there or not as declared: a failure of the launch, in one line."""


class BackendBusyError(BackendError):
    """A machine that had no time for the launch: it is measured again."""


class Backend:
    """A machine that can be launched on. `request`: the launch, `harness.launch.request.Request`.

    In the order in which a launch asks: `features`, `place`, `available`, `reach`, `options`,
    `prefix`, `environment`, and when it has ended `describe`.
    """

    #: Folders of programs that its launches use, beside the site's own.
    tools = ()
    #: The key of a partition's `extras` that asks for this kind.
    key = ""
    #: Whether the launcher binds ranks to cores; else each host does.
    binds = True

    #: How many times slower than it stands for this machine runs; the benchmark's clock does too.
    dilation = 1

    def __init__(self, extras, nodes):
        self.extras, self.nodes = extras, nodes

    @classmethod
    def fits(cls, extras):
        return bool(extras.get(cls.key))

    def features(self):
        """Features that tests may require (`valid_systems`) of a partition on such a machine."""
        raise NotImplementedError

    def place(self, request):
        """The `Place` of the ranks; PlacementError says why there is none."""
        raise NotImplementedError

    def rooms(self):
        """The most ranks of one node, and of all of them, by any placement."""
        return self.nodes.rooms()

    def available(self):
        """Why this machine can have no such launches at all, or ''."""
        return ""

    def reach(self, request):
        """Has the machine ready for the launch; BackendError: it is not as declared."""

    def options(self, request):
        """Options of the launcher that put the ranks where `place` said."""
        raise NotImplementedError

    def each_rank(self, request, study):
        """Words before the program, on every rank: where hosts are beyond the guard's own, what
        has the cores of each for the study."""
        return []

    def prefix(self, request):
        """Words before the launcher: what starts it where it must run."""
        return []

    def environment(self, request):
        """Variables of the launch (name -> value) that this machine needs."""
        return {}

    def shares_files(self, request):
        """Whether all ranks have this machine's folders, and so a temporary one of the launch."""
        return request.place.hosts == 1

    def files(self, request):
        """The files that the launcher reads from the stage folder: name -> text."""
        return {}

    def lost(self, request):
        """The hosts that ended during the launch, in one line, or ''. For real hosts, scheduler
        and launcher report this."""
        return ""

    def describe(self, request):
        """Members of the description that record how this differs from a real machine."""
        return {}
