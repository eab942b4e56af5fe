// SPDX-License-Identifier: BSD-3-Clause
// Runs complete programs as operations of the sampler.
#include "program.h"

#include "ranks.h"

const struct option program_options[] = {
    {"start", OPTION_CHOICE, "barrier", "", "windows|round-time|barrier|mpi-barrier", 0, 0,
     "how ranks start a run: in windows of the shared clock; at a moment of it that is announced "
     "each time; after a barrier of cotejo or of the library"},
    {0},
};

void program_open(struct sampler *sampler, struct bench *bench) {
    sampler_open(sampler, bench, false);
    if (options_integer(&bench->options, "calls") > 1)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--calls %ld: a sample of a complete program is one run; leave it out",
                    options_integer(&bench->options, "calls"));
    ranks_agree(bench->comm, &bench->failure, false);
}
