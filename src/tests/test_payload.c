// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "host.h"
#include "payload.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct layout at_pages;

static void every_wrong_byte_is_found(void) {
    enum { MOST = 100 };
    char bytes[MOST];
    for (size_t count = 0; count <= MOST; count++) {
        payload_fill(bytes, count, 1, 7);
        CHECK(payload_check(bytes, count, 1, 7) == count);
        for (size_t i = 0; i < count; i++) {
            bytes[i] ^= 1;
            CHECK(payload_check(bytes, count, 1, 7) == i);
            bytes[i] ^= 1;
        }
    }
}

// A message that did not arrive leaves what was there: another message, or the poison.
static void another_message_is_wrong(void) {
    char bytes[64];
    payload_fill(bytes, sizeof bytes, 1, 7);
    CHECK(payload_check(bytes, sizeof bytes, 0, 7) < sizeof bytes);
    CHECK(payload_check(bytes, sizeof bytes, 1, 8) < sizeof bytes);
    payload_poison(bytes, sizeof bytes, 1, 7);
    CHECK(payload_check(bytes, sizeof bytes, 1, 7) == 0);
    memset(bytes, 0, sizeof bytes);
    CHECK(payload_check(bytes, sizeof bytes, 1, 7) < 8);
}

// Payloads were alike for ranks and messages that are 4096 apart.
static void payloads_of_many_ranks_differ(void) {
    static const int ranks[] = {0, 1, 4095, 4096, 8192, 65536, (1 << 20) - 1};
    enum { RANKS = sizeof ranks / sizeof *ranks };
    char bytes[8];
    for (int s = 0; s < RANKS; s++)
        for (int m = 0; m < RANKS; m++) {
            payload_fill(bytes, sizeof bytes, ranks[s], (unsigned)ranks[m]);
            for (int i = 0; i < RANKS * RANKS; i++)
                CHECK((payload_check(bytes, sizeof bytes, ranks[i / RANKS],
                                     (unsigned)ranks[i % RANKS]) == sizeof bytes) ==
                      (i == s * RANKS + m));
        }
}

static void cold_slots_all_have_their_turn(size_t bytes, size_t cache) {
    struct failure failure = {0};
    struct buffer buffer;
    buffer_open(&buffer, &at_pages, "buffer", bytes, cache, 1, &failure);
    CHECK(!failed(&failure));
    CHECK(buffer.slots * buffer.step >= cache);
    char *seen = calloc(buffer.slots, 1);
    for (size_t i = 0; i < buffer.slots; i++) {
        size_t slot = (size_t)(buffer_next(&buffer) - buffer.pool) / buffer.step;
        CHECK(slot < buffer.slots && !seen[slot]);
        seen[slot] = 1;
    }
    free(seen);
    buffer_close(&buffer);
}

// A pool for large messages serves small ones too, and is as cold for them.
static void pools_are_cut_anew(bool cold, size_t least) {
    struct failure failure = {0};
    struct buffer buffer;
    size_t cache = 1 << 16, most = 50000;
    buffer_open(&buffer, &at_pages, "buffer", most, cold ? cache : 0, least, &failure);
    CHECK(!failed(&failure));
    for (size_t bytes = most; bytes > 0; bytes /= 3) {
        buffer_shape(&buffer, bytes);
        CHECK(buffer.slots >= least && buffer.step >= bytes);
        CHECK(buffer.slots * buffer.step <= buffer_room(most, cold ? cache : 0, least));
        CHECK(!cold || buffer.slots * buffer.step >= cache);
        CHECK(buffer_slot(&buffer) == buffer.pool && buffer_next(&buffer) == buffer.pool);
    }
    buffer_close(&buffer);
}

// Wherever a pool begins, its last slot ends within the memory.
static void a_layout_moves_buffers(void) {
    struct layout layout = {.shifts = {0, 4095}, .shifts_count = 2};
    struct failure failure = {0};
    struct buffer first, second;
    buffer_open(&first, &layout, "first", 50000, 1 << 16, 1, &failure);
    buffer_open(&second, &layout, "second", 50000, 1 << 16, 1, &failure);
    CHECK(!failed(&failure));
    CHECK((uintptr_t)first.pool % 4096 == 0 && (uintptr_t)second.pool % 4096 == 4095);
    for (size_t bytes = 50000; bytes > 0; bytes /= 3) {
        buffer_shape(&second, bytes);
        CHECK(second.pool + second.slots * second.step <= second.memory + second.room);
    }
    CHECK(layout.count == 2 && layout.at[0].offset == 0 && layout.at[1].offset == 4095);
    buffer_close(&first);
    buffer_close(&second);
}

// As malloc gives them, and noted so.
static void malloc_decides_where_it_is_asked(void) {
    struct layout layout = {.by_malloc = true};
    struct failure failure = {0};
    struct buffer buffer;
    buffer_open(&buffer, &layout, "buffer", 3000, 0, 2, &failure);
    CHECK(!failed(&failure));
    CHECK(buffer.room == 2 * 3008 && buffer.pool == buffer.memory);
    CHECK(layout.at[0].offset == (uintptr_t)buffer.pool % 4096);
    for (size_t bytes = 3000; bytes > 0; bytes /= 3) {
        buffer_shape(&buffer, bytes);
        CHECK(buffer.slots * buffer.step <= buffer.room);
    }
    buffer_forget(&buffer); // none of its pages need be complete
    payload_fill(buffer.pool, 3000, 1, 7);
    CHECK(payload_check(buffer.pool, 3000, 1, 7) == 3000);
    buffer_close(&buffer);
}

// Pages that were never written are all one page of zeros, which makes every copy too quick.
static void buffers_have_pages_of_their_own(void) {
    const size_t bytes = 32u << 20;
    struct failure failure = {0};
    struct buffer buffer;
    double before = usage_read().resident;
    buffer_open(&buffer, &at_pages, "buffer", bytes, 0, 1, &failure);
    double taken = usage_read().resident - before;
    CHECK(isnan(taken) || taken >= 0.9 * (double)bytes); // NaN: the kernel has no value
    buffer_close(&buffer);
}

// Some tools time such buffers: the pages are given back, and are zeros until they are written.
static void a_forgotten_buffer_has_none(void) {
    const size_t bytes = 32u << 20;
    struct failure failure = {0};
    struct buffer buffer;
    buffer_open(&buffer, &at_pages, "buffer", bytes, 0, 1, &failure);
    double before = usage_read().resident;
    buffer_forget(&buffer);
    double given_back = before - usage_read().resident;
    CHECK(isnan(given_back) || given_back >= 0.9 * (double)bytes);
    for (size_t i = 0; i < bytes; i += 1000)
        CHECK(buffer.pool[i] == 0);
    payload_fill(buffer.pool, bytes, 1, 7);
    CHECK(payload_check(buffer.pool, bytes, 1, 7) == bytes);
    buffer_close(&buffer);
}

int main(void) {
    a_layout_moves_buffers();
    malloc_decides_where_it_is_asked();
    a_forgotten_buffer_has_none();
    buffers_have_pages_of_their_own();
    every_wrong_byte_is_found();
    another_message_is_wrong();
    payloads_of_many_ranks_differ();
    cold_slots_all_have_their_turn(1, 1 << 16);
    cold_slots_all_have_their_turn(0, 1 << 16);
    cold_slots_all_have_their_turn(1000, 1 << 16);
    cold_slots_all_have_their_turn(1 << 17, 1 << 16);
    pools_are_cut_anew(true, 1);
    pools_are_cut_anew(true, 9);
    pools_are_cut_anew(false, 5);
    struct failure failure = {0};
    struct buffer warm;
    buffer_open(&warm, &at_pages, "buffer", 100, 0, 1, &failure);
    CHECK(buffer_next(&warm) == buffer_next(&warm));
    buffer_close(&warm);
    return check_status();
}
