// SPDX-License-Identifier: BSD-3-Clause
// The modelled Ethernet in a time of its own: no clock, no interface.
#include "../tools/net/model.h"
#include "check.h"

#include <math.h>
#include <string.h>

static struct model make(bool hub, int ports, double rate, double latency_s, size_t queue) {
    struct model model = {.hub = hub,
                          .latency_s = latency_s,
                          .queue_bytes = queue,
                          .frame_bytes = 1514,
                          .ports = ports};
    for (int i = 0; i < ports; i++)
        model.port[i].rate = rate;
    return model;
}

static void send(struct model *model, int from, int to, double now, size_t length) {
    unsigned char bytes[FRAME_MOST] = {2, 0, 0, 0, 0, (unsigned char)to, 2, 0, 0, 0, 0};
    bytes[11] = (unsigned char)from;
    if (to < 0)
        memset(bytes, 0xff, 6);
    CHECK(model_send(model, from, now, bytes, length));
}

static bool near(double a, double b) {
    return fabs(a - b) < 1e-12;
}

// Takes the next frame, which must be due at that time at that port.
static void expect(struct model *model, int port, double due_s) {
    int at = -1;
    const struct frame *frame = model_first(model, &at);
    CHECK(frame && at == port && near(frame->due_s, due_s));
    if (frame)
        model_delivered(model, at);
}

static void expect_none(const struct model *model) {
    int at;
    CHECK(!model_first(model, &at));
}

// 1500 B of IP at 100 Mbit/s: 1526 B to the last bit, 1538 B until the next may begin.
static const double whole = 8 * 1526 / 1e8, spacing = 8 * 1538 / 1e8;

static void stores_and_forwards(void) {
    struct model model = make(false, 3, 1e8, 25e-6, 1 << 18);
    send(&model, 0, 1, 1, 1514);
    expect(&model, 1, 1 + 2 * whole + 25e-6);
    CHECK(near(model_one_way(&model, 0, 1, 1514), 2 * whole + 25e-6));
    expect_none(&model);
    send(&model, 0, 2, 2, 20); // padded to the minimum
    expect(&model, 2, 2 + 2 * 8 * 72 / 1e8 + 25e-6);
    model_free(&model);
}

static void unmodelled_packets_take_no_time(void) {
    struct model model = make(false, 2, 1e8, 25e-6, 1 << 18);
    unsigned char bytes[FRAME_MOST] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 8, 0, 0x45};
    bytes[15] = MODEL_UNMODELLED | 1;
    CHECK(model_send(&model, 0, 3, bytes, 1514));
    expect(&model, 1, 3);
    bytes[15] = 0x10; // another type of service; nor has the one before occupied the link
    CHECK(model_send(&model, 0, 3, bytes, 1514));
    expect(&model, 1, 3 + 2 * whole + 25e-6);
    model_free(&model);
}

static void links_are_serial_and_full_duplex(void) {
    struct model model = make(false, 2, 1e8, 0, 1 << 18);
    send(&model, 0, 1, 0, 1514);
    send(&model, 0, 1, 0, 1514);
    send(&model, 1, 0, 0, 1514); // the other direction is free
    expect(&model, 0, 2 * whole);
    expect(&model, 1, 2 * whole);
    expect(&model, 1, 2 * whole + spacing);
    model_free(&model);
}

static void two_senders_share_the_link_of_one_receiver(void) {
    struct model model = make(false, 3, 1e8, 0, 1 << 18);
    send(&model, 0, 2, 0, 1514);
    send(&model, 1, 2, 0, 1514);
    expect(&model, 2, 2 * whole);
    expect(&model, 2, 2 * whole + spacing);
    model_free(&model);
}

static void a_full_queue_loses_frames(void) {
    struct model model = make(false, 5, 1e8, 0, 2 * 1538);
    for (int from = 0; from < 4; from++)
        send(&model, from, 4, 0, 1514);
    CHECK(model.port[4].dropped == 2);
    expect(&model, 4, 2 * whole);
    expect(&model, 4, 2 * whole + spacing);
    expect_none(&model);
    CHECK(model.port[4].frames == 2 && model.port[4].bytes == 2 * 1514);
    model_free(&model);
}

static void slow_and_fast_links(void) {
    struct model model = make(false, 2, 1e9, 0, 1 << 18);
    model.port[1].rate = 1e7;
    send(&model, 0, 1, 0, 1514);
    expect(&model, 1, 8 * 1526 / 1e9 + 8 * 1526 / 1e7);
    model_free(&model);
}

// Hosts 0 and 1 behind one switch, 2 and 3 behind the other.
static struct model two_switches(double trunk_rate, size_t queue) {
    struct model model = make(false, 4, 1e8, 25e-6, queue);
    model.behind = 2;
    model.trunk_rate = trunk_rate;
    return model;
}

static void a_trunk_joins_two_switches(void) {
    struct model model = two_switches(1e8, 1 << 18);
    send(&model, 0, 1, 0, 1514); // not over the trunk
    expect(&model, 1, 2 * whole + 25e-6);
    send(&model, 0, 2, 1, 1514);
    send(&model, 1, 3, 1, 1514); // other hosts, the same trunk
    send(&model, 2, 1, 1, 1514); // the other direction is free
    expect(&model, 1, 1 + 3 * whole + 50e-6);
    expect(&model, 2, 1 + 3 * whole + 50e-6);
    expect(&model, 3, 1 + 3 * whole + spacing + 50e-6);
    CHECK(near(model_one_way(&model, 1, 2, 1514), 3 * whole + 50e-6));
    CHECK(near(model_one_way(&model, 2, 3, 1514), 2 * whole + 25e-6));
    model_free(&model);
}

static void a_broadcast_crosses_the_trunk_once(void) {
    struct model model = two_switches(1e7, 1 << 18);
    double small = 8 * 72 / 1e8, beyond = 2 * small + 8 * 72 / 1e7 + 50e-6;
    send(&model, 0, -1, 0, 60);
    expect(&model, 1, 2 * small + 25e-6);
    expect(&model, 2, beyond);
    expect(&model, 3, beyond);
    model_free(&model);
}

static void a_full_trunk_loses_frames(void) {
    struct model model = two_switches(1e8, 2 * 1538);
    for (int i = 0; i < 2; i++) {
        send(&model, 0, 2, 0, 1514);
        send(&model, 1, 3, 0, 1514);
    }
    CHECK(model.trunk_dropped == 1);
    model_free(&model);
}

static void a_broadcast_reaches_all_others(void) {
    struct model model = make(false, 3, 1e8, 0, 1 << 18);
    send(&model, 1, -1, 0, 60);
    expect(&model, 0, 2 * 8 * 72 / 1e8);
    expect(&model, 2, 2 * 8 * 72 / 1e8);
    expect_none(&model);
    model_free(&model);
}

static void a_hub_is_one_medium(void) {
    struct model model = make(true, 3, 1e8, 0, 1 << 18);
    send(&model, 0, 1, 0, 1514);
    send(&model, 1, 0, 0, 1514); // waits for the first
    expect(&model, 1, whole);    // not stored and forwarded
    expect(&model, 2, whole);    // heard by all
    expect(&model, 0, spacing + whole);
    expect(&model, 2, spacing + whole);
    model_free(&model);
}

static void a_card_takes_only_some_frames_ahead(void) {
    struct model model = make(false, 2, 1e8, 0, 1 << 24);
    int taken = 0;
    while (model_ready(&model, 0, 0) && taken < 1000) {
        send(&model, 0, 1, 0, 1514);
        taken++;
    }
    CHECK(taken == CARD_FRAMES || taken == CARD_FRAMES + 1); // by rounding
    CHECK(model_ready(&model, 1, 0));
    CHECK(model_ready(&model, 0, model_ready_at(&model, 0)));
    model_free(&model);
}

int main(void) {
    stores_and_forwards();
    unmodelled_packets_take_no_time();
    links_are_serial_and_full_duplex();
    two_senders_share_the_link_of_one_receiver();
    a_full_queue_loses_frames();
    slow_and_fast_links();
    a_trunk_joins_two_switches();
    a_broadcast_crosses_the_trunk_once();
    a_full_trunk_loses_frames();
    a_broadcast_reaches_all_others();
    a_hub_is_one_medium();
    a_card_takes_only_some_frames_ahead();
    return check_status();
}
