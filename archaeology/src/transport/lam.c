// SPDX-License-Identifier: BSD-3-Clause
// LAM/MPI 7: an MPI of the first standard, too old for the benchmark itself.
#include "carrier.h"
#include "lam_calls.h"

static void lam_open(struct ways *ways) {
    (void)ways; // the library's own launcher has done it
}

static void lam_close(struct ways *ways) {
    (void)ways;
    lam_end();
}

static void lam_send(struct ways *ways, int to, const char *bytes, size_t count) {
    (void)ways;
    lam_give(to, bytes, count);
}

static void lam_receive(struct ways *ways, int from, char *bytes, size_t count) {
    (void)ways;
    lam_take(from, bytes, count);
}

static void lam_send_all(struct ways *ways, const char *bytes, size_t count) {
    (void)ways;
    lam_share((char *)bytes, count);
}

static void lam_receive_all(struct ways *ways, char *bytes, size_t count) {
    (void)ways;
    lam_share(bytes, count);
}

// The launcher selects the module (-ssi rpi) before the program starts.
#define LAM_CARRIER(id, what)                                                                     \
    static const struct carrier id##_carrier = {.name = #id,                                      \
                                                .summary = what,                                  \
                                                .open = lam_open,                                 \
                                                .close = lam_close,                               \
                                                .send = lam_send,                                 \
                                                .receive = lam_receive,                           \
                                                .send_all = lam_send_all,                         \
                                                .receive_all = lam_receive_all}
LAM_CARRIER(tcp, "LAM, its module tcp");
LAM_CARRIER(lamd, "LAM, by way of its daemons");

const struct carrier *const carriers[] = {&tcp_carrier, &lamd_carrier, NULL};

const struct option carrier_options[] = {
    {"transport", OPTION_CHOICE, "tcp", "", "tcp|lamd", 0, 0,
     "module of LAM, as given to mpirun by -ssi rpi"},
    {0},
};

const char *library_version(void) {
    return lam_version();
}

int library_rank(void) {
    return lam_start();
}
