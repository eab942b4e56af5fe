// SPDX-License-Identifier: BSD-3-Clause
// Texts of many ranks, folded in pairs as the tree does it; and, launched, over messages.
#include "check.h"
#include "fold.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 100000 };

// As the tree does: each rank takes in those that are `step` above it.
static void by_pairs(struct fold *folds, int size) {
    for (int step = 1; step < size; step *= 2)
        for (int rank = 0; rank + step < size; rank += 2 * step)
            fold_merge(&folds[rank], &folds[rank + step]);
}

static const char *who_says(const struct fold *fold, const char *text) {
    for (size_t i = 0; i < fold->count; i++)
        if (strcmp(fold->at[i].text, text) == 0)
            return fold->at[i].who;
    return "";
}

static void ranks_become_lists(void) {
    static const char *const says[] = {"a", "a", "b", "a", "a", "a", "b", "b", "c"};
    struct fold folds[9] = {0};
    for (int r = 0; r < 9; r++)
        fold_add(&folds[r], r, NULL, says[r], r);
    by_pairs(folds, 9);
    CHECK(folds[0].count == 3 && !folds[0].lost);
    CHECK(strcmp(who_says(&folds[0], "a"), "0-1,3-5") == 0);
    CHECK(strcmp(who_says(&folds[0], "b"), "2,6-7") == 0);
    CHECK(strcmp(who_says(&folds[0], "c"), "8") == 0);
    fold_order(&folds[0]);
    CHECK(strcmp(folds[0].at[1].text, "b") == 0 && folds[0].at[1].most == 7);
    fold_free(&folds[0]);
}

static void names_are_joined(void) {
    struct fold folds[3] = {0};
    for (int r = 0; r < 3; r++)
        fold_add(&folds[r], r, r == 1 ? "\"n-1\"" : "\"n2\"", "alike", 0);
    by_pairs(folds, 3);
    CHECK(folds[0].count == 1 && strcmp(folds[0].at[0].who, "\"n2\",\"n-1\",\"n2\"") == 0);
    fold_free(&folds[0]);
}

// 10^5 ranks alike are one short text, and as many that differ are as many texts.
static void many_ranks_stay_few(void) {
    struct fold *folds = calloc(MANY, sizeof *folds);
    for (int r = 0; r < MANY; r++)
        fold_add(&folds[r], r, NULL, r % 1000 == 7 ? "odd" : "even", 0);
    by_pairs(folds, MANY);
    CHECK(folds[0].count == 2 && strlen(who_says(&folds[0], "even")) < 2000);
    fold_free(&folds[0]);
    for (int r = 0; r < MANY; r++) {
        char text[16];
        snprintf(text, sizeof text, "%d", r * 7919 % MANY);
        fold_add(&folds[r], r, NULL, text, 0);
    }
    by_pairs(folds, MANY);
    CHECK(folds[0].count == MANY && !folds[0].lost);
    fold_order(&folds[0]);
    CHECK(folds[0].at[12345].first == 12345);
    fold_free(&folds[0]);
    free(folds);
}

static void goes_over_messages(void) {
    struct fold fold = {0};
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    fold_add(&fold, rank, NULL, "all", 0.1 * rank);
    fold_add(&fold, rank, NULL, rank % 2 ? "odd" : "even", 0);
    CHECK(fold_ranks(&fold, MPI_COMM_WORLD));
    CHECK(fold.count == (rank ? 0u : size > 1 ? 3u : 2u));
    if (rank == 0 && size == 2) {
        CHECK(strcmp(who_says(&fold, "all"), "0-1") == 0);
        CHECK(fold.at[0].most == 0.1);
        CHECK(strcmp(who_says(&fold, "odd"), "1") == 0);
    }
    fold_free(&fold);
    // All ranks get the result that one rank had no memory, and nothing is left.
    fold_add(&fold, rank, NULL, "all", 0);
    fold.lost = rank == size - 1;
    CHECK(!fold_ranks(&fold, MPI_COMM_WORLD) && fold.count == 0);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    ranks_become_lists();
    names_are_joined();
    many_ranks_stay_few();
    goes_over_messages();
    MPI_Finalize();
    return check_status();
}
