// SPDX-License-Identifier: BSD-3-Clause
// A file that cannot be written completely leaves the previous file in place.
#include "check.h"
#include "whole.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static char folder[] = "/tmp/cotejo-whole-XXXXXX";
static char path[64];

static void holds(const char *wanted) {
    char text[32] = "";
    FILE *file = fopen(path, "r");
    CHECK(file);
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    CHECK(strcmp(text, wanted) == 0);
    char temporary[80];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    CHECK(access(temporary, F_OK) != 0);
}

static void test_what_is_published_is_whole(void) {
    struct failure failure = {0};
    write_whole(path, "first", 5, &failure);
    CHECK(!failed(&failure));
    holds("first\n");
    write_whole(path, "second", 6, &failure);
    CHECK(!failed(&failure));
    holds("second\n");
}

static void test_a_disk_without_room_leaves_what_was_there(void) {
    // The same as a full disk, seen by this process alone.
    struct rlimit least = {16, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &least);
    for (size_t length = 16; length < 1 << 20; length *= 64) {
        struct failure failure = {0};
        char *text = malloc(length);
        memset(text, 'x', length);
        write_whole(path, text, length, &failure);
        CHECK(failed(&failure));
        CHECK(strstr(failure.text, path) && strchr(failure.text, '('));
        holds("second\n");
        free(text);
    }
    least.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &least);
}

static void test_a_folder_that_is_not_there_is_named(void) {
    struct failure failure = {0};
    write_whole("/no/such/folder/file", "x", 1, &failure);
    CHECK(strstr(failure.text, "cannot write /no/such/folder/file (No such file"));
}

int main(void) {
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    test_what_is_published_is_whole();
    test_a_disk_without_room_leaves_what_was_there();
    test_a_folder_that_is_not_there_is_named();
    unlink(path);
    rmdir(folder);
    return check_status();
}
