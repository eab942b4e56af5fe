// SPDX-License-Identifier: BSD-3-Clause
// Merges the texts of all ranks: ranks with the same text are named together.
#include "fold.h"

#include "ranks.h"

enum { TAG = 0x7e };

static void clear(struct fold_entry *entry) {
    free(entry->text);
    free(entry->who);
    *entry = (struct fold_entry){0};
}

void fold_free(struct fold *fold) {
    for (size_t i = 0; i < fold->count; i++)
        clear(&fold->at[i]);
    free(fold->at);
    *fold = (struct fold){0};
}

static bool find_room(struct fold *fold, size_t count) {
    if (count > fold->room) {
        size_t room = 2 * count + 8;
        struct fold_entry *more = realloc(fold->at, room * sizeof *more);
        if (!more) {
            fold->lost = true;
            return false;
        }
        fold->at = more;
        fold->room = room;
    }
    return true;
}

void fold_add(struct fold *fold, int rank, const char *who, const char *text, double most) {
    size_t at = fold->count; // from the end, where a text belongs that comes in order
    while (at > 0 && strcmp(fold->at[at - 1].text, text) > 0)
        at--;
    if ((at > 0 && strcmp(fold->at[at - 1].text, text) == 0) || !find_room(fold, fold->count + 1))
        return;
    char number[16];
    snprintf(number, sizeof number, "%d", rank);
    struct fold_entry entry = {strdup(text), strdup(who ? who : number), rank, most};
    if (!entry.text || !entry.who) {
        clear(&entry);
        fold->lost = true;
        return;
    }
    memmove(fold->at + at + 1, fold->at + at, (fold->count - at) * sizeof entry);
    fold->at[at] = entry;
    fold->count++;
}

void fold_members(struct fold *fold, int rank, const char *who, struct json *members,
                  double most) {
    if (members->lost)
        fold->lost = true;
    else
        fold_add(fold, rank, who, members->text, most);
    json_free(members);
}

// The number that `text` ends with, and where it begins.
static size_t last_number(const char *text, long *number) {
    size_t at = strlen(text);
    while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    *number = strtol(text + at, NULL, 10);
    return at;
}

// "0-2,5" and "6-7" are "0-2,5-7". Anything but lists of numbers has a comma put between.
static char *join(const char *low, const char *high) {
    size_t room = strlen(low) + strlen(high) + 3;
    char *both = malloc(room), *rest;
    long last, first = strtol(high, &rest, 10);
    size_t at = last_number(low, &last);
    if (!both)
        return NULL;
    bool numbers = low[0] >= '0' && low[0] <= '9' && rest != high;
    if (!numbers || first != last + 1) {
        snprintf(both, room, "%s,%s", low, high);
        return both;
    }
    bool range = at > 0 && low[at - 1] == '-'; // ends in one already
    size_t keep = range ? at - 1 : strlen(low);
    const char *end = *rest == '-' ? rest + 1 : high; // where the upper one's first range ends
    snprintf(both, room, "%.*s-%s", (int)keep, low, end);
    return both;
}

static void absorb(struct fold *fold, struct fold_entry *entry, struct fold_entry *other) {
    char *both = join(entry->who, other->who);
    fold->lost = fold->lost || !both;
    if (both) {
        free(entry->who);
        entry->who = both;
    }
    entry->most = other->most > entry->most ? other->most : entry->most;
    clear(other);
}

// Both are in the order of their texts, so one pass is enough.
void fold_merge(struct fold *fold, struct fold *other) {
    struct fold all = {.lost = fold->lost || other->lost};
    size_t i = 0, j = 0;
    if (!find_room(&all, fold->count + other->count)) {
        fold_free(fold);
        fold_free(other);
        fold->lost = true;
        return;
    }
    while (i < fold->count || j < other->count) {
        int order = i == fold->count    ? 1
                    : j == other->count ? -1
                                        : strcmp(fold->at[i].text, other->at[j].text);
        if (order == 0)
            absorb(&all, &fold->at[i], &other->at[j++]);
        all.at[all.count++] = order <= 0 ? fold->at[i++] : other->at[j++];
    }
    free(fold->at);
    free(other->at);
    *fold = all;
    *other = (struct fold){0};
}

// Packs the texts, the `who` texts and the numbers one after the other, each with a terminating 0.
static char *packed(const struct fold *fold, size_t *length) {
    enum { NUMBERS = 64 };
    size_t room = 1, at = 0;
    for (size_t i = 0; i < fold->count; i++)
        room += strlen(fold->at[i].text) + strlen(fold->at[i].who) + 3 + NUMBERS;
    char *bytes = malloc(room);
    for (size_t i = 0; bytes && i < fold->count; i++) {
        const struct fold_entry *entry = &fold->at[i];
        at += (size_t)sprintf(bytes + at, "%s%c%s%c%d %.17g%c", entry->text, 0, entry->who, 0,
                              entry->first, entry->most, 0);
    }
    *length = at;
    return bytes;
}

static void unpack(struct fold *fold, const char *bytes, size_t length) {
    for (const char *at = bytes; at < bytes + length;) {
        const char *text = at, *who = text + strlen(text) + 1, *numbers = who + strlen(who) + 1;
        char *rest;
        int first = (int)strtol(numbers, &rest, 10);
        fold_add(fold, first, who, text, strtod(rest, NULL));
        at = numbers + strlen(numbers) + 1;
    }
}

static void send_up(struct fold *fold, MPI_Comm comm, int peer) {
    size_t length = 0;
    char *bytes = fold->lost ? NULL : packed(fold, &length);
    long told = bytes && length <= INT_MAX ? (long)length : -1; // less than 0: it is lost
    MPI_Send(&told, 1, MPI_LONG, peer, TAG, comm);
    if (told > 0)
        MPI_Send(bytes, (int)told, MPI_BYTE, peer, TAG, comm);
    free(bytes);
    fold_free(fold);
}

static void take(struct fold *fold, MPI_Comm comm, int peer) {
    struct fold other = {0};
    long told;
    MPI_Recv(&told, 1, MPI_LONG, peer, TAG, comm, MPI_STATUS_IGNORE);
    char *bytes = told > 0 ? malloc((size_t)told) : NULL;
    other.lost = told < 0;
    if (told > 0 && !bytes)
        MPI_Abort(comm, STATUS_FAILED); // the sender waits for its message to be taken
    if (told > 0) {
        MPI_Recv(bytes, (int)told, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
        unpack(&other, bytes, (size_t)told);
    }
    free(bytes);
    fold_merge(fold, &other);
}

bool fold_ranks(struct fold *fold, MPI_Comm comm) {
    int rank, size, whole;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = tree_rounds(size) - 1; round >= 0; round--) {
        struct tree_turn turn = tree_turn(rank, size, round);
        if (turn.peer >= 0 && turn.asks)
            send_up(fold, comm, turn.peer);
        else if (turn.peer >= 0)
            take(fold, comm, turn.peer);
    }
    whole = !fold->lost;
    MPI_Bcast(&whole, 1, MPI_INT, 0, comm);
    if (!whole)
        fold_free(fold);
    return whole;
}

static int by_first(const void *a, const void *b) {
    const struct fold_entry *x = a, *y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                                : strcmp(x->text, y->text);
}

void fold_order(struct fold *fold) {
    if (fold->count)
        qsort(fold->at, fold->count, sizeof *fold->at, by_first);
}

bool fold_write(struct fold *fold, MPI_Comm comm, const char *who, const char *most,
                struct json *json) {
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (!fold_ranks(fold, comm))
        return false;
    if (rank > 0)
        return true;
    fold_order(fold);
    json_open(json, '[');
    for (size_t i = 0; i < fold->count; i++) {
        const struct fold_entry *entry = &fold->at[i];
        json_open(json, '{');
        json_name(json, who);
        if (entry->who[0] >= '0' && entry->who[0] <= '9') {
            json_string(json, entry->who);
        } else {
            json_open(json, '[');
            json_raw(json, entry->who);
            json_close(json, ']');
        }
        json_raw(json, entry->text);
        if (most) {
            json_member(json, most, real, entry->most);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
    fold_free(fold);
    return true;
}

char *fold_join(MPI_Comm comm, const char *text) {
    struct fold fold = {0};
    struct json all = {0};
    int rank;
    MPI_Comm_rank(comm, &rank);
    fold_add(&fold, rank, NULL, text, 0);
    if (fold_ranks(&fold, comm) && rank == 0) {
        fold_order(&fold);
        for (size_t i = 0; i < fold.count; i++)
            json_raw(&all, fold.at[i].text);
    }
    fold_free(&fold);
    if (all.lost)
        json_free(&all);
    return all.text;
}
