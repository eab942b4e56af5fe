// SPDX-License-Identifier: BSD-3-Clause
// Preloaded into a foreign MPI program: describes its launch as ours describe themselves.
//
// It stands between the program and MPI_Init, MPI_Init_thread and MPI_Finalize only, so it costs
// nothing while the program measures. COTEJO_DESCRIPTION names the file to write.
#include "core/describe.h"
#include "core/ranks.h"
#include "core/whole.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct launch launch; // of this process: the hooks have no argument to carry it in

int MPI_Init(int *count, char ***arguments) {
    int status = PMPI_Init(count, arguments);
    launch = launch_begin();
    return status;
}

int MPI_Init_thread(int *count, char ***arguments, int required, int *provided) {
    int status = PMPI_Init_thread(count, arguments, required, provided);
    launch = launch_begin();
    return status;
}

// This process's own arguments, as the kernel keeps them; returns how many.
static int own_arguments(char *text, size_t room, char **arguments, int most) {
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(text, 1, room - 1, file) : 0;
    int count = 0;
    if (file)
        fclose(file);
    text[length] = '\0';
    for (char *at = text; at < text + length && count < most; at += strlen(at) + 1)
        arguments[count++] = at;
    return count;
}

static void describe(const char *path, struct failure *failure) {
    char text[4096], *arguments[128];
    int rank, count = own_arguments(text, sizeof text, arguments, 128);
    struct clock clock;
    struct json json = {0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    clock_open(&clock, "wtime", failure);
    // A timer that goes backwards is for the reader to judge: it is the program's, not ours.
    *failure = (struct failure){0};
    struct subject subject = {.program = count ? arguments[0] : "unknown",
                              .version = "unknown",
                              .experiment = count > 1 ? arguments[1] : "",
                              .argument_count = count,
                              .arguments = arguments,
                              .clock = &clock,
                              .payload_bytes = -1};
    json_open(&json, '{');
    json_name(&json, "schema");
    json_string(&json, "cotejo-launch/2");
    describe_launch(&launch, &subject, &json, failure);
    json_close(&json, '}');
    if (rank == 0 && !failed(failure) && !json.lost)
        write_whole(path, json.text, json.length, failure);
    json_free(&json);
}

int MPI_Finalize(void) {
    const char *path = getenv("COTEJO_DESCRIPTION");
    struct failure failure = {0};
    if (path && *path)
        describe(path, &failure);
    if (failed(&failure))
        fprintf(stderr, "cotejo-observe: %s\n", failure.text);
    return PMPI_Finalize();
}
