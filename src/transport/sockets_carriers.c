// SPDX-License-Identifier: BSD-3-Clause
// The carriers of the program that has no library: what the kernel offers.
#include "carrier.h"

#include <sys/utsname.h>

extern const struct carrier tcp_carrier, udp_carrier, unix_carrier, shm_carrier, llc_carrier,
    raw_carrier, icmp_carrier;

const struct carrier *const carriers[] = {&tcp_carrier, &udp_carrier, &unix_carrier, &shm_carrier,
                                          &llc_carrier, &raw_carrier, &icmp_carrier, NULL};

const struct option carrier_options[] = {
    {"transport", OPTION_CHOICE, "tcp", "", "tcp|udp|unix|shm|llc|raw|icmp", 0, 0,
     "what carries messages; llc, raw and icmp need root, llc a kernel that has AF_LLC"},
    {"interface", OPTION_TEXT, "", "", "", 0, 0,
     "network interface; none: lo on one host, else the first one that is up"},
    {"wait", OPTION_CHOICE, "poll", "", "poll|block", 0, 0,
     "poll: a receiver looks again and again, as MPI libraries do; block: it sleeps"},
    {0},
};

const char *library_version(void) {
    static char text[256];
    struct utsname system;
    uname(&system);
    snprintf(text, sizeof text, "no library, sockets of %.64s %.64s", system.sysname,
             system.release);
    return text;
}

int library_rank(void) {
    return -1;
}
