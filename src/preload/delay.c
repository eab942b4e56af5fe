// SPDX-License-Identifier: BSD-3-Clause
// What COTEJO_SLOW plants:
//
//   SHARE            calls take longer by this share of their own time (0.05: 5 %)
//   fixed:S          every call takes S seconds more
//   tail:P:S         one call in 1/P, drawn at random, takes S seconds more
//   launch:P:SHARE   with probability P all calls of this launch take longer by SHARE, else none
//   levels:P:SHARE   calls take longer by SHARE or by nothing; before each call the level changes
//                    with probability P
//
// What is drawn is drawn from COTEJO_SLOW_SEED, so that a launch can be had again.
//
// A call that starts a message only owes its share, and the next call that ends one waits for
// both: a wait after a send would pass while the peer still copies the message, and slow nothing.
// What is planted by calls (fixed, tail, levels) is planted into those that end something: an
// operation has one of them.
//
// Only rank 0 is slowed: it waits for its peers inside its own calls, so the delays of several
// ranks would be part of one another's calls and grow beyond what was planted. Of an operation
// that rank 0 spends in MPI calls only, such as a ping-pong, the time is then 1 + SHARE times as
// long. The share 0 keeps the clock reads, which are what the sides of a comparison must have in
// common.
#include "delay.h"

#include "random.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum kind { SHARE, FIXED, TAIL, LAUNCH, LEVELS };

// Of this process: the hooks have no argument to carry it in.
static struct {
    bool here;
    enum kind kind;
    double chance, share, fixed_s;
    uint64_t seed;
} slow;

// Of each thread.
static _Thread_local struct {
    double owed_s;
    uint64_t state;
    bool seeded, upper;
} own;

// A delay shorter than the cost of reading the clock would come out too long: it is owed.
static const double least_s = 0.5e-6;

double delay_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool delay_here(void) {
    return slow.here;
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
    double end = delay_now();
    own.owed_s += share_now(role) * (end - begin);
    if (role == STARTS)
        return;
    if (slow.kind == FIXED || (slow.kind == TAIL && draw() < slow.chance))
        own.owed_s += slow.fixed_s;
    if (own.owed_s < least_s)
        return;
    double until = end + own.owed_s, at = end;
    while (at < until)
        at = delay_now();
    // Too long by a clock read counts for the next call; by an interruption it does not.
    own.owed_s = at - until < least_s ? until - at : 0;
}

// The number at the beginning of a text, from 0 to `most`; where it goes on. NULL: there is none.
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

static bool seeded(const char *text) {
    char *rest;
    if (!text)
        return true;
    errno = 0;
    slow.seed = strtoull(text, &rest, 10);
    return *text >= '0' && *text <= '9' && !*rest && !errno;
}

void delay_read(void) {
    const char *given = getenv("COTEJO_SLOW"), *seed = getenv("COTEJO_SLOW_SEED");
    const char *wrong = !given || !parsed(given) ? "COTEJO_SLOW" : NULL;
    int rank;
    if (wrong)
        fprintf(stderr,
                "cotejo-slow: COTEJO_SLOW=%s is no delay: a share from 0 to 10 (0.05 adds 5 %%), "
                "fixed:S, tail:P:S, launch:P:SHARE or levels:P:SHARE\n",
                given ? given : "");
    else if (!seeded(seed)) {
        wrong = "COTEJO_SLOW_SEED";
        fprintf(stderr, "cotejo-slow: COTEJO_SLOW_SEED=%s is no whole number\n", seed);
    }
    if (wrong) {
        // All ranks read the same. An abort may be quicker than what was said.
        PMPI_Finalize();
        exit(2);
    }
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    slow.here = rank == 0;
    if (slow.kind == LAUNCH && draw() >= slow.chance)
        slow.share = 0;
}
