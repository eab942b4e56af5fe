// SPDX-License-Identifier: BSD-3-Clause
// Measures the start of a program: MPI_Init, the first communication, sessions.
#include "experiment.h"

#ifdef COTEJO_SESSIONS
// A session and what can be made of it, so many times in a row.
struct session {
    int size;                         // ranks that must be in its communicator
    bool counted;                     // whether they were
    MPI_Errhandler errors, of_worlds; // handlers of sessions and of their communicators
};

static void run_session(void *state, long calls) {
    const struct session *own = state;
    for (long i = 0; i < calls; i++) {
        MPI_Session session;
        MPI_Session_init(MPI_INFO_NULL, own->errors, &session);
        MPI_Session_finalize(&session);
    }
}

static void run_world(void *state, long calls) {
    struct session *own = state;
    for (long i = 0; i < calls; i++) {
        MPI_Session session;
        MPI_Group all;
        MPI_Comm comm;
        int size;
        MPI_Session_init(MPI_INFO_NULL, own->errors, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
        MPI_Comm_create_from_group(all, "cotejo", MPI_INFO_NULL, own->of_worlds, &comm);
        MPI_Comm_size(comm, &size);
        own->counted = size == own->size;
        MPI_Comm_free(&comm);
        MPI_Group_free(&all);
        MPI_Session_finalize(&session);
    }
}

static void check_world(const struct operation *operation, unsigned round,
                        struct failure *failure) {
    struct session *own = operation->state;
    (void)round;
    operation->run(own, 1);
    if (!own->counted)
        failure_set(failure, STATUS_FAILED,
                    "the communicator of a session's mpi://WORLD has not the %d ranks that were "
                    "started; do not trust this MPI's sessions",
                    own->size);
}
#endif

// One row: the time of the rank that took longest. Collective.
static void keep(struct bench *bench, const char *operation, double own_s) {
    double time_s;
    MPI_Reduce(&own_s, &time_s, 1, MPI_DOUBLE, MPI_MAX, 0, bench->comm);
    if (bench->rank != 0)
        return;
    samples_quantity(&bench->samples, operation, QUANTITY_OWN, &bench->failure);
    samples_add(
        &bench->samples,
        (struct sample){.operation = operation, .calls = 1, .time_s = time_s, .valid = true},
        &bench->failure);
}

static void measure_sessions(struct bench *bench) {
#ifdef COTEJO_SESSIONS
    struct session session = {.errors = errors_of_sessions()};
    MPI_Comm_size(MPI_COMM_WORLD, &session.size);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &session.of_worlds);
    struct operation operations[] = {
        {.name = "startup-session", .run = run_session, .state = &session},
        {.name = "startup-session-world",
         .run = run_world,
         .around = &(const struct around){.check = check_world},
         .state = &session}};
    struct sampler sampler;
    sampler_open(&sampler, bench, false);
    for (int i = 0; i < 2 && !failed(&bench->failure); i++)
        sampler_measure(&sampler, &operations[i]);
    sampler_close(&sampler);
    MPI_Errhandler_free(&session.errors);
    MPI_Errhandler_free(&session.of_worlds);
#else
    if (bench->rank == 0)
        printf("# sessions left out: this MPI has none (MPI 4)\n");
#endif
}

static void run(struct bench *bench) {
    keep(bench, "startup-init", bench->init_s);
    keep(bench, "startup-first-barrier", bench->first_barrier_s);
    keep(bench, "startup-first-alltoall", bench->first_alltoall_s);
    ranks_agree(bench->comm, &bench->failure, false);
    bench_print(bench);
    if (!failed(&bench->failure))
        measure_sessions(bench);
}

static const struct option startup_options[] = {SAMPLER_START_ROW("barrier"), {0}};

const struct experiment startup = {
    .name = "startup",
    .summary = "MPI_Init, the first communication of all ranks, sessions",
    .what = "Times before a program's own work, each of the rank that took longest. "
            "startup-init: MPI_Init;\nstartup-first-barrier: the first barrier, in which the "
            "others wait for the rank that was started last;\nstartup-first-alltoall: behind it a "
            "byte from each rank to each, which opens every connection; these three are\none "
            "sample a launch. startup-session: MPI_Session_init to MPI_Session_finalize while MPI "
            "runs;\nstartup-session-world: the same with a communicator of all ranks.",
    .ordered = true,
    .startup = true,
    .options = {startup_options, sampler_options, stop_options, sync_options},
    .columns = sampler_columns,
    .run = run,
};
