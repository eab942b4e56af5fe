// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "cotejo-test-XXXXXX";

static const char *path(const char *name) {
    static char text[200];
    snprintf(text, sizeof text, "%s/%s", folder, name);
    return text;
}

static void add(struct samples *samples, const char *operation, size_t bytes, double time,
                bool valid) {
    struct failure failure = {0};
    samples_add(samples,
                (struct sample){.operation = operation,
                                .bytes = bytes,
                                .calls = 1,
                                .time_s = time,
                                .valid = valid,
                                .extra = {3}},
                &failure);
    CHECK(!failed(&failure));
}

static void summaries(void) {
    struct samples samples = {0};
    for (int i = 11; i >= 1; i--)
        add(&samples, "a", 8, i, true);
    add(&samples, "a", 8, 1000, false); // not valid: not in any summary
    struct summary s = samples_summary(&samples, 0);
    CHECK(s.n == 11 && s.median_s == 6 && s.min_s == 1 && s.p95_s == 10.5);
    add(&samples, "b", 8, 5, false);
    CHECK(isnan(samples_summary(&samples, 12).median_s));
    samples_close(&samples);
}

// Twenty samples are beyond the quantile of 99.9 %.
static void extremes_need_many_samples(void) {
    struct samples samples = {0};
    struct failure failure = {0};
    struct json json = {0};
    for (int i = 1; i < SUMMARY_TAIL; i++)
        add(&samples, "a", 8, i, true);
    struct summary few = samples_summary(&samples, 0);
    CHECK(isnan(few.p99_s) && isnan(few.p999_s) && isnan(few.max_s));
    add(&samples, "a", 8, 1e6, true);
    struct summary s = samples_summary(&samples, 0);
    CHECK(fabs(s.p99_s - 19800.01) < 1e-6 && fabs(s.p999_s - 19980.001) < 1e-6);
    CHECK(s.max_s == 1e6);
    json_open(&json, '{');
    samples_describe(&samples, &json, &failure);
    json_close(&json, '}');
    CHECK(strstr(json.text, "\"max_s\":1000000"));
    json_free(&json);
    samples_close(&samples);
}

// A column without a unit separates groups, a column with a unit does not.
static void factors_make_groups(void) {
    static const struct column columns[] = {{"pairs", "", ""}, {"fastest_s", "s", ""}, {0}};
    struct samples samples = {.columns = columns};
    struct failure failure = {0};
    struct json json = {0};
    for (int i = 0; i < 6; i++) {
        struct sample sample = {.operation = "a", .bytes = 8, .calls = 1, .time_s = i + 1};
        sample.valid = true;
        sample.extra[0] = i % 2 + 1;
        sample.extra[1] = 0.1 * i;
        samples_add(&samples, sample, &failure);
    }
    CHECK(samples_summary(&samples, 0).n == 3 && samples_summary(&samples, 0).median_s == 3);
    CHECK(samples_summary(&samples, 1).n == 3 && samples_summary(&samples, 1).median_s == 4);
    CHECK(samples_first(&samples, 0, 1) && !samples_first(&samples, 0, 2));
    CHECK(samples_first(&samples, 2, 3) && !samples_first(&samples, 2, 4));
    json_open(&json, '{');
    samples_describe(&samples, &json, &failure);
    json_close(&json, '}');
    CHECK(strstr(json.text, "{\"operation\":\"a\",\"bytes\":8,\"pairs\":1,\"n\":3,"));
    CHECK(strstr(json.text, "{\"operation\":\"a\",\"bytes\":8,\"pairs\":2,\"n\":3,"));
    CHECK(!failed(&failure));
    json_free(&json);
    samples_close(&samples);
}

// Samples of ten thousand ranks are found by name and group without a search of all others. The
// time grows about as their number, where comparing all would take its square.
static double seconds_for(int ranks) {
    static const struct column columns[] = {
        {"late_s", "s", ""}, {"switched", column_flag, ""}, {0}};
    struct samples samples = {.columns = columns};
    struct failure failure = {0};
    clock_t begin = clock();
    for (int repetition = 0; repetition < 4; repetition++)
        for (int r = 0; r < ranks; r++) {
            char name[32];
            snprintf(name, sizeof name, "bcast.rank%d", r);
            const char *kept = samples_name(&samples, name, &failure);
            samples_quantity(&samples, kept, QUANTITY_OWN, &failure);
            add(&samples, kept, 8, r + 1, true);
            samples.at[samples.count - 1].extra[1] = r % 2;
        }
    size_t groups = 0;
    for (size_t i = 0; i < samples.count; i++)
        if (samples_first(&samples, 0, i)) {
            groups++;
            CHECK(samples_summary(&samples, i).n == 4);
        }
    CHECK(groups == (size_t)ranks && !failed(&failure));
    samples_close(&samples);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void many_names_take_no_square(void) {
    double few = seconds_for(2000), many = seconds_for(64000);
    CHECK(many < 32 * 8 * few);
}

// Rows of single ranks stand behind their sample in the file, and nowhere else. A hundred thousand
// ranks take no more memory than ROWS_MOST rows, and are in no group or name.
static void rows_of_ranks_stream(void) {
    enum { RANKS = 100000 };
    struct failure failure = {0};
    struct samples samples;
    struct json json = {0};
    char line[200], expected[200];
    samples_open(&samples, path("streamed"), NULL, &failure);
    for (int i = 0; i < 2; i++) {
        add(&samples, "bcast", 8, i + 1, true);
        for (int r = 0; r < RANKS; r++) {
            struct sample row = samples.at[samples.count - 1];
            row.time_s = r;
            samples_stream(&samples, row, r, &failure);
            CHECK(samples.rows_count < ROWS_MOST);
        }
    }
    CHECK(!failed(&failure) && samples.count == 2 && samples.rows_room == ROWS_MOST);
    CHECK(samples.at[1].before == 0 && !samples.names); // one group, and no name of a rank
    samples_describe(&samples, &json, &failure);
    CHECK(strstr(json.text, "\"rows\":200002,") && !strstr(json.text, "rank"));
    samples_publish(&samples, &json, &failure);
    FILE *file = fopen(path("streamed.csv"), "r");
    CHECK(file && fgets(line, sizeof line, file) && fgets(line, sizeof line, file));
    for (int i = 0, wrong = 0; file && i < 2; i++)
        for (int r = -1; r < RANKS && !wrong; r++) {
            if (r < 0)
                snprintf(expected, sizeof expected, "bcast,8,0,1,%.10e,1\n", i + 1.0);
            else
                snprintf(expected, sizeof expected, "bcast.rank%d,8,0,1,%.10e,1\n", r, (double)r);
            wrong = !fgets(line, sizeof line, file) || strcmp(line, expected) != 0;
            CHECK(!wrong);
        }
    if (file)
        fclose(file);
    unlink(path("streamed.csv"));
    unlink(path("streamed.json"));
    json_free(&json);
    samples_close(&samples);
}

// Samples that are held are finished later: they are not in the file before.
static void held_samples_wait(void) {
    struct failure failure = {0};
    struct samples samples;
    samples_open(&samples, path("held"), NULL, &failure);
    samples.held = true;
    add(&samples, "fft", 8, 1, true);
    for (int r = 0; r < 2 * ROWS_MOST; r++)
        samples_stream(&samples, samples.at[0], r, &failure);
    samples_flush(&samples);
    CHECK(samples.written == 0 && samples.rows_count == 2 * ROWS_MOST);
    samples.held = false;
    samples_flush(&samples);
    CHECK(samples.written == 1 && samples.rows_count == 0 && !failed(&failure));
    samples_close(&samples);
}

static void whole_files(void) {
    static const struct column extra[] = {{"rank", "", "the rank"}, {0}};
    struct failure failure = {0};
    struct samples samples;
    char line[200];
    samples_open(&samples, path("good"), extra, &failure);
    CHECK(!failed(&failure));
    CHECK(access(path("good.csv"), F_OK) != 0); // not there before it is complete
    add(&samples, "a", 8, 2.5e-7, true);
    samples_flush(&samples);
    FILE *begun = fopen(path("good.csv.tmp"), "r"); // what is there when a launch is killed
    int lines = 0;
    while (begun && fgets(line, sizeof line, begun))
        lines++;
    CHECK(lines == 3);
    if (begun)
        fclose(begun);
    struct json json = {0};
    json_open(&json, '{');
    samples_describe(&samples, &json, &failure);
    json_close(&json, '}');
    CHECK(strstr(json.text, "\"rows\":1,"));
    CHECK(
        strstr(json.text,
               "{\"name\":\"rank\",\"unit\":\"\",\"meaning\":\"the rank\",\"role\":\"factor\"}"));
    samples_publish(&samples, &json, &failure);
    CHECK(!failed(&failure));
    samples_close(&samples);
    json_free(&json);
    FILE *file = fopen(path("good.csv"), "r");
    CHECK(file && fgets(line, sizeof line, file) && strcmp(line, "# cotejo-samples/2\n") == 0);
    CHECK(file && fgets(line, sizeof line, file) &&
          strcmp(line, "operation,bytes,repetition,calls,time_s,valid,rank\n") == 0);
    CHECK(file && fgets(line, sizeof line, file) &&
          strcmp(line, "a,8,0,1,2.5000000000e-07,1,3\n") == 0);
    if (file)
        fclose(file);
    CHECK(access(path("good.json"), F_OK) == 0);
    CHECK(access(path("good.csv.tmp"), F_OK) != 0 && access(path("good.json.tmp"), F_OK) != 0);
}

// Samples that turn out to be wrong later are marked in the file, with the rows of their ranks.
static void samples_are_voided_in_the_file(void) {
    struct failure failure = {0};
    struct samples samples;
    char line[200];
    samples_open(&samples, path("void"), NULL, &failure);
    for (int i = 0; i < 4; i++) {
        add(&samples, "a", 8, 1 + i, i != 3);
        samples_stream(&samples, samples.at[i], 0, &failure);
        samples_stream(&samples, samples.at[i], 1, &failure);
        if (i != 2)
            samples_flush(&samples);
    }
    add(&samples, "b", 8, 9, true); // waits for the file
    samples_void(&samples, 1, FAULT_CLOCKS);
    samples_void(&samples, 3, FAULT_CLOCKS);
    samples_void(&samples, 4, FAULT_CLOCKS);
    CHECK(!samples.at[1].valid && samples.at[1].fault == FAULT_CLOCKS);
    CHECK(samples.at[3].fault == FAULT_NONE && samples_summary(&samples, 0).n == 2);
    samples_publish(&samples, &(struct json){.text = "{}", .length = 2}, &failure);
    CHECK(!failed(&failure));
    FILE *file = fopen(path("void.csv"), "r");
    char valid[20] = "", *end = valid;
    for (int i = 0; fgets(line, sizeof line, file); i++)
        if (i >= 2)
            *end++ = line[strlen(line) - 2];
    fclose(file);
    CHECK(strcmp(valid, "1110001110000") == 0);
    samples_close(&samples);
    unlink(path("void.csv"));
    unlink(path("void.json"));
}

static void nothing_is_overwritten_or_left(void) {
    struct failure failure = {0};
    struct samples samples;
    samples_open(&samples, path("good"), NULL, &failure);
    CHECK(failure.status == STATUS_USAGE && strstr(failure.text, "there already"));
    failure = (struct failure){0};
    samples_open(&samples, path("no/such/folder"), NULL, &failure);
    CHECK(failure.status == STATUS_USAGE && strstr(failure.text, "cannot write"));
    failure = (struct failure){0};
    samples_open(&samples, path("given-up"), NULL, &failure);
    CHECK(!failed(&failure));
    samples_close(&samples);
    CHECK(access(path("given-up.csv.tmp"), F_OK) != 0);
}

int main(void) {
    if (!mkdtemp(folder))
        return 1;
    summaries();
    extremes_need_many_samples();
    factors_make_groups();
    many_names_take_no_square();
    rows_of_ranks_stream();
    held_samples_wait();
    whole_files();
    samples_are_voided_in_the_file();
    nothing_is_overwritten_or_left();
    unlink(path("good.csv"));
    unlink(path("good.json"));
    rmdir(folder);
    return check_status();
}
