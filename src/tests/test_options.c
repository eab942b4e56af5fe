// SPDX-License-Identifier: BSD-3-Clause
// Options, and the lists of sizes in them.
#include "check.h"
#include "options.h"
#include "sizes.h"

#include <string.h>

static const struct option table[] = {
    {"count", OPTION_INTEGER, "10", "", NULL, 1, 100, "a number"},
    {"share", OPTION_REAL, "0.5", "s", NULL, 0, 1, "a share"},
    {"sizes", OPTION_SIZES, "1,2", "B", NULL, 0, 1024, "sizes"},
    {"mode", OPTION_CHOICE, "fast", "", "fast|slow", 0, 0, "a choice"},
    {"output", OPTION_TEXT, "", "", NULL, 0, 0, "a text"},
    {0},
};

static struct failure read_them(struct options *options, int count, char **arguments) {
    const struct option *tables[] = {table};
    struct failure failure = {0};
    options_read(options, tables, 1, count, arguments, &failure);
    return failure;
}

#define READ(options, ...)                                                                        \
    read_them(options, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *), (char *[]){__VA_ARGS__})

#define REFUSED(word, ...)                                                                        \
    do {                                                                                          \
        struct options o;                                                                         \
        struct failure f = READ(&o, __VA_ARGS__);                                                 \
        CHECK(f.status == STATUS_USAGE);                                                          \
        CHECK(strstr(f.text, word));                                                              \
        CHECK(!strchr(f.text, '\n'));                                                             \
        options_free(&o);                                                                         \
    } while (0)

static void values_and_defaults(void) {
    struct options o;
    struct failure f = READ(&o, "--count", "7", "--sizes=4:16:x2");
    CHECK(!failed(&f));
    CHECK(options_integer(&o, "count") == 7);
    CHECK(options_real(&o, "share") == 0.5);
    CHECK(options_sizes(&o, "sizes")->count == 3);
    CHECK(options_is(&o, "mode", "fast") && !options_is(&o, "mode", "slow"));
    CHECK(strcmp(options_text(&o, "output"), "") == 0);
    struct json json = {0};
    options_describe(&o, &json);
    CHECK(strcmp(json.text, "{\"count\":7,\"share\":0.5,\"sizes\":[4,8,16],\"mode\":\"fast\","
                            "\"output\":\"\"}") == 0);
    json_free(&json);
    options_free(&o);
}

// Paths and lists of operations have no limit.
static void texts_of_any_length(void) {
    char text[2000] = "";
    struct options o;
    memset(text, 'x', sizeof text - 1);
    struct failure f = READ(&o, "--output", text);
    CHECK(!failed(&f) && strcmp(options_text(&o, "output"), text) == 0);
    options_free(&o);
}

static void sizes_given(const char *text, size_t count, const size_t *expected) {
    struct sizes sizes;
    char why[200] = "";
    CHECK(sizes_read(text, &sizes, why, sizeof why));
    CHECK(sizes.count == count);
    for (size_t i = 0; i < count && i < sizes.count; i++)
        CHECK(sizes.bytes[i] == expected[i]);
    sizes_free(&sizes);
}

static void sizes_refused(const char *text, const char *word) {
    struct sizes sizes;
    char why[200] = "";
    CHECK(!sizes_read(text, &sizes, why, sizeof why));
    CHECK(strstr(why, word));
    CHECK(sizes.bytes == NULL && sizes.count == 0);
}

static void lists_of_sizes(void) {
    sizes_given("1,8,4Ki", 3, (size_t[]){1, 8, 4096});
    sizes_given("1:64:x4", 4, (size_t[]){1, 4, 16, 64});
    sizes_given("0:24:+8", 4, (size_t[]){0, 8, 16, 24});
    sizes_given("0:20:+8", 3, (size_t[]){0, 8, 16});
    sizes_given("2k,1M,1Mi", 3, (size_t[]){2000, 1000000, 1048576});
    sizes_given("8,1:8:x2", 4, (size_t[]){8, 1, 2, 4}); // each once, in the order first named
    sizes_given("10:100:x3.1622776601683795", 3, (size_t[]){10, 32, 100});
    sizes_refused("", "digits");
    sizes_refused("-1", "digits");
    sizes_refused("1,", "digits");
    sizes_refused("1x", "separator");
    sizes_refused("1Kb", "suffix");
    sizes_refused("8:1:x2", "upwards");
    sizes_refused("0:8:x2", "cannot start at 0");
    sizes_refused("1:8:x1", "factor");
    sizes_refused("1:8:+0", "step");
    sizes_refused("1:8", "FROM:TO");
    sizes_refused("0:1Gi:+1", "more than 10000");
    sizes_refused("99999999999999999999", "digits");
    sizes_refused("18446744073709551615Ki", "digits");
}

int main(void) {
    lists_of_sizes();
    values_and_defaults();
    texts_of_any_length();
    REFUSED("did you mean --count", "--cuont", "3");
    REFUSED("unknown option", "--nothing-like-it", "3");
    REFUSED("--count", "--count");
    REFUSED("from 1 to 100", "--count", "0");
    REFUSED("from 1 to 100", "--count", "101");
    REFUSED("whole number", "--count", "3x");
    REFUSED("number", "--share", "nan");
    REFUSED("number", "--share", "1e999");
    REFUSED("out of range", "--sizes", "2048");
    REFUSED("fast|slow", "--mode", "fas");
    REFUSED("fast|slow", "--mode", "fast|slow");
    REFUSED("twice", "--count", "3", "--count", "4");
    REFUSED("word", "word");
    REFUSED("empty", "--output", "");
    REFUSED("a b", "--a\nb", "1");
    return check_status();
}
