// SPDX-License-Identifier: BSD-3-Clause
// Injects the slowdown that COTEJO_SLOW describes:
//
//   SHARE            calls take longer by this share of their own time (0.05: 5 %).
//   fixed:S          every call takes S seconds more.
//   tail:P:S         one call in 1/P, drawn at random, takes S seconds more.
//   launch:P:SHARE   with probability P all calls of this launch take longer by SHARE, else none.
//   levels:P:SHARE   calls take longer by SHARE or by nothing; before each call the level changes
//                    with probability P.
//
// All draws depend on COTEJO_SLOW_SEED, so that a launch can be repeated.
//
// A call that starts a message only notes its share; the next call that ends a message waits for
// both. A wait after a send would pass while the peer still copies the message, and slow nothing.
// The slowdowns per call (fixed, tail, levels) apply only to calls that end something: an
// operation has one of them.
//
// Only one rank is slowed, COTEJO_SLOW_RANK (0). It waits for its peers inside its own calls, so
// the delays of several ranks would be part of one another's calls and add up. An operation that
// this rank spends in MPI calls only, such as a ping-pong, then takes 1 + SHARE times as long. If
// another rank's time counts, slow that rank. COTEJO_SLOW_INIT=no exempts MPI_Init, by far the
// longest call, during which the other rank does the rest of its start. It also exempts the next
// call that ends something: that call waits milliseconds for the rank that was started last, and
// the other rank would wait for a share of them in its next call. The share 0 keeps the clock
// reads, which both groups of a comparison must have in common.
#include "delay.h"

#include "random.h"

#include <mpi.h>

enum kind { SHARE, FIXED, TAIL, LAUNCH, LEVELS };

// State of this process; the hooks have no argument that could carry it.
static struct {
    bool here, init;
    bool spares; // the next call that ends something; before there are threads
    enum kind kind;
    double chance, share, fixed_s;
    double reading_s; // what a reading of the clock takes
    uint64_t seed;
} slow;

// State of each thread.
static _Thread_local struct {
    double owed_s;
    uint64_t state;
    bool seeded, upper;
} own;

bool delay_here(void) {
    return slow.here;
}

bool delay_of_init(void) {
    return slow.here && slow.init;
}

// Uniform in [0, 1); threads draw the same.
static double draw(void) {
    if (!own.seeded)
        own.state = slow.seed;
    own.seeded = true;
    return random_share(&own.state);
}

// By which share the call that ended just now is to be longer.
static double share_now(enum role role) {
    if (slow.kind != LEVELS)
        return slow.share;
    if (role == ENDS && draw() < slow.chance)
        own.upper = !own.upper;
    return own.upper ? slow.share : 0;
}

void delay_owe(double begin, enum role role) {
    double end = monotonic_s();
    own.owed_s += share_now(role) * (end - begin);
    if (role == STARTS)
        return;
    if (slow.spares) {
        slow.spares = false;
        own.owed_s = 0;
        return;
    }
    if (slow.kind == FIXED || (slow.kind == TAIL && draw() < slow.chance))
        own.owed_s += slow.fixed_s;
    // A delay shorter than a reading of the clock is added up, because it would come out too long.
    // A longer delay is not added up: it would be in some calls only, and a median of single calls
    // would miss it.
    if (own.owed_s < slow.reading_s)
        return;
    double until = end + own.owed_s, at = end;
    while (at < until)
        at = monotonic_s();
    // Too long by a reading counts for the next call; by an interruption it does not.
    own.owed_s = at - until < 2 * slow.reading_s ? until - at : 0;
}

// The mean of the quickest of some batches.
static double reading(void) {
    enum { BATCHES = 10, READINGS = 100 };
    double least = 1;
    for (int b = 0; b < BATCHES; b++) {
        double begin = monotonic_s(), end = begin;
        for (int i = 0; i < READINGS; i++)
            end = monotonic_s();
        if (end - begin < least)
            least = end - begin;
    }
    return least / READINGS;
}

// Reads the number at the beginning of a text, from 0 to `most`; returns the text after it. NULL:
// there is no such number.
static const char *number(const char *text, double most, double *value) {
    char *rest;
    *value = strtod(text, &rest);
    return rest != text && *value >= 0 && *value <= most ? rest : NULL;
}

static bool parsed(const char *text) {
    static const struct {
        const char *name;
        enum kind kind;
        bool chance, timed;
    } kinds[] = {
        {"fixed:", FIXED, false, true},
        {"tail:", TAIL, true, true},
        {"launch:", LAUNCH, true, false},
        {"levels:", LEVELS, true, false},
    };
    bool chance = false, timed = false;
    slow.kind = SHARE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(text, kinds[i].name, strlen(kinds[i].name))) {
            text += strlen(kinds[i].name);
            slow.kind = kinds[i].kind;
            chance = kinds[i].chance;
            timed = kinds[i].timed;
        }
    if (chance) {
        text = number(text, 1, &slow.chance);
        if (!text || *text++ != ':')
            return false;
    }
    text = timed ? number(text, 1, &slow.fixed_s) : number(text, 10, &slow.share);
    return text && !*text;
}

// Reads an integer from the environment; 0 if the variable is unset; false: not an integer.
static bool whole(const char *name, uint64_t *value) {
    const char *text = getenv(name);
    char *rest;
    *value = 0;
    if (!text)
        return true;
    errno = 0;
    *value = strtoull(text, &rest, 10);
    if (*text >= '0' && *text <= '9' && !*rest && !errno)
        return true;
    fprintf(stderr, "cotejo-slow: %s=%s is not an unsigned integer\n", name, text);
    return false;
}

// Reads yes or no from the environment; yes if the variable is unset; false: neither word.
static bool yes(const char *name, bool *value) {
    const char *text = getenv(name);
    *value = !text || strcmp(text, "no") != 0;
    if (!text || !*value || strcmp(text, "yes") == 0)
        return true;
    fprintf(stderr, "cotejo-slow: %s=%s: give yes or no\n", name, text);
    return false;
}

void delay_read(void) {
    const char *given = getenv("COTEJO_SLOW");
    bool wrong = !given || !parsed(given);
    uint64_t slowed = 0;
    int rank, ranks;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (wrong)
        fprintf(stderr,
                "cotejo-slow: COTEJO_SLOW=%s is no delay: a share from 0 to 10 (0.05 adds 5 %%), "
                "fixed:S, tail:P:S, launch:P:SHARE or levels:P:SHARE\n",
                given ? given : "");
    else
        wrong = !whole("COTEJO_SLOW_SEED", &slow.seed) || !whole("COTEJO_SLOW_RANK", &slowed) ||
                !yes("COTEJO_SLOW_INIT", &slow.init);
    if (!wrong && slowed >= (uint64_t)ranks) {
        wrong = true;
        fprintf(stderr, "cotejo-slow: COTEJO_SLOW_RANK=%llu: there are ranks 0 to %d\n",
                (unsigned long long)slowed, ranks - 1);
    }
    if (wrong) {
        // All ranks read the same. An abort may be quicker than what was said.
        PMPI_Finalize();
        exit(2);
    }
    slow.here = (uint64_t)rank == slowed;
    slow.spares = !slow.init;
    slow.reading_s = reading();
    if (slow.kind == LAUNCH && draw() >= slow.chance)
        slow.share = 0;
}
