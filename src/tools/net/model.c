// SPDX-License-Identifier: BSD-3-Clause
#include "model.h"

// The port whose host has this address: 02:00:00:00:00:PORT. Anything else, -1, is sent to all.
static int port_of(const unsigned char *address) {
    return memcmp(address, (const unsigned char[5]){2}, 5) == 0 ? address[5] : -1;
}

static double bits(size_t length, size_t around) {
    return 8.0 * (double)((length < FRAME_LEAST ? FRAME_LEAST : length) + around);
}

// How long a frame occupies a link, and how long until its last bit is through.
static double occupies(double rate, size_t length) {
    return bits(length, FRAME_AROUND) / rate;
}

static double passes(double rate, size_t length) {
    return bits(length, FRAME_PREAMBLE + FRAME_CHECK) / rate;
}

double model_ready_at(const struct model *model, int from) {
    const struct port *port = &model->port[from];
    return port->in_free - CARD_FRAMES * occupies(port->rate, model->frame_bytes);
}

bool model_ready(const struct model *model, int from, double now) {
    return model_ready_at(model, from) <= now;
}

static bool enqueue(struct model *model, int to, double due, const unsigned char *bytes,
                    size_t length) {
    struct port *port = &model->port[to];
    struct frame *frame = model->unused;
    if (frame)
        model->unused = frame->next;
    else if (!(frame = malloc(sizeof *frame)))
        return false;
    frame->due_s = due;
    frame->length = length;
    frame->next = NULL;
    memcpy(frame->bytes, bytes, length);
    if (port->last)
        port->last->next = frame;
    else
        port->first = frame;
    port->last = frame;
    return true;
}

// Waits for a link out of a switch, which is free from `*idle_at` on. `*there` is when the frame
// may leave the switch, and becomes when it is through. False: too many frames wait; it is lost.
static bool leave(const struct model *model, double rate, double *idle_at, double *there,
                  size_t length) {
    double start = fmax(*there, *idle_at);
    if ((start - *there) * rate / 8 + (double)length > (double)model->queue_bytes)
        return false;
    *idle_at = start + occupies(rate, length);
    *there = start + passes(rate, length);
    return true;
}

// Through the switch to one port; `there` is when the frame may leave the switch.
static bool forward(struct model *model, int to, double there, const unsigned char *bytes,
                    size_t length) {
    struct port *port = &model->port[to];
    if (leave(model, port->rate, &port->out_free, &there, length))
        return enqueue(model, to, there, bytes, length);
    port->dropped++;
    return true;
}

static bool share_medium(struct model *model, int from, double now, const unsigned char *bytes,
                         size_t length) {
    double rate = model->port[from].rate;
    double start = fmax(now, model->port[from].in_free);
    bool good = true;
    for (int i = 0; i < model->ports; i++) {
        model->port[i].in_free = start + occupies(rate, length);
        if (i != from)
            good = good && enqueue(model, i, start + passes(rate, length) + model->latency_s,
                                   bytes, length);
    }
    return good;
}

// IPv4 without tags; the last two bits are the network's own (congestion).
static bool unmodelled(const unsigned char *bytes, size_t length) {
    return length > 15 && bytes[12] == 8 && bytes[13] == 0 && (bytes[15] & ~3) == MODEL_UNMODELLED;
}

bool model_send(struct model *model, int from, double now, const unsigned char *bytes,
                size_t length) {
    struct port *port = &model->port[from];
    int to = port_of(bytes);
    bool good = true;
    if (to >= 0 && to < model->ports && unmodelled(bytes, length))
        return enqueue(model, to, now, bytes, length);
    if (model->hub)
        return share_medium(model, from, now, bytes, length);
    double start = fmax(now, port->in_free);
    double there = start + passes(port->rate, length) + model->latency_s;
    port->in_free = start + occupies(port->rate, length);
    int side = model_side(model, from);
    bool all = to < 0 || to >= model->ports, crossed = false;
    double beyond = there; // once over the trunk, however many are to have it
    if (model->behind && (all || model_side(model, to) != side)) {
        crossed = leave(model, model->trunk_rate, &model->trunk_free[side], &beyond, length);
        beyond += model->latency_s;
        model->trunk_dropped += !crossed;
    }
    for (int i = 0; i < model->ports; i++) {
        bool here = model_side(model, i) == side;
        if (i != from && (all || to == i) && (here || crossed))
            good = good && forward(model, i, here ? there : beyond, bytes, length);
    }
    return good;
}

const struct frame *model_first(const struct model *model, int *port) {
    const struct frame *first = NULL;
    for (int i = 0; i < model->ports; i++) {
        const struct frame *head = model->port[i].first;
        if (head && (!first || head->due_s < first->due_s)) {
            first = head;
            *port = i;
        }
    }
    return first;
}

void model_delivered(struct model *model, int port) {
    struct port *at = &model->port[port];
    struct frame *frame = at->first;
    at->frames++;
    at->bytes += (long long)frame->length;
    at->first = frame->next;
    if (!at->first)
        at->last = NULL;
    frame->next = model->unused;
    model->unused = frame;
}

double model_one_way(const struct model *model, int from, int to, size_t length) {
    double out = model->hub ? 0 : passes(model->port[to].rate, length);
    if (model_side(model, from) != model_side(model, to))
        out += passes(model->trunk_rate, length) + model->latency_s;
    return passes(model->port[from].rate, length) + model->latency_s + out;
}

static void free_list(struct frame *frame) {
    while (frame) {
        struct frame *next = frame->next;
        free(frame);
        frame = next;
    }
}

void model_free(struct model *model) {
    for (int i = 0; i < model->ports; i++) {
        free_list(model->port[i].first);
        model->port[i].first = model->port[i].last = NULL;
    }
    free_list(model->unused);
    model->unused = NULL;
}
