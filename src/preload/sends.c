// SPDX-License-Identifier: BSD-3-Clause
// Counts the messages that a process sends through UCX or libfabric, by destination.
//
// UCX exports its functions, so they are interposed by name. The functions of libfabric that send
// are reached through tables of an endpoint: fi_fabric() is interposed, and the tables of what it
// opens are exchanged for copies that count. A program may find fi_fabric() by dlvsym(), which
// is interposed, too. The layouts below are those of the stable binary interfaces of both
// libraries (libfabric ABI 1.x, UCP API 1.10 and later), so that neither needs its headers here.
#define _GNU_SOURCE
#include "sends.h"

#include "intercept.h"

#include <dlfcn.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { DESTINATIONS_MOST = 1 << 14, PEER_UNKNOWN = -1 };

struct destination {
    const void *end; // an endpoint
    uint64_t address;
    const char *carrier;
    int peer;
    struct tally sent;
    double learnt; // messages at the last assignment of destinations to ranks
};

static struct destination destinations[DESTINATIONS_MOST];
static int destination_count, destination_last;

static void count(const char *carrier, const void *end, uint64_t address, size_t bytes) {
    int at = destination_last;
    if (at >= destination_count || destinations[at].end != end ||
        destinations[at].address != address) {
        for (at = 0; at < destination_count; at++)
            if (destinations[at].end == end && destinations[at].address == address)
                break;
        if (at == DESTINATIONS_MOST)
            return;
        if (at == destination_count)
            destinations[destination_count++] =
                (struct destination){end, address, carrier, PEER_UNKNOWN, {0, 0}, 0};
        destination_last = at;
    }
    destinations[at].sent.messages += 1;
    destinations[at].sent.bytes += (double)bytes;
}

void sends_learn(int peer) {
    for (int at = 0; at < destination_count; at++) {
        struct destination *one = &destinations[at];
        if (peer >= 0 && one->peer == PEER_UNKNOWN && one->sent.messages > one->learnt)
            one->peer = peer;
        one->learnt = one->sent.messages;
    }
}

const char *sends_read(struct tally *to, int size) {
    const char *carrier = NULL;
    memset(to, 0, (size_t)size * sizeof *to);
    for (int at = 0; at < destination_count; at++) {
        const struct destination *one = &destinations[at];
        if (one->peer == PEER_UNKNOWN || one->peer >= size)
            continue;
        carrier = one->carrier;
        to[one->peer].messages += one->sent.messages;
        to[one->peer].bytes += one->sent.bytes;
    }
    return carrier;
}

// A function of a library that the program has loaded, wherever it did.
static void *behind(const char *name, const char *library) {
    void *found = dlsym(RTLD_NEXT, name);
    void *handle = found ? NULL : dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : found;
}

// The function itself, in a variable of its own type, once it was looked for.
#define FIND(next, name, library)                                                                 \
    do {                                                                                          \
        void *address = next ? NULL : behind(name, library);                                      \
        if (address)                                                                              \
            memcpy(&next, &address, sizeof next);                                                 \
    } while (0)

// UCX

typedef struct {
    uint32_t mask, flags;
    void *request;
    void *callback;
    uint64_t datatype;
} ucp_parameters;

enum { UCP_HAS_DATATYPE = 1 << 3, UCP_KIND = 7, UCP_KIND_BITS = 3 };

static size_t ucp_bytes(size_t n, uint64_t datatype) {
    return (datatype & UCP_KIND) == 0 ? n * (size_t)(datatype >> UCP_KIND_BITS) : n;
}

#define UCP_SEND(result, name, parameters, on, bytes)                                             \
    INTERCEPTED result name parameters {                                                          \
        static result(*next) parameters;                                                          \
        FIND(next, #name, "libucp.so.0");                                                         \
        count("ucx", end, 0, bytes);                                                              \
        return next on;                                                                           \
    }
#define UCP_NBX(name)                                                                             \
    UCP_SEND(void *, name,                                                                        \
             (void *end, const void *data, size_t n, uint64_t tag, const ucp_parameters *given),  \
             (end, data, n, tag, given),                                                          \
             given->mask &UCP_HAS_DATATYPE ? ucp_bytes(n, given->datatype) : n)
#define UCP_NB(result, name)                                                                      \
    UCP_SEND(                                                                                     \
        result, name,                                                                             \
        (void *end, const void *data, size_t n, uint64_t datatype, uint64_t tag, void *last),     \
        (end, data, n, datatype, tag, last), ucp_bytes(n, datatype))
UCP_NBX(ucp_tag_send_nbx)
UCP_NBX(ucp_tag_send_sync_nbx)
UCP_NB(void *, ucp_tag_send_nb)
UCP_NB(int, ucp_tag_send_nbr)

// libfabric

struct fid {
    size_t class;
    void *context;
    void *ops;
};

struct end;

// The functions of an endpoint that send, in the two tables that it has: with a tag and without.
// TABLE declares the table, TAG is the tag as a parameter, and ON_TAG as an argument.
#define TAG_tagged , uint64_t tag
#define ON_TAG_tagged , tag
#define TAG_untagged
#define ON_TAG_untagged
#define TABLE(kind)                                                                               \
    struct kind {                                                                                 \
        size_t size;                                                                              \
        void *receive[3];                                                                         \
        ssize_t (*send)(struct end *, const void *, size_t, void *, uint64_t TAG_##kind, void *); \
        ssize_t (*sendv)(struct end *, const struct iovec *, void **, size_t,                     \
                         uint64_t TAG_##kind, void *);                                            \
        ssize_t (*sendmsg)(struct end *, const struct message *, uint64_t);                       \
        ssize_t (*inject)(struct end *, const void *, size_t, uint64_t TAG_##kind);               \
        ssize_t (*senddata)(struct end *, const void *, size_t, void *, uint64_t,                 \
                            uint64_t TAG_##kind, void *);                                         \
        ssize_t (*injectdata)(struct end *, const void *, size_t, uint64_t, uint64_t TAG_##kind); \
    };

// The part that messages with and without a tag begin with.
struct message {
    const struct iovec *parts;
    void **descriptors;
    size_t count;
    uint64_t address;
};

TABLE(tagged)
TABLE(untagged)

struct end_ops {
    size_t size;
    void *cancel, *getopt, *setopt;
    int (*transmitter)(struct end *, int, void *, struct end **, void *);
};

struct end {
    struct fid fid;
    struct end_ops *ops;
    void *connections;
    struct untagged *untagged;
    void *memory;
    struct tagged *tagged;
};

struct domain_ops {
    size_t size;
    void *av_open, *cq_open;
    int (*endpoint)(void *, void *, struct end **, void *);
    int (*scalable)(void *, void *, struct end **, void *);
    void *others[6];
    int (*endpoint2)(void *, void *, struct end **, uint64_t, void *);
};

struct domain {
    struct fid fid;
    struct domain_ops *ops;
};

struct fabric_ops {
    size_t size;
    int (*domain)(void *, void *, struct domain **, void *);
    void *others[4];
    int (*domain2)(void *, void *, struct domain **, uint64_t, void *);
};

struct fabric {
    struct fid fid;
    struct fabric_ops *ops;
};

// All endpoints that a program opens in one process are of one provider, so of one table each.
static struct end_ops end_next;
static struct domain_ops domain_next;
static struct fabric_ops fabric_next;
// A provider that stands on another one opens its endpoints with the same functions.
static _Thread_local int inside;

static size_t length_of(const struct iovec *parts, size_t n) {
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += parts[i].iov_len;
    return bytes;
}

// Calls the provider, and counts what it took.
#define COUNTED(call, end, address, bytes)                                                        \
    inside++;                                                                                     \
    ssize_t status = call;                                                                        \
    inside--;                                                                                     \
    if (status == 0 && inside == 0)                                                               \
        count("libfabric", end, address, bytes);                                                  \
    return status

// A copy of a table that may be changed; a copy of what is known of it is kept in `next`. NULL: it
// is shorter than what is needed here, or there is no memory, and nothing is counted.
static void *copied(const void *table, size_t needed, void *next) {
    size_t size = table ? *(const size_t *)table : 0;
    void *copy = size >= needed ? malloc(size) : NULL;
    if (copy) {
        memcpy(copy, table, size);
        memcpy(next, table, needed);
    }
    return copy;
}

// The functions of a table, and their exchange in an endpoint.
#define SENDS(kind)                                                                               \
    static struct kind kind##_next;                                                               \
    static ssize_t kind##_send(struct end *end, const void *data, size_t n, void *descriptor,     \
                               uint64_t to TAG_##kind, void *context) {                           \
        COUNTED(kind##_next.send(end, data, n, descriptor, to ON_TAG_##kind, context), end, to,   \
                n);                                                                               \
    }                                                                                             \
    static ssize_t kind##_sendv(struct end *end, const struct iovec *parts, void **descriptors,   \
                                size_t n, uint64_t to TAG_##kind, void *context) {                \
        COUNTED(kind##_next.sendv(end, parts, descriptors, n, to ON_TAG_##kind, context), end,    \
                to, length_of(parts, n));                                                         \
    }                                                                                             \
    static ssize_t kind##_sendmsg(struct end *end, const struct message *message,                 \
                                  uint64_t flags) {                                               \
        COUNTED(kind##_next.sendmsg(end, message, flags), end, message->address,                  \
                length_of(message->parts, message->count));                                       \
    }                                                                                             \
    static ssize_t kind##_inject(struct end *end, const void *data, size_t n,                     \
                                 uint64_t to TAG_##kind) {                                        \
        COUNTED(kind##_next.inject(end, data, n, to ON_TAG_##kind), end, to, n);                  \
    }                                                                                             \
    static ssize_t kind##_senddata(struct end *end, const void *data, size_t n, void *descriptor, \
                                   uint64_t word, uint64_t to TAG_##kind, void *context) {        \
        COUNTED(kind##_next.senddata(end, data, n, descriptor, word, to ON_TAG_##kind, context),  \
                end, to, n);                                                                      \
    }                                                                                             \
    static ssize_t kind##_injectdata(struct end *end, const void *data, size_t n, uint64_t word,  \
                                     uint64_t to TAG_##kind) {                                    \
        COUNTED(kind##_next.injectdata(end, data, n, word, to ON_TAG_##kind), end, to, n);        \
    }                                                                                             \
    static void watch_##kind(struct end *end) {                                                   \
        struct kind *table = copied(end->kind, sizeof *table, &kind##_next);                      \
        if (!table)                                                                               \
            return;                                                                               \
        table->send = kind##_send;                                                                \
        table->sendv = kind##_sendv;                                                              \
        table->sendmsg = kind##_sendmsg;                                                          \
        table->inject = kind##_inject;                                                            \
        table->senddata = kind##_senddata;                                                        \
        table->injectdata = kind##_injectdata;                                                    \
        end->kind = table;                                                                        \
    }
SENDS(tagged)
SENDS(untagged)

static void watch_end(struct end *end) {
    watch_tagged(end);
    watch_untagged(end);
}

// A function of a table that makes something, which is then watched.
#define MAKES(table, name, watch, parameters, on)                                                 \
    static int open_##name parameters {                                                           \
        inside++;                                                                                 \
        int status = table##_next.name on;                                                        \
        inside--;                                                                                 \
        if (status == 0)                                                                          \
            watch(*made);                                                                         \
        return status;                                                                            \
    }

MAKES(end, transmitter, watch_end,
      (struct end * end, int index, void *attributes, struct end **made, void *context),
      (end, index, attributes, made, context))

static void watch_scalable(struct end *end) {
    struct end_ops *ops = copied(end->ops, sizeof *ops, &end_next);
    if (!ops)
        return;
    ops->transmitter = open_transmitter;
    end->ops = ops;
}

MAKES(domain, endpoint, watch_end, (void *domain, void *info, struct end **made, void *context),
      (domain, info, made, context))
MAKES(domain, endpoint2, watch_end,
      (void *domain, void *info, struct end **made, uint64_t flags, void *context),
      (domain, info, made, flags, context))
MAKES(domain, scalable, watch_scalable,
      (void *domain, void *info, struct end **made, void *context), (domain, info, made, context))

static void watch_domain(struct domain *domain) {
    struct domain_ops *ops =
        copied(domain->ops, offsetof(struct domain_ops, others), &domain_next);
    if (!ops)
        return;
    ops->endpoint = open_endpoint;
    ops->scalable = open_scalable;
    if (ops->size >= sizeof *ops) {
        domain_next.endpoint2 = ops->endpoint2;
        ops->endpoint2 = open_endpoint2;
    }
    domain->ops = ops;
}

MAKES(fabric, domain, watch_domain,
      (void *fabric, void *info, struct domain **made, void *context),
      (fabric, info, made, context))
MAKES(fabric, domain2, watch_domain,
      (void *fabric, void *info, struct domain **made, uint64_t flags, void *context),
      (fabric, info, made, flags, context))

static int (*fabric_found)(void *, struct fabric **, void *);

INTERCEPTED int fi_fabric(void *attributes, struct fabric **made, void *context) {
    FIND(fabric_found, "fi_fabric", "libfabric.so.1");
    inside++;
    int status = fabric_found(attributes, made, context);
    inside--;
    struct fabric_ops *ops = NULL;
    if (status == 0 && inside == 0)
        ops = copied((*made)->ops, offsetof(struct fabric_ops, others), &fabric_next);
    if (ops) {
        ops->domain = open_domain;
        if (ops->size >= sizeof *ops) {
            fabric_next.domain2 = ops->domain2;
            ops->domain2 = open_domain2;
        }
        (*made)->ops = ops;
    }
    return status;
}

// Jumps to the real function as its last act, because that function finds its caller for
// RTLD_NEXT.
INTERCEPTED void *dlvsym(void *handle, const char *name, const char *version) {
    static void *(*next)(void *, const char *, const char *);
    void *address = next ? NULL : dlsym(RTLD_NEXT, "dlvsym");
    if (address)
        memcpy(&next, &address, sizeof next);
    if (strcmp(name, "fi_fabric") == 0 && (address = next(handle, name, version)) != NULL) {
        int (*ours)(void *, struct fabric **, void *) = fi_fabric;
        memcpy(&fabric_found, &address, sizeof fabric_found);
        memcpy(&address, &ours, sizeof address);
        return address;
    }
    return next(handle, name, version);
}
