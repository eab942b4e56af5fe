// SPDX-License-Identifier: BSD-3-Clause
// The memory of a radix sort, and the destinations of its keys in each pass.
#include "radix.h"

// The destinations are computed so that messages hold nothing but keys. The counts of each rank by
// digit show every rank where its outgoing and incoming keys go. A rank needs the other ranks'
// counts only for the digits of its own share. No table and no loop is thus as large as all ranks
// times all digits.

static void radix_plan_open(struct radix *radix, size_t values, struct failure *failure) {
    struct plan *plan = &radix->plan;
    size_t ranks = (size_t)radix->size;
    plan->counts = calloc(values, sizeof *plan->counts);
    plan->totals = calloc(values, sizeof *plan->totals);
    plan->starts = calloc(values, sizeof *plan->starts);
    plan->windows = calloc(ranks, sizeof *plan->windows);
    plan->lists = calloc(RADIX_LISTS * ranks, sizeof *plan->lists);
    if (!plan->counts || !plan->totals || !plan->starts || !plan->windows || !plan->lists)
        failure_set(failure, STATUS_USAGE,
                    "no memory to count %zu digits on %d ranks; lower "
                    "--digit",
                    values, radix->size);
}

static void radix_plan_close(struct radix *radix) {
    struct plan *plan = &radix->plan;
    free(plan->counts);
    free(plan->totals);
    free(plan->starts);
    free(plan->windows);
    free(plan->lists);
    free(plan->comes);
    free(plan->next);
    *plan = (struct plan){0};
}

// Totals and starts from the counts. Collective.
static void radix_share(struct radix *radix) {
    struct plan *plan = &radix->plan;
    int values = (int)radix_values(&radix->digits);
    uint64_t sum = 0;
    MPI_Allreduce(plan->counts, plan->totals, values, MPI_UINT64_T, MPI_SUM, radix->comm);
    MPI_Exscan(plan->counts, plan->starts, values, MPI_UINT64_T, MPI_SUM, radix->comm);
    for (int d = 0; d < values; d++) {
        plan->starts[d] = sum + (radix->rank ? plan->starts[d] : 0);
        sum += plan->totals[d];
    }
}

// Goes through ranks and digits at once. Totals that were damaged on the way may end too early.
void radix_windows(const uint64_t *totals, size_t values, uint64_t keys, int size,
                   struct window *windows) {
    size_t digit = 0;
    uint64_t end = totals[0];
    for (int rank = 0; rank < size; rank++) {
        uint64_t low = (uint64_t)rank * keys, high = low + keys;
        while (end <= low && digit + 1 < values)
            end += totals[++digit];
        windows[rank].first = digit;
        while (end < high && digit + 1 < values)
            end += totals[++digit];
        windows[rank].count = digit + 1 - windows[rank].first;
    }
}

static void find_room(struct radix *radix, size_t needed) {
    struct plan *plan = &radix->plan;
    if (needed <= plan->room)
        return;
    free(plan->comes);
    free(plan->next);
    plan->comes = malloc(needed * sizeof *plan->comes);
    plan->next = malloc(needed * sizeof *plan->next);
    plan->room = needed;
    if (needed > INT_MAX || !plan->comes || !plan->next) {
        fprintf(stderr, "radix: no memory for the places of %zu runs of keys on rank %d\n", needed,
                radix->rank);
        MPI_Abort(radix->comm, STATUS_FAILED); // the others wait for what it would say
    }
}

struct lists radix_lists(const struct radix *radix) {
    size_t ranks = (size_t)radix->size;
    int *all = radix->plan.lists;
    return (struct lists){all, all + ranks, all + 2 * ranks, all + 3 * ranks};
}

void radix_tell(struct radix *radix) {
    struct plan *plan = &radix->plan;
    size_t own = plan->windows[radix->rank].count;
    struct lists lists = radix_lists(radix);
    find_room(radix, (size_t)radix->size * own);
    for (int rank = 0; rank < radix->size; rank++) {
        lists.sends[rank] = (int)plan->windows[rank].count;
        lists.send_at[rank] = (int)plan->windows[rank].first;
        lists.receives[rank] = (int)own;
        lists.receive_at[rank] = (int)((size_t)rank * own);
    }
    MPI_Alltoallv(plan->counts, lists.sends, lists.send_at, MPI_UINT64_T, plan->comes,
                  lists.receives, lists.receive_at, MPI_UINT64_T, radix->comm);
}

void radix_arrivals(const struct window *window, int size, uint64_t begin, uint64_t low,
                    uint64_t keys, uint64_t *comes, uint64_t *next) {
    uint64_t high = low + keys;
    for (size_t d = 0; d < window->count; d++) {
        for (int source = 0; source < size; source++) {
            size_t i = (size_t)source * window->count + d;
            uint64_t end = begin + comes[i];
            uint64_t from = begin < low ? low : begin, to = end > high ? high : end;
            comes[i] = to > from ? to - from : 0;
            next[i] = from - low; // of use only where any come
            begin = end;
        }
    }
}

void radix_plan_pass(struct radix *radix) {
    struct plan *plan = &radix->plan;
    double at = program_mark(radix->clock);
    uint64_t begin = 0;
    radix_share(radix);
    radix_windows(plan->totals, radix_values(&radix->digits), radix->keys, radix->size,
                  plan->windows);
    radix_tell(radix);
    for (size_t d = 0; d < plan->windows[radix->rank].first; d++)
        begin += plan->totals[d];
    radix_arrivals(&plan->windows[radix->rank], radix->size, begin,
                   (uint64_t)radix->rank * radix->keys, radix->keys, plan->comes, plan->next);
    radix->account.phase_s[RADIX_SCAN] += program_mark(radix->clock) - at;
}

uint64_t radix_comes(const struct radix *radix, int source) {
    size_t count = radix->plan.windows[radix->rank].count;
    const uint64_t *comes = radix->plan.comes + (size_t)source * count;
    uint64_t total = 0;
    for (size_t d = 0; d < count; d++)
        total += comes[d];
    return total;
}

void radix_sent(struct radix *radix, double messages, double keys) {
    radix->account.messages += messages;
    radix->account.bytes += keys * (double)radix_width(radix);
}

void radix_exchange(struct radix *radix, const struct lists *lists) {
    int own = radix->rank, sent = lists->sends[own], received = lists->receives[own];
    for (int i = 0, out = 0, in = 0; i < radix->size; i++) {
        lists->send_at[i] = out;
        lists->receive_at[i] = in;
        out += lists->sends[i];
        in += lists->receives[i];
        if (i != own && lists->sends[i])
            radix_sent(radix, 1, lists->sends[i]);
    }
    lists->sends[own] = lists->receives[own] = 0;
    MPI_Alltoallv(radix->spare, lists->sends, lists->send_at, radix_type(radix), radix->in,
                  lists->receives, lists->receive_at, radix_type(radix), radix->comm);
    lists->sends[own] = sent;
    lists->receives[own] = received;
}

// All memory is made before anything is timed.

static void *lines(size_t bytes) {
    return aligned_alloc(RADIX_LINE, (bytes + RADIX_LINE - 1) / RADIX_LINE * RADIX_LINE);
}

void radix_open(struct radix *radix, struct failure *failure) {
    size_t block = radix->keys * radix_width(radix), ranks = (size_t)radix->size;
    size_t parts = (size_t)1 << radix_top(radix->keys, radix->digits.bits);
    size_t values = radix_values(&radix->digits);
    bool buffered = radix->variant->dealing.pass,
         all_at_once = !buffered && !radix->variant->alone;
    radix->in = lines(block);
    radix->out = lines(block);
    radix->spare = lines(all_at_once ? block : 1);
    radix->work = lines(all_at_once ? block : 1);
    radix->buffers = lines(buffered ? 2 * ranks * radix->room * radix_width(radix) : 1);
    if (!radix->in || !radix->out || !radix->spare || !radix->work || !radix->buffers)
        failure_set(failure, STATUS_USAGE, "no memory for %zu keys on a rank; lower --keys",
                    radix->keys);
    radix_plan_open(radix, values > parts ? values : parts, failure);
    if (!failed(failure) && radix->variant->open)
        radix->variant->open(radix, failure);
}

void radix_close(struct radix *radix) {
    free(radix->own);
    radix->own = NULL;
    radix_plan_close(radix);
    free(radix->in);
    free(radix->out);
    free(radix->spare);
    free(radix->work);
    free(radix->buffers);
}
