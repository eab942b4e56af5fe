// SPDX-License-Identifier: BSD-3-Clause
// NAS IS: ranks of integer keys. Buckets of high bits, an exchange of keys, then counting.
#include "nas.h"

enum { IS_ITERATIONS = 10, IS_TESTS = 5 };

struct is {
    long total, first, count; // keys of all ranks; of this one, from `first` on
    int range, shift;         // keys are below `range`; a key's bucket is key >> shift
    int *keys, *sorted;       // by bucket
    int *got;                 // the keys of this rank's buckets, from all ranks
    long received, room;
    int *at;        // for each value: the number of keys up to it; right within [low, high)
    int *mine;      // of each thread, the keys in each bucket, then where they go
    int *of_source; // keys in each of this rank's buckets, from each rank: `width` places each
    int width;      // at least this rank's buckets
    int *counts;    // room for counts and offsets of exchanges
    int *cuts;      // the buckets at which the ranks' parts begin, and where the last one ends
    int low, high;  // this rank's buckets
    long below[IS_BUCKETS + 1]; // keys in lower buckets
    long tested[IS_TESTS];
    int made[2 * IS_ITERATIONS]; // the keys that iterations change, as they were made
    int passed;                  // tests
    bool lost;                   // more keys than there is room for
};

// One ranking of NAS IS.

// Sorts this rank's keys by bucket; `totals` gets how many are in each.
static void sort_buckets(const struct nas *nas, struct is *is, long *totals) {
    int threads = nas->threads;
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        // Local copies: the compiler must assume that a write to a count could change `is->shift`.
        int *mine = is->mine + t * IS_BUCKETS, shift = is->shift;
        const int *keys = is->keys;
        long first, end;
        nas_share(is->count, t, threads, &first, &end);
        memset(mine, 0, IS_BUCKETS * sizeof *mine);
        for (long i = first; i < end; i++)
            mine[keys[i] >> shift]++;
    }
    int at = 0;
    for (int b = 0; b < IS_BUCKETS; b++) {
        totals[b] = -at;
        for (int t = 0; t < threads; t++) {
            int here = is->mine[t * IS_BUCKETS + b];
            is->mine[t * IS_BUCKETS + b] = at;
            at += here;
        }
        totals[b] += at;
    }
#pragma omp parallel for schedule(static, 1)
    for (int t = 0; t < threads; t++) {
        int *mine = is->mine + t * IS_BUCKETS, *sorted = is->sorted, shift = is->shift;
        const int *keys = is->keys;
        long first, end;
        nas_share(is->count, t, threads, &first, &end);
        for (long i = first; i < end; i++)
            sorted[mine[keys[i] >> shift]++] = keys[i];
    }
}

// Bounds rise with the ranks, so one way through the buckets finds them all.
void is_cuts(const long *below, long total, int size, int *cuts) {
    int bucket = 0;
    for (int rank = 0; rank < size; rank++) {
        while (bucket < IS_BUCKETS && below[bucket] < total * rank / size)
            bucket++;
        cuts[rank] = bucket;
    }
    cuts[size] = IS_BUCKETS;
}

// Room for the buckets that this rank has; some more, since keys that iterations change move the
// bounds a little, and only the iteration that warms up may ask for memory.
static void find_room(struct nas *nas, struct is *is) {
    enum { SPARE = 4 };
    int width = is->high - is->low;
    if (width <= is->width)
        return;
    is->width = width + SPARE;
    is->of_source = nas_owned(nas, (size_t)nas->size * (size_t)is->width * sizeof(int));
    if (!is->of_source) {
        fprintf(stderr, "nas-is: no memory for %d buckets of %d ranks\n", is->width, nas->size);
        MPI_Abort(nas->comm, STATUS_FAILED); // the others wait in the exchange
    }
}

static void exchange(struct nas *nas, struct is *is, const long *mine) {
    int size = nas->size, *send = is->counts, *send_at = send + size, *receive = send_at + size,
        *receive_at = receive + size, *keys = receive_at + size, *keys_at = keys + size,
        *got = keys_at + size, *got_at = got + size, numbers[IS_BUCKETS], from = 0;
    for (int b = 0; b < IS_BUCKETS; b++)
        numbers[b] = (int)mine[b];
    is_cuts(is->below, is->total, size, is->cuts);
    is->low = is->cuts[nas->rank];
    is->high = is->cuts[nas->rank + 1];
    find_room(nas, is);
    for (int r = 0; r < size; r++) {
        int low = is->cuts[r], high = is->cuts[r + 1];
        send[r] = high - low;
        send_at[r] = low;
        receive[r] = is->high - is->low;
        receive_at[r] = r * is->width;
        keys[r] = 0;
        keys_at[r] = from;
        for (int b = low; b < high; b++)
            keys[r] += numbers[b];
        from += keys[r];
    }
    MPI_Alltoallv(numbers, send, send_at, MPI_INT, is->of_source, receive, receive_at, MPI_INT,
                  nas->comm);
    is->received = 0;
    for (int r = 0; r < size; r++) {
        got[r] = 0;
        got_at[r] = (int)is->received;
        for (int b = 0; b < is->high - is->low; b++)
            got[r] += is->of_source[r * is->width + b];
        is->received += got[r];
    }
    int lost = is->received > is->room, any;
    MPI_Allreduce(&lost, &any, 1, MPI_INT, MPI_MAX, nas->comm);
    is->lost = any;
    if (any)
        is->received = 0;
    else
        MPI_Alltoallv(is->sorted, keys, keys_at, MPI_INT, is->got, got, got_at, MPI_INT,
                      nas->comm);
    nas->received += (double)(is->received - (any ? 0 : got[nas->rank])) * sizeof(int);
    // Replaces the counts by the positions at which the keys of each bucket begin.
    for (int r = 0; r < size; r++) {
        int at = got_at[r];
        for (int b = 0; b < is->high - is->low; b++) {
            int here = is->of_source[r * is->width + b];
            is->of_source[r * is->width + b] = at;
            at += here;
        }
    }
}

// Counts the keys of each value in bucket `b`, and from there up to each value.
static void count_bucket(const struct nas *nas, struct is *is, int b) {
    int first = b << is->shift, values = 1 << is->shift, *at = is->at + first;
    const int *got = is->got;
    bool last = b + 1 == is->high;
    if (first >= is->range)
        return;
    memset(at, 0, (size_t)values * sizeof *at);
    for (int r = 0; r < nas->size; r++) {
        const int *begin = is->of_source + r * is->width + b - is->low;
        int end = !last ? begin[1] : is->counts[6 * nas->size + r] + is->counts[7 * nas->size + r];
        for (int i = begin[0]; i < end; i++)
            at[got[i] - first]++;
    }
    long sum = is->below[b];
    for (int v = 0; v < values; v++)
        at[v] = (int)(sum += at[v]);
}

// Keys whose ranks are published, and by how much the ranks move with the iteration.
static const struct {
    struct {
        int log2_keys, log2_range;
        int shift; // added to the ranks that rise, at iteration 0
        int fall;  // added to those that fall
    } size;
    struct {
        long index, rank;
        bool up; // the rank rises with the iteration; the others fall
    } tests[IS_TESTS];
} problems[] = {
    {{16, 11, 0, 0},
     {{48427, 0, 1}, {17148, 18, 1}, {23627, 346, 1}, {62548, 64917, 0}, {4431, 65463, 0}}},
    {{20, 16, -2, 0},
     {{357773, 1249, 1},
      {934767, 11698, 1},
      {875723, 1039987, 0},
      {898999, 1043896, 0},
      {404505, 1048018, 0}}},
    {{23, 19, -1, 1},
     {{2112377, 104, 1},
      {662041, 17523, 1},
      {5336171, 123928, 1},
      {3642833, 8288932, 0},
      {4250760, 8388264, 0}}},
    {{25, 21, 0, 0},
     {{41869, 33422937, 0},
      {812306, 10244, 1},
      {5102857, 59149, 1},
      {18232239, 33135281, 0},
      {26860214, 99, 1}}},
    {{27, 23, 0, 0},
     {{44172927, 61147, 1},
      {72999161, 882988, 1},
      {74326391, 266290, 1},
      {129606274, 133997595, 0},
      {21736814, 133525895, 0}}},
};

// Ranks the keys, and finds those that are tested.
static void is_rank(struct nas *nas) {
    struct is *is = nas->state;
    long mine[IS_BUCKETS + IS_TESTS] = {0}, all[IS_BUCKETS + IS_TESTS];
    sort_buckets(nas, is, mine);
    for (int i = 0; i < IS_TESTS; i++) {
        long at = problems[nas->class].tests[i].index - is->first;
        if (at >= 0 && at < is->count)
            mine[IS_BUCKETS + i] = is->keys[at];
    }
    if (nas->size > 1)
        MPI_Allreduce(mine, all, IS_BUCKETS + IS_TESTS, MPI_LONG, MPI_SUM, nas->comm);
    else
        memcpy(all, mine, sizeof all);
    memcpy(is->tested, all + IS_BUCKETS, sizeof is->tested);
    is->below[0] = 0;
    for (int b = 0; b < IS_BUCKETS; b++)
        is->below[b + 1] = is->below[b] + all[b];
    if (nas->size > 1) {
        exchange(nas, is, mine);
    } else {
        is->low = 0;
        is->high = IS_BUCKETS;
        is->received = is->count;
        is->counts[6] = (int)is->count;
        is->counts[7] = 0;
        for (int b = 0; b < IS_BUCKETS; b++)
            is->of_source[b] = (int)is->below[b];
    }
    if (is->lost)
        return;
#pragma omp parallel for schedule(dynamic, 8)
    for (int b = is->low; b < is->high; b++)
        count_bucket(nas, is, b);
}

// How many keys are less than one of this rank's buckets.
static long is_less(const struct is *is, int key) {
    int first = key >> is->shift << is->shift;
    return key == first ? is->below[key >> is->shift] : is->at[key - 1];
}

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
    struct is *is = nas->state = nas_owned(nas, sizeof *is);
    if (!is)
        return;
    *is = (struct is){.total = 1L << problems[nas->class].size.log2_keys,
                      .range = 1 << problems[nas->class].size.log2_range};
    for (is->shift = 0; is->range >> is->shift > IS_BUCKETS; is->shift++)
        ;
    nas->mop = 1e-6 * (double)is->total * IS_ITERATIONS;
    long end;
    nas_share(is->total, nas->rank, nas->size, &is->first, &end);
    is->count = end - is->first;
    // A rank may get more than its share, by what does not divide among the buckets.
    is->room = nas->size == 1 ? is->count : is->total / nas->size * 3 / 2 + is->total / 32;
    is->keys = nas_owned(nas, (size_t)is->count * sizeof(int));
    is->sorted = nas_owned(nas, (size_t)is->count * sizeof(int));
    is->got = nas->size == 1 ? is->sorted : nas_owned(nas, (size_t)is->room * sizeof(int));
    is->at = nas_owned(nas, (size_t)is->range * sizeof(int));
    is->mine = nas_owned(nas, (size_t)nas->threads * IS_BUCKETS * sizeof(int));
    is->width = nas->size == 1 ? IS_BUCKETS : 0; // else it is known with the first ranking
    is->of_source = nas->size == 1 ? nas_owned(nas, IS_BUCKETS * sizeof(int)) : NULL;
    is->counts = nas_owned(nas, 8 * (size_t)nas->size * sizeof(int));
    is->cuts = nas_owned(nas, ((size_t)nas->size + 1) * sizeof(int));
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
        long key = is->tested[i], expected = problems[nas->class].tests[i].rank;
        if (problems[nas->class].tests[i].up)
            expected += iteration + problems[nas->class].size.shift;
        else
            expected -= iteration - problems[nas->class].size.fall;
        // The rank that has the key's bucket knows how many keys are less.
        if (key > 0 && key >> is->shift >= is->low && key >> is->shift < is->high)
            is->passed += is_less(is, (int)key) == expected;
    }
}

static void run(struct nas *nas, bool complete) {
    struct is *is = nas->state;
    is->passed = 0;
    for (int i = 1; i <= (complete ? IS_ITERATIONS : 1); i++) {
        change(is, i);
        is_rank(nas);
        test(nas, i);
    }
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

NAS_MEASURE("is", reset)

const struct experiment nas_is = {
    .name = "nas-is",
    .summary = "NAS IS: integer keys ranked; all ranks exchange most of their keys",
    .what = "Time of ten rankings; Mop are the keys ranked.\nMethod: Bailey et al., NAS Parallel "
            "Benchmarks, RNR-94-007 (1994), ch. 2; verified by the\nranks of test keys in each "
            "iteration, and by the keys put in order after the last.",
    NAS_MEMBERS(nas_columns),
};
