// SPDX-License-Identifier: BSD-3-Clause
// When each rank arrives at an operation: how long after the common start it begins.
#include "arrival.h"

#include "random.h"
#include "ranks.h"

static const double longest_s = 100;

const struct option arrival_options[] = {
    {"arrival", OPTION_TEXT, "together", "", NULL, 0, 0,
     "when ranks arrive, after the common start: together; ramp: one after the other; one-late: "
     "the last rank; random: drawn from --seed; or a file of lines rank,offset_s"},
    {"spread", OPTION_REAL, "50e-6", "s", NULL, 0, 100,
     "--arrival ramp, one-late, random: from the first arrival to the last one (random: at most)"},
    {0},
};

bool arrival_fill(const char *pattern, double spread_s, long seed, double *offsets, int ranks) {
    uint64_t state = (uint64_t)seed;
    for (int r = 0; r < ranks; r++)
        if (strcmp(pattern, "together") == 0)
            offsets[r] = 0;
        else if (strcmp(pattern, "ramp") == 0)
            offsets[r] = ranks > 1 ? spread_s * r / (ranks - 1) : 0;
        else if (strcmp(pattern, "one-late") == 0)
            offsets[r] = r == ranks - 1 ? spread_s : 0;
        else if (strcmp(pattern, "random") == 0)
            offsets[r] = spread_s * random_share(&state);
        else
            return false;
    return true;
}

// Reads one line of the file; each rank must appear once, with a possible offset.
static void read_line(const char *path, const char *line, int number, double *offsets, int ranks,
                      struct failure *failure) {
    int rank, end = 0;
    double offset;
    if (sscanf(line, "%d,%lf %n", &rank, &offset, &end) != 2 || line[end])
        failure_set(failure, STATUS_USAGE, "--arrival %s, line %d: '%.40s' is not RANK,SECONDS",
                    path, number, line);
    else if (rank < 0 || rank >= ranks)
        failure_set(failure, STATUS_USAGE,
                    "--arrival %s, line %d: rank %d, but there are ranks 0 to %d; record the "
                    "program with as many ranks",
                    path, number, rank, ranks - 1);
    else if (!(offset >= 0 && offset <= longest_s))
        failure_set(failure, STATUS_USAGE,
                    "--arrival %s, line %d: offsets are from 0 to %g s after the common start, "
                    "not %g",
                    path, number, longest_s, offset);
    else if (!isnan(offsets[rank]))
        failure_set(failure, STATUS_USAGE, "--arrival %s, line %d: rank %d for the second time",
                    path, number, rank);
    else
        offsets[rank] = offset;
}

static void read_lines(FILE *file, const char *path, double *offsets, int ranks, double *error_s,
                       struct failure *failure) {
    char line[256];
    bool headed = false;
    for (int number = 1; !failed(failure) && fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] == '#')
            sscanf(line, "# error_s %lf", error_s);
        else if (headed)
            read_line(path, line, number, offsets, ranks, failure);
        else if (strcmp(line, "rank,offset_s") == 0)
            headed = true;
        else
            failure_set(failure, STATUS_USAGE,
                        "--arrival %s, line %d: '%.40s' in place of the header rank,offset_s",
                        path, number, line);
    }
}

void arrival_read(const char *path, double *offsets, int ranks, double *error_s,
                  struct failure *failure) {
    FILE *file = fopen(path, "r");
    if (!file) {
        failure_set(failure, STATUS_USAGE,
                    "--arrival '%s': no pattern (together, ramp, one-late, random), and as a "
                    "file: %s",
                    path, strerror(errno));
        return;
    }
    *error_s = NAN;
    for (int r = 0; r < ranks; r++)
        offsets[r] = NAN;
    read_lines(file, path, offsets, ranks, error_s, failure);
    fclose(file);
    for (int r = 0; r < ranks && !failed(failure); r++)
        if (isnan(offsets[r]))
            failure_set(failure, STATUS_USAGE,
                        "--arrival %s: no line for rank %d of %d; record the program with as many "
                        "ranks",
                        path, r, ranks);
}

bool arrival_asked(const struct options *options) {
    return options_have(options, "arrival") &&
           strcmp(options_text(options, "arrival"), "together") != 0;
}

void arrival_open(struct arrival *arrival, MPI_Comm comm, const struct options *options,
                  struct failure *failure) {
    int rank, size;
    const char *pattern = options_text(options, "arrival");
    double spread_s = options_real(options, "spread");
    *arrival = (struct arrival){.pattern = pattern, .error_s = NAN};
    if (!arrival_asked(options))
        return;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    arrival->ranks = size;
    arrival->offsets = malloc((size_t)size * sizeof *arrival->offsets);
    if (!arrival->offsets)
        failure_set(failure, STATUS_FAILED, "no memory for the arrivals of %d ranks", size);
    else if (!arrival_fill(pattern, spread_s, options_integer(options, "seed"), arrival->offsets,
                           size)) {
        arrival->pattern = "file";
        arrival->file = pattern;
        if (rank == 0)
            arrival_read(pattern, arrival->offsets, size, &arrival->error_s, failure);
    }
    if (ranks_agree(comm, failure, false) != STATUS_OK)
        return;
    announce(comm, arrival->offsets, size);
    arrival->own_s = arrival->offsets[rank];
    for (int r = 0; r < size; r++)
        arrival->last_s = fmax(arrival->last_s, arrival->offsets[r]);
    if (rank != 0)
        arrival_close(arrival);
}

void arrival_close(struct arrival *arrival) {
    free(arrival->offsets);
    arrival->offsets = NULL;
}

void arrival_describe(const struct arrival *arrival, struct json *json) {
    json_open(json, '{');
    json_member(json, "pattern", string, arrival->pattern);
    json_member(json, "file", string, arrival->file);
    json_member(json, "last_s", real, arrival->last_s);
    json_member(json, "error_s", real, arrival->error_s);
    json_member(json, "offsets_s", open, '[');
    for (int r = 0; r < arrival->ranks && arrival->offsets; r++)
        json_real(json, arrival->offsets[r]);
    json_close(json, ']');
    json_close(json, '}');
}
