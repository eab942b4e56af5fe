// SPDX-License-Identifier: BSD-3-Clause
// The methods by which ranks start an operation together, and the time that each method reports.
#pragma once

#include "samples.h"
#include "sync.h"

// Data that a start method needs, and the rules by which a sample is judged.
struct start_line {
    MPI_Comm comm;
    const struct sync *sync;
    double lead_s;     // from the announcement of a start to the start: one value per launch
    double slot_s;     // length of a window
    double first_s;    // the last start that was announced; of windows, that of the stage
    double late_s;     // lateness that is always allowed
    double late_share; // lateness that is allowed, as a share of the sample's time
};

// Begin and end of one sample on each rank, `stride` apart, on the shared clock. The end of a rank
// whose time does not count is NaN.
struct times {
    double target; // the common start
    const double *begin, *end;
    const double *offsets; // from the common start to the arrival of each rank; NULL: none
    int ranks, stride;
    double *sorted; // memory for a value of each rank; NULL: no quantiles are computed
};

struct verdict {
    double time_s; // of the sample: the longest time of a rank, in a loop the mean of the ranks
    double fastest_s;
    // How late ranks began: the last one, the median and the 99th percentile of the ranks.
    double late_s, late_median_s, late_p99_s;
    int slowest; // rank
    enum fault fault;
};

struct start {
    const char *name;
    bool clocked; // ranks start at moments of the shared clock
    bool windows; // each sample has a window that the operation must not leave
    bool loop;    // samples follow each other in one row of calls
    // Meets the other ranks before a sample, or before all windows of a stage. Returns the common
    // start on the shared clock (any value if the method has none).
    double (*meet)(const struct start_line *line);
    struct verdict (*judge)(const struct start_line *line, const struct times *times);
};

// The method of that name; the names are the choices of the option --start.
const struct start *start_find(const char *name);

// Time from the first begin of a rank to the last one.
double start_apart(const struct times *times);

// Upper estimate of the time that the announcement of a start takes, s. Collective.
double start_announcing(const struct start_line *line);
