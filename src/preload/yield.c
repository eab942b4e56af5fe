// SPDX-License-Identifier: BSD-3-Clause
// Preloaded where ranks outnumber cores: a rank that looks for messages and finds none yields its
// core to the next one.
//
// Libraries look by calls that may not wait. They would look again at once, for as long as the
// scheduler lets them, while the rank that will send the message has no core.
#define _GNU_SOURCE // RTLD_NEXT
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>

// The next function of that name, of any type: ISO C has no cast from an object's pointer.
static void find_next(const char *name, void *function) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

#define YIELDING(name, parameters, on)                                                            \
    int name parameters {                                                                         \
        static int(*next) parameters;                                                             \
        if (!next)                                                                                \
            find_next(#name, &next);                                                              \
        int ready = next on;                                                                      \
        if (ready == 0 && timeout == 0)                                                           \
            sched_yield();                                                                        \
        return ready;                                                                             \
    }
YIELDING(epoll_wait, (int set, struct epoll_event *events, int most, int timeout),
         (set, events, most, timeout))
YIELDING(poll, (struct pollfd * descriptors, nfds_t count, int timeout),
         (descriptors, count, timeout))
