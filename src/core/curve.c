// SPDX-License-Identifier: BSD-3-Clause
// One operation over many sizes: which sizes, and in what order their samples are taken.
#include "curve.h"

#include "adaptive.h"
#include "ranks.h"

enum { TURN_SIZES_MOST = 2000, ROUNDS_MOST = 24, AGAIN_MOST = 2, LEAST_INTERVAL = 8 };

const struct option curve_options[] = {
    {"perturb", OPTION_INTEGER, "0", "B", NULL, 0, 1 << 20,
     "measure n - N and n + N beside each size n"},
    {"interleave", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "yes: every size has one sample in turn, instead of all at once"},
    {"ahead", OPTION_CHOICE, "no", "", "yes|no", 0, 0,
     "yes: every size has its --set-up calls, as listed, before the first sample of any: what the "
     "library keeps of a size it then has kept whatever the order"},
    {"adaptive", OPTION_REAL, "0", "", NULL, 0, 1,
     "add sizes where a straight line between neighbours misses by more than this share, most "
     "first, until half of a dense grid is measured; 0: none"},
    {"resolution", OPTION_REAL, "0.0625", "", NULL, 0.001, 1,
     "--adaptive adds no size within an interval narrower than this share of its upper end"},
    {0},
};

struct sizes curve_sizes(const struct options *options, struct failure *failure) {
    const struct sizes *given = options_sizes(options, "sizes");
    size_t by = (size_t)options_integer(options, "perturb");
    struct sizes all = {.bytes = malloc(3 * given->count * sizeof *all.bytes)};
    if (!all.bytes) {
        failure_set(failure, STATUS_USAGE, "no memory for %zu sizes", 3 * given->count);
        return all;
    }
    for (size_t i = 0; i < given->count; i++) {
        size_t n = given->bytes[i];
        if (by && n > by)
            all.bytes[all.count++] = n - by;
        all.bytes[all.count++] = n;
        if (by)
            all.bytes[all.count++] = n + by;
    }
    if (!by)
        return all;
    sizes_sort(&all);
    size_t kept = 0;
    for (size_t i = 0; i < all.count; i++)
        if (kept == 0 || all.bytes[kept - 1] != all.bytes[i])
            all.bytes[kept++] = all.bytes[i];
    all.count = kept;
    return all;
}

static struct operation operation_of(const struct curve *curve, size_t bytes) {
    struct operation operation = curve->operation;
    operation.message = (struct message){bytes, curve->messages * (double)bytes};
    if (curve->fit)
        curve->fit(&operation);
    return operation;
}

static void run_in_order(struct sampler *sampler, const struct curve *curve,
                         const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    if (options_is(&bench->options, "ahead", "yes"))
        for (size_t i = 0; i < sizes->count; i++) {
            struct operation operation = operation_of(curve, sizes->bytes[i]);
            sampler_set_up(sampler, &operation);
        }
    for (struct walk walk = bench_walk(bench, (int)sizes->count); walk_on(&walk);) {
        struct operation operation = operation_of(curve, sizes->bytes[walk.at]);
        sampler_measure(sampler, &operation);
    }
}

// Sizes whose samples alternate. All ranks have the same sizes in the same order; only rank 0
// knows the samples.
struct turns {
    struct sampler *sampler;
    const struct curve *curve;
    struct order order; // drawn anew for each round
    size_t count;
    struct turn at[TURN_SIZES_MOST];
};

static long wants_first(const struct stop *stop, const struct progress *progress, long most) {
    long wanted = stop->min + progress->again * (stop->min + 1) / 2;
    (void)most;
    return progress->valid.n < wanted && progress->repetitions < (stop->wrong + 1) * wanted;
}

static long wants_more(const struct stop *stop, const struct progress *progress, long most) {
    (void)most;
    return stop_next(stop, progress, 1);
}

static void take_turns(struct turns *turns, stop_rule *rule) {
    sampler_turns(turns->sampler, turns->at, (int)turns->count, rule, &turns->order);
}

// Returns the curve of minimum times. The difference between the minimum times of the two halves
// of the samples shows how well the minimum time of a size is known.
static void curve_of(const struct turns *turns, struct point *curve) {
    for (size_t i = 0; i < turns->count; i++) {
        const double *least = turns->at[i].progress.least_s;
        curve[i] = (struct point){turns->at[i].operation.message.bytes, fmin(least[0], least[1]),
                                  fabs(least[0] - least[1])};
    }
}

// How many sizes more have room in half of the samples that a dense grid would take. An unsteady
// machine bends the curve everywhere: sizes without end would not make it known better.
static size_t room_left(const struct turns *turns, const struct refinement *rule) {
    size_t dense = adaptive_dense(turns->at[0].operation.message.bytes,
                                  turns->at[turns->count - 1].operation.message.bytes, rule);
    long left = (long)dense * turns->sampler->stop.min / 2;
    for (size_t i = 0; i < turns->count; i++)
        left -= turns->at[i].progress.valid.n;
    size_t room = left > 0 ? (size_t)(left / turns->sampler->stop.min) : 0;
    size_t most = TURN_SIZES_MOST - turns->count;
    return room < most ? room : most;
}

// Gives sizes that stand out half a set of samples more. Decided on rank 0.
static void take_suspects(struct turns *turns, const struct refinement *rule) {
    struct point curve[TURN_SIZES_MOST];
    size_t room = 2 * room_left(turns, rule);
    curve_of(turns, curve);
    for (size_t i = 0; i < turns->count && room > 0; i++)
        if (turns->at[i].progress.tried < AGAIN_MOST &&
            adaptive_suspect(curve, turns->count, rule, i)) {
            turns->at[i].progress.tried++;
            turns->at[i].progress.again++;
            room--;
        }
    take_turns(turns, wants_first);
}

// The neighbours of a new size may be tried again: a machine that was slow for longer than all
// their samples took is found out by sizes that are measured later.
static void insert(struct turns *turns, size_t bytes) {
    size_t i = turns->count++;
    for (; i > 0 && turns->at[i - 1].operation.message.bytes > bytes; i--)
        turns->at[i] = turns->at[i - 1];
    turns->at[i] = (struct turn){.operation = operation_of(turns->curve, bytes)};
    if (i > 0)
        turns->at[i - 1].progress.tried = 0;
    if (i + 1 < turns->count)
        turns->at[i + 1].progress.tried = 0;
}

// Adds the sizes that rank 0 chooses; returns their number.
static int refine(struct turns *turns, const struct refinement *rule, int round) {
    struct point curve[TURN_SIZES_MOST];
    size_t next[TURN_SIZES_MOST];
    double list[TURN_SIZES_MOST], number = 0;
    struct bench *bench = turns->sampler->bench;
    if (bench->rank == 0) {
        curve_of(turns, curve);
        number =
            (double)adaptive_next(curve, turns->count, rule, round, next, room_left(turns, rule));
        for (int i = 0; i < (int)number; i++)
            list[i] = (double)next[i];
    }
    announce(bench->comm, &number, 1);
    announce(bench->comm, list, (int)number);
    for (int i = 0; i < (int)number; i++)
        insert(turns, (size_t)list[i]);
    return (int)number;
}

static void run_in_turns(struct sampler *sampler, const struct curve *curve,
                         const struct sizes *sizes) {
    struct bench *bench = sampler->bench;
    struct refinement refinement = {options_real(&bench->options, "adaptive"),
                                    options_real(&bench->options, "resolution"), LEAST_INTERVAL};
    struct turns *turns = malloc(sizeof *turns);
    if (refinement.tolerance > 0) // the curve says which size is next
        bench->order.how = ORDER_DECLARED;
    if (!turns || sizes->count > TURN_SIZES_MOST)
        failure_set(&bench->failure, STATUS_USAGE,
                    "--interleave and --adaptive take up to %d --sizes; %zu are requested",
                    TURN_SIZES_MOST, sizes->count);
    // If a pattern supports none of the sizes, there is nothing to refine.
    if (ranks_agree(bench->comm, &bench->failure, false) == STATUS_OK && sizes->count > 0) {
        turns->sampler = sampler;
        turns->curve = curve;
        turns->order = bench->order;
        turns->order.how = ORDER_DRAWN;
        turns->count = 0;
        for (size_t i = 0; i < sizes->count; i++)
            insert(turns, sizes->bytes[i]);
        take_turns(turns, wants_first);
        for (int round = 0; refinement.tolerance > 0 && round < ROUNDS_MOST; round++) {
            for (int i = 0; round > 0 && i < AGAIN_MOST; i++)
                take_suspects(turns, &refinement);
            if (refine(turns, &refinement, round) == 0)
                break;
            take_turns(turns, wants_first);
        }
        take_turns(turns, wants_more);
        for (size_t i = 0; i < turns->count; i++)
            sampler_check(sampler, &turns->at[i].operation, 1);
        bench_print(bench);
    }
    free(turns);
}

void curve_run(struct sampler *sampler, const struct curve *curve, const struct sizes *sizes) {
    const struct options *options = &sampler->bench->options;
    bool turns = options_is(options, "interleave", "yes") || options_real(options, "adaptive") > 0;
    (turns ? run_in_turns : run_in_order)(sampler, curve, sizes);
}
