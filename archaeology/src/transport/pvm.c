// SPDX-License-Identifier: BSD-3-Clause
// PVM 3: messages by way of the daemons, or by connections of the tasks themselves.
#include "carrier.h"
#include "ranks.h"

#include <errno.h>
#include <pvm3.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 7 };

static int tasks[RANKS_MOST];
static char group[] = "cotejo"; // PVM only reads it

// Raw bytes; integers in XDR, so that the conversion is in the time; or bytes left in place.
static int packing(const struct ways *ways) {
    return options_is(ways->options, "packing", "xdr")        ? PvmDataDefault
           : options_is(ways->options, "packing", "in-place") ? PvmDataInPlace
                                                              : PvmDataRaw;
}

static void said(struct ways *ways, int code, const char *what, int other) {
    if (code < 0 && !failed(ways->failure))
        failure_set(ways->failure, STATUS_FAILED, "PVM: %s rank %d: error %d (pvm3.h)", what,
                    other, code);
}

// The first to join has the group's server started.
static void join(struct ways *ways) {
    for (int i = 0; ways->grouped && i < ways->size; i++) {
        if (i == ways->rank)
            said(ways, pvm_joingroup(group), "joining the group, as", i);
        ranks_agree(ways->comm, ways->failure, false);
    }
}

static void pvm_open(struct ways *ways) {
    int own = pvm_mytid();
    if (own < 0)
        failure_set(ways->failure, STATUS_USAGE,
                    "no daemon of PVM on this host (error %d); ranks are started by the mpirun "
                    "beside this program",
                    own);
    if (ranks_agree(ways->comm, ways->failure, false) != STATUS_OK)
        return;
    MPI_Allgather(&own, 1, MPI_INT, tasks, 1, MPI_INT, ways->comm);
    pvm_setopt(PvmRoute,
               strcmp(ways->carrier->name, "direct") == 0 ? PvmRouteDirect : PvmDontRoute);
    join(ways);
}

static void pvm_close(struct ways *ways) {
    (void)ways;
    pvm_exit();
}

static void pack(struct ways *ways, const char *bytes, size_t count) {
    int encoding = packing(ways);
    size_t whole = encoding == PvmDataDefault ? count / sizeof(int) : 0,
           done = whole * sizeof(int);
    char *from = (char *)bytes; // PVM only reads it
    said(ways, pvm_initsend(encoding), "packing for", ways->rank);
    if (whole)
        said(ways, pvm_pkint((int *)(void *)from, (int)whole, 1), "packing for", ways->rank);
    if (count > done)
        said(ways, pvm_pkbyte(from + done, (int)(count - done), 1), "packing for", ways->rank);
}

static void pvm_send_one(struct ways *ways, int to, const char *bytes, size_t count) {
    pack(ways, bytes, count);
    said(ways, pvm_send(tasks[to], TAG), "sending to", to);
}

static void pvm_receive_one(struct ways *ways, int from, char *bytes, size_t count) {
    size_t whole = packing(ways) == PvmDataDefault ? count / sizeof(int) : 0;
    size_t done = whole * sizeof(int);
    struct timeval patience = {.tv_sec = 5};
    int got = pvm_trecv(tasks[from], TAG, &patience);
    if (got == 0) {
        errno = EAGAIN;
        ways_fail(ways, "receiving from", from);
        return;
    }
    said(ways, got, "receiving from", from);
    if (whole)
        said(ways, pvm_upkint((int *)(void *)bytes, (int)whole, 1), "unpacking from", from);
    if (count > done)
        said(ways, pvm_upkbyte(bytes + done, (int)(count - done), 1), "unpacking from", from);
}

static void pvm_send_all(struct ways *ways, const char *bytes, size_t count) {
    pack(ways, bytes, count);
    said(ways, pvm_mcast(tasks + 1, ways->size - 1, TAG), "multicast from", 0);
}

static void pvm_send_group(struct ways *ways, const char *bytes, size_t count) {
    pack(ways, bytes, count);
    said(ways, pvm_bcast(group, TAG), "broadcasting from", 0);
}

static void pvm_receive_all(struct ways *ways, char *bytes, size_t count) {
    pvm_receive_one(ways, 0, bytes, count);
}

static const struct carrier direct = {.name = "direct",
                                      .summary = "PVM, tasks connect to each other by TCP",
                                      .open = pvm_open,
                                      .close = pvm_close,
                                      .send = pvm_send_one,
                                      .receive = pvm_receive_one,
                                      .send_all = pvm_send_all,
                                      .receive_all = pvm_receive_all,
                                      .send_group = pvm_send_group};

static const struct carrier by_daemon = {.name = "daemon",
                                         .summary = "PVM, by way of its daemons, which use UDP",
                                         .open = pvm_open,
                                         .close = pvm_close,
                                         .send = pvm_send_one,
                                         .receive = pvm_receive_one,
                                         .send_all = pvm_send_all,
                                         .receive_all = pvm_receive_all,
                                         .send_group = pvm_send_group};

const struct carrier *const carriers[] = {&direct, &by_daemon, NULL};

const struct option carrier_options[] = {
    {"transport", OPTION_CHOICE, "direct", "", "direct|daemon", 0, 0, "how messages are routed"},
    {"packing", OPTION_CHOICE, "raw", "", "raw|xdr|in-place", 0, 0,
     "of the data: raw bytes, integers in XDR, or left in place until they are sent"},
    {0},
};

const char *library_version(void) {
    static char text[64];
    snprintf(text, sizeof text, "PVM %.40s", pvm_version());
    return text;
}

int library_rank(void) {
    return -1;
}
