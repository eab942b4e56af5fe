// SPDX-License-Identifier: BSD-3-Clause
// What all ranks have to say, with the ranks that say the same named together.
//
// Texts go up a tree of ranks and are folded on the way, so that rank 0 never holds more than
// what differs: of 10^5 ranks alike one text.
#ifndef COTEJO_CORE_FOLD_H
#define COTEJO_CORE_FOLD_H

#include "json.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

struct fold_entry {
    char *text, *who; // owned
    int first;        // the lowest of the ranks
    double most;      // the largest of what the ranks gave beside the text
};

// Entries in the order of their texts, each text once.
struct fold {
    struct fold_entry *at; // owned
    size_t count, room;
    bool lost; // memory ran out
};

// One thing that this rank says. `who` is what stands for this rank: NULL, its number (they become
// a list in Linux syntax, "0-3,8"), or the text of a JSON value (joined by commas).
void fold_add(struct fold *fold, int rank, const char *who, const char *text, double most);

// Folds what the ranks of `comm` say into rank 0's; the others' are empty afterwards. Collective.
// False, on all ranks: somewhere there was no memory, and nothing is left.
bool fold_ranks(struct fold *fold, MPI_Comm comm);

// Puts `other`, whose ranks are all higher, into `fold`, and empties it.
void fold_merge(struct fold *fold, struct fold *other);

// Puts the entries into the order of their first ranks.
void fold_order(struct fold *fold);

// Each entry as an object: its `who` by that name (numbers as a text, else a list), the members
// that its text is, and, by its name unless that is NULL, the number given beside it.
void fold_list(const struct fold *fold, const char *who, const char *most, struct json *json);

void fold_free(struct fold *fold);

#endif
