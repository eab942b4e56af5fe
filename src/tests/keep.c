// SPDX-License-Identifier: BSD-3-Clause
// Preloaded in tests of no more ranks than cores: a rank that polls keeps its core.
//
// MPICH and Intel MPI yield it at each look. Beside a process that keeps the core busy each look
// then costs a time slice of that one, 3 ms, and the tests take ten times longer.
int sched_yield(void);

int sched_yield(void) {
    return 0;
}
