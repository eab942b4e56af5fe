// SPDX-License-Identifier: BSD-3-Clause
// Timers: read alike, each examined before it is trusted.
#include "clock.h"

#include <mpi.h>
#include <sys/time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

const char clock_choices[] = "auto|wtime|monotonic|monotonic-raw|gettimeofday|" CLOCK_COUNTER_NAME;
static const char *const names[] = {"wtime", "monotonic", "monotonic-raw", "gettimeofday",
                                    CLOCK_COUNTER_NAME};

// A disturbed calibration is repeated. No counter makes so many ticks in the 50 ms of a
// calibration; if one does, the reference clock stands still.
enum { CALIBRATIONS = 3 };
static const uint64_t GIVE_UP_TICKS = 1000000000u;

const char *clock_name(enum clock_kind kind) {
    return names[kind];
}

// The time of day, which MPIPerf and older tools use. Its unit is the microsecond, and an
// administrator can set it.
#define OF_DAY ((clockid_t)-1)

static uint64_t nanoseconds(clockid_t id) {
    struct timespec t;
    if (id == OF_DAY) {
        struct timeval day;
        gettimeofday(&day, NULL);
        return (uint64_t)day.tv_sec * 1000000000u + (uint64_t)day.tv_usec * 1000u;
    }
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#if defined(__x86_64__)
// The fence waits for all earlier instructions, for two thirds of the cost of rdtscp and a fence.
// A serialising cpuid would leave a virtual machine at every call: microseconds.
static uint64_t counter(void) {
    _mm_lfence();
    return __rdtsc();
}

static uint64_t counter_loose(void) {
    return __rdtsc();
}

// The kernel compares the counters of the CPUs, and does not offer them when they differ.
static bool kernel_distrusts(void) {
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/available_clocksource", "r");
    char offered[256] = "";
    bool known = file && fgets(offered, sizeof offered, file);
    if (file)
        fclose(file);
    return known && !strstr(offered, "tsc");
}

static const char *counter_refused(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return "this CPU's time stamp counter is not invariant";
    if (kernel_distrusts())
        return "the kernel found the CPUs' counters unsteady or apart";
    return NULL;
}

// The CPU does not state it reliably.
static double counter_hertz(void) {
    return 0;
}
#elif defined(__aarch64__)
// The virtual counter, which has one value and one rate on all CPUs. The barrier waits for all
// earlier instructions.
static uint64_t counter(void) {
    uint64_t now;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now) : : "memory");
    return now;
}

static uint64_t counter_loose(void) {
    uint64_t now;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
}

static const char *counter_refused(void) {
    return NULL;
}

// As the firmware states it.
static double counter_hertz(void) {
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return (double)hertz;
}
#else
static uint64_t counter(void) {
    return 0;
}

static uint64_t counter_loose(void) {
    return 0;
}

static const char *counter_refused(void) {
    return "only x86-64 and aarch64 have one that programs can read";
}

static double counter_hertz(void) {
    return 0;
}
#endif

// Returns a reading of the counter together with one of the system's clock: the try, of many,
// whose two readings of the counter are closest.
static double paired(uint64_t *ticks) {
    uint64_t closest = UINT64_MAX;
    double seconds = 0;
    for (int i = 0; i < 200; i++) {
        uint64_t before = counter(), ns = nanoseconds(CLOCK_MONOTONIC_RAW), after = counter();
        if (after - before < closest) {
            closest = after - before;
            *ticks = before + (after - before) / 2;
            seconds = (double)ns * 1e-9;
        }
    }
    return seconds;
}

// Returns the seconds per tick, against CLOCK_MONOTONIC_RAW over 50 ms (error about 1e-6 of a
// duration). 0: the rates of both halves differ, so that one of the two clocks is not steady.
static double counter_scale_once(void) {
    static const double half_s = 0.025, alike = 5e-5;
    uint64_t ticks[3];
    double at[3], rate[2];
    at[0] = paired(&ticks[0]);
    for (int i = 1; i < 3; i++) {
        while (nanoseconds(CLOCK_MONOTONIC_RAW) * 1e-9 < at[0] + i * half_s)
            if (counter() - ticks[0] > GIVE_UP_TICKS)
                return 0;
        at[i] = paired(&ticks[i]);
        if (ticks[i] <= ticks[i - 1])
            return 0;
        rate[i - 1] = (at[i] - at[i - 1]) / (double)(ticks[i] - ticks[i - 1]);
    }
    if (!(fabs(rate[0] / rate[1] - 1) < alike))
        return 0;
    return (at[2] - at[0]) / (double)(ticks[2] - ticks[0]);
}

// Returns the seconds per tick; 0 with the reason in `why`. A stated rate is exact if the measured
// rate agrees with it.
static double counter_scale(const char **why) {
    static const double alike = 1e-3;
    double scale = 0, hertz = counter_hertz();
    for (int i = 0; i < CALIBRATIONS && scale <= 0; i++)
        scale = counter_scale_once();
    if (scale <= 0)
        *why = "its rate against the system's clock is not steady";
    else if (hertz > 0 && !(fabs(scale * hertz - 1) < alike))
        *why = "its rate is not the one that the firmware states";
    return scale > 0 && hertz > 0 ? 1 / hertz : scale;
}

static clockid_t system_clock(enum clock_kind kind) {
    return kind == CLOCK_MONO ? CLOCK_MONOTONIC : kind == CLOCK_DAY ? OF_DAY : CLOCK_MONOTONIC_RAW;
}

static uint64_t ticks(enum clock_kind kind) {
    return kind == CLOCK_COUNTER ? counter() : nanoseconds(system_clock(kind));
}

static double seconds_of(const struct clock *clock, uint64_t at) {
    return (double)(int64_t)(at - clock->origin) * clock->scale + clock->shift;
}

double clock_now(const struct clock *clock) {
    if (clock->kind == CLOCK_WTIME)
        return (MPI_Wtime() - clock->zero) * clock->scale + clock->shift;
    return seconds_of(clock, ticks(clock->kind));
}

// One function for each kind, small and without a branch between the readings. The code after the
// spinning is then in the cache, because the code of the spinning is. A loop that compares each
// reading needs no fence, and is finer without. Ticks of a row are kept in the room of the
// seconds, which they become afterwards.
#define READING(kind, reading, loose)                                                             \
    static uint64_t wait_##kind(clockid_t id, uint64_t until) {                                   \
        uint64_t now;                                                                             \
        (void)id;                                                                                 \
        do                                                                                        \
            now = loose;                                                                          \
        while ((int64_t)(now - until) < 0);                                                       \
        return now;                                                                               \
    }                                                                                             \
    static void time_##kind(clockid_t id, uint64_t from, void (*run)(void *, long), void *state,  \
                            long calls, uint64_t at[2]) {                                         \
        uint64_t begin = reading;                                                                 \
        (void)id;                                                                                 \
        while ((int64_t)(begin - from) < 0)                                                       \
            begin = loose;                                                                        \
        run(state, calls);                                                                        \
        at[1] = reading;                                                                          \
        at[0] = begin;                                                                            \
    }                                                                                             \
    static void row_##kind(clockid_t id, void (*run)(void *, long), void *state, long calls,      \
                           double *at, long count) {                                              \
        uint64_t tick = reading;                                                                  \
        (void)id;                                                                                 \
        memcpy(at, &tick, sizeof tick);                                                           \
        for (long i = 1; i <= count; i++) {                                                       \
            run(state, calls);                                                                    \
            tick = reading;                                                                       \
            memcpy(at + i, &tick, sizeof tick);                                                   \
        }                                                                                         \
    }
READING(counter, counter(), counter_loose())
READING(system, nanoseconds(id), nanoseconds(id))
_Static_assert(sizeof(double) == sizeof(uint64_t), "a tick has the room of a double");

// Returns the first tick whose reading is not earlier than a moment. The product of an integer
// number of ticks and their length may be rounded to a little less than the moment.
static uint64_t tick_of(const struct clock *clock, double moment_s) {
    uint64_t at =
        clock->origin + (uint64_t)(int64_t)ceil((moment_s - clock->shift) / clock->scale);
    return at + (seconds_of(clock, at) < moment_s);
}

double clock_wait(const struct clock *clock, double until_s) {
    if (clock->kind == CLOCK_WTIME) {
        double now = clock_now(clock);
#ifdef COTEJO_SIMULATED // each reading is an event: the time passes in one, but for its last part
        double left_s = fmax(until_s - now, 0);
        const struct timespec left = {(time_t)left_s, (long)(1e9 * fmod(left_s, 1))};
        nanosleep(&left, NULL);
#endif
        while (now < until_s)
            now = clock_now(clock);
        return now;
    }
    uint64_t until = tick_of(clock, until_s);
    clockid_t id = system_clock(clock->kind);
    return seconds_of(clock,
                      (clock->kind == CLOCK_COUNTER ? wait_counter : wait_system)(id, until));
}

struct span clock_time(const struct clock *clock, double from_s, void (*run)(void *, long),
                       void *state, long calls) {
    struct span span;
    if (clock->kind == CLOCK_WTIME) {
        span.begin_s = from_s > -INFINITY ? clock_wait(clock, from_s) : clock_now(clock);
        run(state, calls);
        span.end_s = clock_now(clock);
        return span;
    }
    uint64_t at[2], from = clock->origin; // in the past: no spinning
    if (from_s > -INFINITY)
        from = tick_of(clock, from_s);
    if (clock->kind == CLOCK_COUNTER)
        time_counter(0, from, run, state, calls, at);
    else
        time_system(system_clock(clock->kind), from, run, state, calls, at);
    span.begin_s = seconds_of(clock, at[0]);
    span.end_s = seconds_of(clock, at[1]);
    return span;
}

void clock_dilate(struct clock *clock, double dilation) {
    clock->scale /= dilation;
    clock->dilation *= dilation;
    clock->resolution_s /= dilation;
    clock->overhead_s /= dilation;
}

void clock_row(const struct clock *clock, void (*run)(void *, long), void *state, long calls,
               double *at, long count) {
    if (clock->kind == CLOCK_WTIME) {
        at[0] = clock_now(clock);
        for (long i = 1; i <= count; i++) {
            run(state, calls);
            at[i] = clock_now(clock);
        }
        return;
    }
    if (clock->kind == CLOCK_COUNTER)
        row_counter(0, run, state, calls, at, count);
    else
        row_system(system_clock(clock->kind), run, state, calls, at, count);
    for (long i = 0; i <= count; i++) {
        uint64_t tick;
        memcpy(&tick, at + i, sizeof tick);
        at[i] = seconds_of(clock, tick);
    }
}

void clock_disturb(struct clock *clock, double offset_s, double drift) {
    clock->scale *= 1 + drift;
    clock->shift += offset_s;
    clock->disturbed = offset_s != 0 || drift != 0;
}

// The step of a clock whose calls are further apart than its steps: the smallest difference
// between two distances of consecutive readings. The kernel's own statement (clock_getres) is
// always 1 ns.
static double step_of(const struct clock *clock) {
    enum { CALLS = 10000 };
    uint64_t last = ticks(clock->kind), before = 0, least = UINT64_MAX;
    for (int i = 0; i < CALLS; i++) {
        uint64_t now = ticks(clock->kind), apart = now - last;
        uint64_t differs = apart > before ? apart - before : before - apart;
        if (i > 0 && differs > 0 && differs < least)
            least = differs;
        before = apart;
        last = now;
    }
    return least == UINT64_MAX ? INFINITY : (double)least * clock->scale;
}

// Steps, cost and direction, from batches of calls. Bounded: 50 batches of 200 calls.
static void examine(struct clock *clock) {
#ifdef COTEJO_SIMULATED
    enum { BATCHES = 2, CALLS = 5 }; // each call is an event of the simulation, and all are alike
#else
    enum { BATCHES = 50, CALLS = 200 };
#endif
    double last = clock_now(clock);
    clock->resolution_s = INFINITY;
    clock->overhead_s = INFINITY;
    clock->monotonic = true;
    for (int b = 0; b < BATCHES; b++) {
        double begin = last, now = last;
        for (int i = 0; i < CALLS; i++) {
            now = clock_now(clock);
            if (now < last)
                clock->monotonic = false;
            else if (now > last && now - last < clock->resolution_s)
                clock->resolution_s = now - last;
            last = now;
        }
        if (now > begin && (now - begin) / CALLS < clock->overhead_s)
            clock->overhead_s = (now - begin) / CALLS;
    }
    if (isfinite(clock->resolution_s) &&
        (clock->kind == CLOCK_MONO || clock->kind == CLOCK_MONO_RAW))
        clock->resolution_s = fmin(clock->resolution_s, step_of(clock));
}

static void open_kind(struct clock *clock, enum clock_kind kind, struct failure *failure) {
    *clock = (struct clock){.kind = kind, .scale = 1e-9, .dilation = 1};
    const char *why = kind == CLOCK_COUNTER ? counter_refused() : NULL;
    if (!why && kind == CLOCK_COUNTER)
        clock->scale = counter_scale(&why);
    if (!why) {
        if (kind == CLOCK_WTIME) {
            clock->scale = 1;
            clock->zero = MPI_Wtime();
        } else {
            clock->origin = ticks(kind);
        }
        examine(clock);
        if (!clock->monotonic || !isfinite(clock->resolution_s))
            why = clock->monotonic ? "stands still here" : "goes backwards here";
    }
    if (why)
        failure_set(failure, STATUS_USAGE,
                    "timer '%s' failed its check: %s; choose another with "
                    "--timer",
                    names[kind], why);
}

void clock_open(struct clock *clock, const char *name, struct failure *failure) {
    bool finest = strcmp(name, "auto") == 0; // that passes its checks
    struct failure refused = {0};
    enum clock_kind kind = finest ? CLOCK_COUNTER : 0;
    while (!finest && strcmp(name, names[kind]) != 0)
        kind++;
    open_kind(clock, kind, finest ? &refused : failure);
    if (!failed(&refused))
        return;
    open_kind(clock, CLOCK_MONO_RAW, failure);
    snprintf(clock->instead, sizeof clock->instead, "%.*s", (int)strcspn(refused.text, ";"),
             refused.text);
}

void clock_open_alike(struct clock *clock, const char *name, MPI_Comm comm,
                      struct failure *failure) {
    clock_open(clock, name, failure);
    int fell_back = *clock->instead != 0, any;
    PMPI_Allreduce(&fell_back, &any, 1, MPI_INT, MPI_MAX, comm);
    if (any && !fell_back) {
        open_kind(clock, CLOCK_MONO_RAW, failure);
        snprintf(clock->instead, sizeof clock->instead, "timer '%s' failed another rank's check",
                 names[CLOCK_COUNTER]);
    }
}

void clock_describe(const struct clock *clock, struct json *json) {
    json_open(json, '{');
    json_member(json, "name", string, clock_name(clock->kind));
    json_member(json, "resolution_s", real, clock->resolution_s);
    json_member(json, "overhead_s", real, clock->overhead_s);
    json_member(json, "monotonic", boolean, clock->monotonic);
    json_member(json, "instead", string, clock->instead);
    json_close(json, '}');
}
