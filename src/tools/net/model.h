// SPDX-License-Identifier: BSD-3-Clause
// Models how an Ethernet handles frames: serialisation, store-and-forward, latency, finite queues.
//
// Times are seconds of any one clock, given by the caller, so that the model runs as well in a
// test without a clock. A frame read from host A for host B
//   - waits until A's link is free and takes its length over A's rate to reach the switch,
//   - then the switch's latency,
//   - then waits until B's link is free (no longer than the queue is deep, else it is dropped)
//     and takes its length over B's rate again.
// With two switches a frame between hosts of both waits for the trunk between them, as for any
// link, and then takes the second switch's latency, too.
// On a hub all hosts share one medium: frames are sent one at a time, to everybody, once.
// Packets of the type of service MODEL_UNMODELLED take no time. They are the control that
// separates a busy machine from a wrong network.
// Contention is resolved in the order of the requests, without collisions and without backoff.
#pragma once

#include "standard.h"

enum {
    PORTS_MOST = 32,
    FRAME_MOST = 9014,  // bytes of a frame of MTU 9000, without check sequence
    FRAME_LEAST = 60,   // shorter ones are padded on the wire
    FRAME_AROUND = 24,  // preamble, check sequence and gap between frames
    FRAME_PREAMBLE = 8, // of those, before the frame
    FRAME_CHECK = 4,    // and the check sequence after it
    CARD_FRAMES = 16,   // that a host's network card holds ahead of the wire
    // IP's type of service of packets that pass at once: a class for local use, which no program
    // sets that does not mean this switch.
    MODEL_UNMODELLED = 0xfc
};

struct frame {
    double due_s; // when its last bit is there
    size_t length;
    struct frame *next;
    unsigned char bytes[FRAME_MOST];
};

struct port {
    double rate;              // bit/s
    double in_free, out_free; // when the link is free, from the host and to it
    struct frame *first, *last;
    long long frames, bytes, dropped; // to the host; bytes without what is around a frame
};

struct model {
    bool hub;
    double latency_s;     // of the switch (hub: of the medium)
    size_t queue_bytes;   // most that waits for one port
    size_t frame_bytes;   // longest frame of this network
    int behind;           // hosts of the first switch; other hosts have a second; 0: one has all
    double trunk_rate;    // of the link between the two, bit/s
    double trunk_free[2]; // when it is free, from either switch
    long long trunk_dropped;
    int ports;
    struct port port[PORTS_MOST];
    struct frame *unused; // kept for the next frames
};

// Returns the number of the switch that a host is behind, 0 or 1.
static inline int model_side(const struct model *model, int port) {
    return model->behind > 0 && port >= model->behind;
}

// Whether the host's network card takes a frame now. It holds CARD_FRAMES ahead of the wire, so
// that the link never idles; what comes later waits in the host, as behind a real card.
bool model_ready(const struct model *model, int from, double now);

// When the card takes a frame again.
double model_ready_at(const struct model *model, int from);

// A frame of `length` bytes that host `from` sends at `now`. False: no memory.
bool model_send(struct model *model, int from, double now, const unsigned char *bytes,
                size_t length);

// The frame that is due first, at `*port`; NULL: none is under way.
const struct frame *model_first(const struct model *model, int *port);

// Takes the port's first frame off the wire: it has been delivered.
void model_delivered(struct model *model, int port);

// One way of one frame of `length` bytes between two hosts over idle links, s.
double model_one_way(const struct model *model, int from, int to, size_t length);

void model_free(struct model *model);
