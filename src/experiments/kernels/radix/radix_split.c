// SPDX-License-Identifier: BSD-3-Clause
// Radix sort with one exchange. Every rank cuts its keys into parts by their high bits. A rank's
// share is some parts of all ranks, which it sorts one by one in its cache. Shares are equal for
// any keys: a part that lies on a bound between two ranks is cut at the exact key. The first keys
// that equal this key go to the lower rank.
#include "radix.h"

enum { LEVEL_MOST = 11, SEARCHED_MOST = 1 << 20 };

// A bound between two ranks, looked for from the high bits of keys to the low ones.
struct bound {
    uint64_t prefix; // its bits that are known
    uint64_t before; // keys that go below it, of all ranks' that begin with these bits
    uint64_t quota;  // of those keys here that equal it, how many go below
    uint64_t seen;   // keys equal to it that have been sent on their way
    size_t part;     // its high bits
};

struct split {
    struct radix *radix;
    int top, rest;        // bits that choose the part, and those below
    struct bound *bounds; // size - 1, rising
    int level;            // bits of a bound that are looked for at a time
    uint64_t *mine, *all; // by bound: histograms of the keys that begin as it does
    uint64_t *ends;       // of the parts here, in `spare`
    struct run *runs;     // size
    // Keys by rank: to and from it, with their places, and how many of them are of the first part
    // of the receiver's share.
    struct lists lists;
    int *first_sends, *first_receives;
};

// Sorted bits of the key at `i`.
static inline uint64_t value_of(const struct split *split, const void *keys, size_t i) {
    return radix_key(keys, i, split->radix->wide) >> split->radix->digits.low;
}

static void *key_of(const struct split *split, void *keys, uint64_t i) {
    return (char *)keys + i * radix_width(split->radix);
}

static size_t parts_of(const struct split *split) {
    return (size_t)1 << split->top;
}

static uint64_t begin_of(const struct split *split, size_t part) {
    return part ? split->ends[part - 1] : 0;
}

// Cuts the keys into parts, in `spare`. How many all ranks have in each part is known then.
static void cut(struct split *split) {
    struct radix *radix = split->radix;
    struct digits high = {radix->digits.low + split->rest, split->top, split->top};
    size_t parts = parts_of(split);
    uint64_t *mine = radix->plan.counts;
    double begin = program_mark(radix->clock);
    if (split->top)
        radix_histogram(radix->in, radix->keys, radix->wide, &high, 0, mine);
    else
        mine[0] = radix->keys;
    double counted = program_mark(radix->clock);
    MPI_Allreduce(mine, radix->plan.totals, (int)parts, MPI_UINT64_T, MPI_SUM, radix->comm);
    double told = program_mark(radix->clock);
    radix_begins(mine, parts, split->ends);
    if (split->top)
        radix_scatter(radix->in, radix->spare, radix->keys, radix->wide, &high, 0, split->ends);
    else
        memcpy(radix->spare, radix->in, radix->keys * radix_width(radix));
    split->ends[parts - 1] = radix->keys;
    radix->account.phase_s[RADIX_HISTOGRAM] += counted - begin;
    radix->account.phase_s[RADIX_SCAN] += told - counted;
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - told;
}

// The value of the next bits that holds the bound, by the histogram of all ranks.
static void narrow(struct bound *bound, const uint64_t *all, int bits) {
    uint64_t value = 0;
    while (bound->before >= all[value])
        bound->before -= all[value++];
    bound->prefix = bound->prefix << bits | value;
}

static void first_level(struct split *split) {
    const struct radix *radix = split->radix;
    for (int b = 0; b < radix->size - 1; b++) {
        split->bounds[b] = (struct bound){.before = (uint64_t)(b + 1) * radix->keys};
        narrow(&split->bounds[b], radix->plan.totals, split->top);
        split->bounds[b].part = (size_t)split->bounds[b].prefix;
    }
}

static void next_level(struct split *split, int rest, int bits) {
    struct radix *radix = split->radix;
    int bounds = radix->size - 1;
    size_t values = (size_t)1 << bits;
    uint64_t mask = values - 1;
    memset(split->mine, 0, (size_t)bounds * values * sizeof *split->mine);
    for (int b = 0; b < bounds; b++) {
        uint64_t *mine = split->mine + (size_t)b * values, prefix = split->bounds[b].prefix;
        size_t part = split->bounds[b].part;
        if (b > 0 && prefix == split->bounds[b - 1].prefix) {
            memcpy(mine, mine - values, values * sizeof *mine);
            continue;
        }
        for (uint64_t i = begin_of(split, part); i < split->ends[part]; i++) {
            uint64_t value = value_of(split, radix->spare, i) >> (rest - bits);
            if (value >> bits == prefix)
                mine[value & mask]++;
        }
    }
    MPI_Allreduce(split->mine, split->all, bounds << bits, MPI_UINT64_T, MPI_SUM, radix->comm);
    for (int b = 0; b < bounds; b++)
        narrow(&split->bounds[b], split->all + (size_t)b * values, bits);
}

// Computes how many keys equal to a bound each rank sends below it: lower ranks fill the room
// first. `bits` are the bits of the last level; 0: there was no level after the parts.
static void share_quotas(struct split *split, int bits) {
    struct radix *radix = split->radix;
    int bounds = radix->size - 1;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    const uint64_t *mine = radix->plan.counts;
    for (int b = 0; b < bounds; b++)
        split->all[b] = bits ? split->mine[((size_t)b << bits) + (split->bounds[b].prefix & mask)]
                             : mine[split->bounds[b].part];
    memset(split->mine, 0, (size_t)bounds * sizeof *split->mine);
    MPI_Exscan(split->all, split->mine, bounds, MPI_UINT64_T, MPI_SUM, radix->comm);
    for (int b = 0; b < bounds; b++) {
        uint64_t before = radix->rank == 0 ? 0 : split->mine[b];
        uint64_t left = split->bounds[b].before > before ? split->bounds[b].before - before : 0;
        split->bounds[b].quota = left < split->all[b] ? left : split->all[b];
    }
}

static void find_bounds(struct split *split) {
    int bits = 0;
    first_level(split);
    for (int rest = split->rest; rest; rest -= bits) {
        bits = rest < split->level ? rest : split->level;
        next_level(split, rest, bits);
    }
    share_quotas(split, bits);
}

// A share begins in the part of one bound and ends in that of the next.
static void tell_parts(struct split *split) {
    struct radix *radix = split->radix;
    int last = radix->size - 1;
    for (int rank = 0; rank <= last; rank++) {
        size_t from = rank ? split->bounds[rank - 1].part : 0;
        size_t to = rank < last ? split->bounds[rank].part : parts_of(split) - 1;
        radix->plan.windows[rank] = (struct window){from, to + 1 - from};
    }
    radix_tell(radix);
    memset(radix->plan.lists, 0, RADIX_LISTS * (size_t)radix->size * sizeof *radix->plan.lists);
}

// Rank of the next key of a part that has a bound; keys must come in their order.
static int decide(struct split *split, uint64_t value) {
    int rank = 0, bounds = split->radix->size - 1;
    for (int b = 0; b < bounds && split->bounds[b].prefix <= value; b++) {
        struct bound *bound = &split->bounds[b];
        if (bound->prefix < value || bound->seen >= bound->quota)
            rank = b + 1;
        bound->seen += bound->prefix == value;
    }
    return rank;
}

// A part with a bound in it: its keys by rank, each rank's in their order.
static void divide(struct split *split, size_t part, int lowest) {
    struct radix *radix = split->radix;
    uint64_t begin = begin_of(split, part), end = split->ends[part], at = begin;
    int *counts = split->first_receives; // not yet in use
    memset(counts, 0, (size_t)radix->size * sizeof *counts);
    for (uint64_t i = begin; i < end; i++)
        counts[decide(split, value_of(split, radix->spare, i))]++;
    for (int b = 0; b < radix->size - 1; b++)
        split->bounds[b].seen = 0;
    for (int rank = lowest; rank < radix->size; rank++) {
        split->lists.sends[rank] += counts[rank];
        if (rank > lowest)
            split->first_sends[rank] = counts[rank];
        uint64_t count = (uint64_t)counts[rank];
        counts[rank] = (int)at;
        at += count;
    }
    memcpy(key_of(split, radix->out, begin), key_of(split, radix->spare, begin),
           (end - begin) * radix_width(radix));
    for (uint64_t i = begin; i < end; i++) {
        int rank = decide(split, value_of(split, radix->out, i));
        memcpy(key_of(split, radix->spare, (uint64_t)counts[rank]++), key_of(split, radix->out, i),
               radix_width(radix));
    }
}

// Goes through the parts and the bounds at once: what lies between two bounds is one rank's.
static void count_sends(struct split *split) {
    struct radix *radix = split->radix;
    int rank = 0, last = radix->size - 1;
    for (size_t part = 0; part < parts_of(split); part++) {
        if (rank == last || split->bounds[rank].part != part) {
            split->lists.sends[rank] += (int)(split->ends[part] - begin_of(split, part));
            continue;
        }
        divide(split, part, rank);
        while (rank < last && split->bounds[rank].part == part)
            rank++;
    }
}

static void exchange(struct split *split) {
    struct radix *radix = split->radix;
    MPI_Alltoall(split->lists.sends, 1, MPI_INT, split->lists.receives, 1, MPI_INT, radix->comm);
    MPI_Alltoall(split->first_sends, 1, MPI_INT, split->first_receives, 1, MPI_INT, radix->comm);
    radix_exchange(radix, &split->lists);
}

// Part by part of the own share: the runs of all ranks, sorted to `out`.
static void sort_parts(struct split *split) {
    struct radix *radix = split->radix;
    const struct window *window = &radix->plan.windows[radix->rank];
    size_t first = window->first, last = first + window->count - 1, at = 0;
    for (size_t part = first; part <= last; part++) {
        size_t sum = 0;
        for (int source = 0; source < radix->size; source++) {
            struct run *run = &split->runs[source];
            bool own = source == radix->rank;
            // A run begins where that of the part before has ended.
            if (part == first)
                *run = (struct run){key_of(split, own ? radix->spare : radix->in,
                                           (uint64_t)(own ? split->lists.send_at
                                                          : split->lists.receive_at)[source]),
                                    0};
            else
                run->keys = (const char *)run->keys + run->count * radix_width(radix);
            uint64_t left = (uint64_t)split->lists.receives[source];
            uint64_t count = radix->plan.comes[(size_t)source * window->count + part - first];
            if (part == first && radix->rank)
                count = (uint64_t)split->first_receives[source];
            if (part == last) // the rest, whatever it is
                count = left;
            run->count = (size_t)(count < left ? count : left);
            split->lists.receives[source] -= (int)run->count;
            sum += run->count;
        }
        void *to = (char *)radix->out + at * radix_width(radix);
        radix_part(split->runs, radix->size, to, radix->work, radix->wide, radix->digits.low,
                   split->rest);
        at += sum;
    }
    radix_swap(radix);
}

static void sort(struct split *split) {
    struct radix *radix = split->radix;
    cut(split);
    double begin = program_mark(radix->clock);
    find_bounds(split);
    tell_parts(split);
    double found = program_mark(radix->clock);
    count_sends(split);
    exchange(split);
    sort_parts(split);
    radix->account.phase_s[RADIX_SCAN] += found - begin;
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - found;
}

// One piece: bounds, runs, and the counters of the search. With many ranks fewer bits are looked
// for at a time, so that the counters of all bounds stay as many.
void radix_split_open(struct radix *radix, struct failure *failure) {
    size_t ranks = (size_t)radix->size;
    int level = LEVEL_MOST;
    while (level > 1 && ranks << level > SEARCHED_MOST)
        level--;
    int top = radix_top(radix->keys, radix->digits.bits);
    size_t searched = ranks << level, parts = (size_t)1 << top;
    struct split *split = radix->own =
        malloc(sizeof *split + ranks * (sizeof *split->bounds + sizeof *split->runs) +
               (2 * searched + parts) * sizeof *split->mine);
    if (!split) {
        failure_set(failure, STATUS_USAGE, "no memory for the bounds between %d ranks",
                    radix->size);
        return;
    }
    *split = (struct split){.radix = radix,
                            .top = top,
                            .rest = radix->digits.bits - top,
                            .level = level,
                            .bounds = (struct bound *)(split + 1),
                            .lists = radix_lists(radix),
                            .first_sends = radix->plan.lists + 4 * ranks,
                            .first_receives = radix->plan.lists + 5 * ranks};
    split->runs = (struct run *)(split->bounds + ranks);
    split->mine = (uint64_t *)(split->runs + ranks);
    split->all = split->mine + searched;
    split->ends = split->all + searched;
}

// Keys that carry nothing and have few bits are sorted in one pass over all of them: counts of
// every value are added up over the ranks, and every rank writes its share of the sorted keys.
// Fewer bytes go between ranks than in any sort that sends the keys.

enum { KEYS_A_VALUE = 4 }; // on each rank, at least: below that keys are sent in fewer bytes
enum { BITS_MOST = 20 };   // counts of more values are too far from the processor

// Whether keys consist of few bits and nothing else. The number of keys of each value then
// describes all keys.
static bool radix_countable(const struct radix *radix) {
    int bits = radix->digits.bits;
    return !radix->tagged && radix->digits.low == 0 && bits <= BITS_MOST &&
           (uint64_t)radix->keys >> bits >= KEYS_A_VALUE;
}

RADIX_ALWAYS void count_values(bool wide, const void *keys, size_t count, uint32_t *counts) {
    for (size_t i = 0; i < count; i++)
        counts[radix_key(keys, i, wide)]++;
}

// Writes several keys at once without a check of `count`: most values have few keys. The keys of
// the next value overwrite any surplus. `room` is the space left for the surplus.
RADIX_ALWAYS void repeat(bool wide, void *to, uint64_t key, size_t count, size_t room) {
    enum { AT_ONCE = 16 };
    size_t i = 0;
    if (room >= AT_ONCE)
        for (; i < AT_ONCE; i++) {
            radix_put(to, i, key, wide);
        }
    for (; i < count; i++) {
        radix_put(to, i, key, wide);
    }
}

// The share of this rank, which begins within the keys of some value. Counts that were damaged on
// the way may end too early; then old keys are left, and the check finds them.
static void write_share(const struct radix *radix, const uint32_t *counts, size_t values) {
    uint64_t before = (uint64_t)radix->rank * radix->keys, value = 0;
    while (value < values && before >= counts[value])
        before -= counts[value++];
    char *to = radix->in;
    for (size_t room = radix->keys; room && value < values; value++) {
        size_t count = (size_t)(counts[value] - before);
        count = count < room ? count : room;
        RADIX_BY_WIDTH(radix->wide, repeat, to, value, count, room);
        to += count * radix_width(radix);
        room -= count;
        before = 0;
    }
}

// Sorts such keys; ranks exchange counts, not keys.
static void radix_counted(struct radix *radix) {
    size_t values = (size_t)1 << radix->digits.bits;
    uint32_t *mine = radix->spare, *all = radix->work;
    double begin = program_mark(radix->clock);
    memset(mine, 0, values * sizeof *mine);
    RADIX_BY_WIDTH(radix->wide, count_values, radix->in, radix->keys, mine);
    double counted = program_mark(radix->clock);
    MPI_Allreduce(mine, all, (int)values, MPI_UINT32_T, MPI_SUM, radix->comm);
    radix_sent(radix, 1, (double)(values * sizeof *mine) / (double)radix_width(radix));
    double told = program_mark(radix->clock);
    write_share(radix, all, values);
    radix->account.phase_s[RADIX_HISTOGRAM] += counted - begin;
    radix->account.phase_s[RADIX_SCAN] += told - counted;
    radix->account.phase_s[RADIX_PERMUTATION] += program_mark(radix->clock) - told;
}

void radix_split(struct radix *radix) {
    if (radix_countable(radix))
        radix_counted(radix);
    else
        sort(radix->own);
}
