# SPDX-License-Identifier: BSD-3-Clause
"""These tests have the locks and the skips of the other tests."""

from tests.conftest import (  # noqa: F401
    pytest_runtest_call,
    pytest_runtest_setup,
    pytest_unconfigure,
)
