// SPDX-License-Identifier: BSD-3-Clause
// NAS IS: ranks of integer keys. Buckets of high bits, an exchange of keys, then counting.
#include "nas.h"

#include "is.h"

#include <stdlib.h>
#include <string.h>

// The published ranks of test keys, and by how much they move with the iteration.
static const struct {
    int log2_keys, log2_range;
    long index[IS_TESTS], rank[IS_TESTS];
    bool up[IS_TESTS]; // rank rises with the iteration; the others fall
    int shift;         // added to the rank of those that rise, at iteration 0, and taken off ...
    int fall;          // ... those that fall
} problems[] = {
    {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, {1, 1, 1}, 0, 0},
    {20,
     16,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018},
     {1, 1},
     -2,
     0},
    {23,
     19,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264},
     {1, 1, 1},
     -1,
     1},
    {25,
     21,
     {41869, 812306, 5102857, 18232239, 26860214},
     {33422937, 10244, 59149, 33135281, 99},
     {0, 1, 1, 0, 1},
     0,
     0},
    {27,
     23,
     {44172927, 72999161, 74326391, 129606274, 21736814},
     {61147, 882988, 266290, 133997595, 133525895},
     {1, 1, 1},
     0,
     0},
};

static void make_keys(struct nas *nas) {
    struct is *is = nas->state;
#pragma omp parallel
    {
        uint64_t x = 0;
        long next = -1;
#pragma omp for schedule(static)
        for (long i = 0; i < is->count; i++) {
            if (i != next) // the first key of this thread
                x = nas_step(UINT64_C(314159265),
                             nas_power(NAS_MULTIPLIER, 4 * (uint64_t)(is->first + i)));
            double sum = 0;
            for (int j = 0; j < 4; j++) {
                x = nas_step(x, NAS_MULTIPLIER);
                sum += nas_real(x);
            }
            is->keys[i] = (int)(sum * (is->range / 4));
            next = i + 1;
        }
    }
}

// The keys that iterations change: those of all ranks numbered from 1 to 20.
static void changed_keys(struct is *is, bool restore) {
    for (int i = 0; i < 2 * IS_ITERATIONS; i++) {
        long at = i + 1 - is->first;
        if (at >= 0 && at < is->count && restore)
            is->keys[at] = is->made[i];
        else if (at >= 0 && at < is->count)
            is->made[i] = is->keys[at];
    }
}

static void reset(struct nas *nas) {
    changed_keys(nas->state, true);
}

static void set_up(struct nas *nas) {
    struct is *is = nas->state = nas_memory(nas, sizeof *is);
    if (!is)
        return;
    *is = (struct is){.total = 1L << problems[nas->class].log2_keys,
                      .range = 1 << problems[nas->class].log2_range};
    for (is->shift = 0; is->range >> is->shift > IS_BUCKETS; is->shift++)
        ;
    nas->mop = 1e-6 * (double)is->total * IS_ITERATIONS;
    long end;
    nas_share(is->total, nas->rank, nas->size, &is->first, &end);
    is->count = end - is->first;
    // A rank may get more than its share, by what does not divide among the buckets.
    is->room = nas->size == 1 ? is->count : is->total / nas->size * 3 / 2 + is->total / 32;
    is->keys = nas_memory(nas, (size_t)is->count * sizeof(int));
    is->sorted = nas_memory(nas, (size_t)is->count * sizeof(int));
    is->got = nas->size == 1 ? is->sorted : nas_memory(nas, (size_t)is->room * sizeof(int));
    is->at = nas_memory(nas, (size_t)is->range * sizeof(int));
    is->mine = nas_memory(nas, (size_t)nas->threads * IS_BUCKETS * sizeof(int));
    is->width = nas->size == 1 ? IS_BUCKETS : 0; // else it is known with the first ranking
    is->of_source = nas->size == 1 ? nas_memory(nas, IS_BUCKETS * sizeof(int)) : NULL;
    is->counts = nas_memory(nas, 8 * (size_t)nas->size * sizeof(int));
    is->cuts = nas_memory(nas, ((size_t)nas->size + 1) * sizeof(int));
    if (failed(nas->failure))
        return;
    make_keys(nas);
    changed_keys(is, false);
}

// Iteration i makes key i equal to i, and key i + 10 to range - i.
static void change(struct is *is, int iteration) {
    long low = iteration - is->first, high = low + IS_ITERATIONS;
    if (low >= 0 && low < is->count)
        is->keys[low] = iteration;
    if (high >= 0 && high < is->count)
        is->keys[high] = is->range - iteration;
}

static void test(struct nas *nas, int iteration) {
    struct is *is = nas->state;
    for (int i = 0; i < IS_TESTS; i++) {
        long key = is->tested[i], expected = problems[nas->class].rank[i];
        if (problems[nas->class].up[i])
            expected += iteration + problems[nas->class].shift;
        else
            expected -= iteration - problems[nas->class].fall;
        // The rank that has the key's bucket knows how many keys are less.
        if (key > 0 && key >> is->shift >= is->low && key >> is->shift < is->high)
            is->passed += is_less(is, (int)key) == expected;
    }
}

static void iterate(struct nas *nas, int iterations) {
    struct is *is = nas->state;
    is->passed = 0;
    for (int i = 1; i <= iterations; i++) {
        change(is, i);
        is_rank(nas, problems[nas->class].index);
        test(nas, i);
    }
}

static void warm(struct nas *nas) {
    iterate(nas, 1);
}

static void run(struct nas *nas) {
    iterate(nas, IS_ITERATIONS);
}

// Puts the keys where their ranks say, and compares each key with its neighbour.
static long misplaced(struct nas *nas) {
    struct is *is = nas->state;
    int *list = nas_memory(nas, (size_t)is->received * sizeof *list);
    long wrong = 0, before = is->below[is->low];
    if (!list)
        return is->total;
    memset(list, 0xff, (size_t)is->received * sizeof *list);
    for (long i = 0; i < is->received; i++) {
        long at = --is->at[is->got[i]] - before;
        if (at < 0 || at >= is->received)
            wrong++;
        else
            list[at] = is->got[i];
    }
    for (long i = 0; i < is->received; i++)
        wrong += list[i] < 0 || (i > 0 && list[i] < list[i - 1]);
    free(list);
    return wrong;
}

static double departure(struct nas *nas) {
    const struct is *is = nas->state;
    if (is->lost)
        return HUGE_VAL;
    double wrong = nas_sum(nas, (double)misplaced(nas));
    double keys = nas_sum(nas, (double)is->received), passed = nas_sum(nas, is->passed);
    bool right = keys == (double)is->total && passed == IS_TESTS * IS_ITERATIONS;
    return right ? wrong : HUGE_VAL;
}

static void clear_up(struct nas *nas) {
    struct is *is = nas->state;
    if (!is)
        return;
    free(is->keys);
    if (is->got != is->sorted)
        free(is->got);
    free(is->sorted);
    free(is->at);
    free(is->mine);
    free(is->of_source);
    free(is->counts);
    free(is->cuts);
    free(is);
}

static void measure(struct bench *bench) {
    nas_measure(bench, &(struct nas_kernel){.name = "is",
                                            .open = set_up,
                                            .reset = reset,
                                            .warm = warm,
                                            .run = run,
                                            .departure = departure,
                                            .close = clear_up});
}

const struct experiment nas_is = {
    .name = "nas-is",
    .summary = "NAS IS: integer keys ranked; all ranks exchange most of their keys",
    .what = "Time of ten rankings; Mop are the keys ranked.\nMethod: Bailey et al., NAS Parallel "
            "Benchmarks, RNR-94-007 (1994), ch. 2; verified by the\nranks of test keys in each "
            "iteration, and by the keys put in order after the last.",
    .least = 1,
    .options = {nas_options, PROGRAM_OPTIONS},
    .columns = nas_columns,
    .threads = nas_threads,
    .run = measure,
};
