// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "options.h"

#include <string.h>

static const struct option table[] = {
    {"count", OPTION_INTEGER, "10", "", NULL, 1, 100, "a number"},
    {"share", OPTION_REAL, "0.5", "s", NULL, 0, 1, "a share"},
    {"sizes", OPTION_SIZES, "1,2", "B", NULL, 0, 1024, "sizes"},
    {"mode", OPTION_CHOICE, "fast", "", "fast|slow", 0, 0, "a choice"},
    {"quiet", OPTION_FLAG, "", "", NULL, 0, 0, "a flag"},
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
    struct failure f = READ(&o, "--count", "7", "--sizes=4:16:x2", "--quiet");
    CHECK(!failed(&f));
    CHECK(options_integer(&o, "count") == 7);
    CHECK(options_real(&o, "share") == 0.5);
    CHECK(options_sizes(&o, "sizes")->count == 3);
    CHECK(options_is(&o, "mode", "fast") && !options_is(&o, "mode", "slow"));
    CHECK(strcmp(options_text(&o, "output"), "") == 0);
    struct json json = {0};
    options_describe(&o, &json);
    CHECK(strcmp(json.text, "{\"count\":7,\"share\":0.5,\"sizes\":[4,8,16],\"mode\":\"fast\","
                            "\"quiet\":true,\"output\":\"\"}") == 0);
    json_free(&json);
    options_free(&o);
}

int main(void) {
    values_and_defaults();
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
