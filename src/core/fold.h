// SPDX-License-Identifier: BSD-3-Clause
// Merges the texts of all ranks: ranks with the same text are named together.
//
// Texts go up a tree of ranks and are merged on the way, so that rank 0 never holds more than the
// distinct texts. If 10^5 ranks have the same text, it holds one.
#pragma once

#include "json.h"

#include <mpi.h>

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

// Ranks up to which a description has members of each rank; beyond, equal ranks share an entry.
enum { RANKS_UNFOLDED = 256 };

// Adds one text of this rank. `who` stands for this rank: NULL, its number (numbers become a list
// in Linux syntax, "0-3,8"), or the text of a JSON value (joined by commas).
void fold_add(struct fold *fold, int rank, const char *who, const char *text, double most);

// The same with members of an object, which are freed. Members that were lost lose the fold.
void fold_members(struct fold *fold, int rank, const char *who, struct json *members, double most);

// Merges the texts of all ranks of `comm` into rank 0's fold; the other ranks' folds are empty
// afterwards. Collective. False, on all ranks: some rank had no memory, and nothing is left.
bool fold_ranks(struct fold *fold, MPI_Comm comm);

// Puts `other`, whose ranks are all higher, into `fold`, and empties it.
void fold_merge(struct fold *fold, struct fold *other);

// Puts the entries into the order of their first ranks.
void fold_order(struct fold *fold);

// Merges the texts of all ranks and, on rank 0, writes them as a list in the order of the first
// ranks. The fold is freed. Collective. False, on all ranks: some rank had no memory.
//
// Writes each entry as an object. Its members are `who`, under the name given here (numbers as a
// text, else a list), and the members in the entry's text. Unless `most` is NULL, the largest
// number that its ranks gave to fold_add() follows under that name.
bool fold_write(struct fold *fold, MPI_Comm comm, const char *who, const char *most,
                struct json *json);

void fold_free(struct fold *fold);

// Joins the texts of all ranks of `comm`, each of which is another one, with commas, in the order
// of ranks. Collective. Rank 0 gets a string to free (NULL: no memory), the others NULL.
char *fold_join(MPI_Comm comm, const char *text);
