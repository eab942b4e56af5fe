// SPDX-License-Identifier: BSD-3-Clause
// The parser of the command line: it accepts exactly the options that an experiment declares.
#include "options.h"

bool word_in(const char *list, char separator, const char *word, size_t length) {
    for (const char *at = list; at && length; at += *at == separator) {
        if (strncmp(at, word, length) == 0 && (at[length] == separator || !at[length]))
            return true;
        at = strchr(at, separator);
        if (!at)
            break;
    }
    return false;
}

static bool one_of(const char *word, const char *choices) {
    return !strchr(word, '|') && word_in(choices, '|', word, strlen(word));
}

static void read_number(struct setting *setting, const char *text, struct failure *failure) {
    const struct option *option = setting->option;
    bool whole = option->type == OPTION_INTEGER;
    char *end;
    errno = 0;
    if (whole)
        setting->real = (double)(setting->integer = strtol(text, &end, 10));
    else
        setting->real = strtod(text, &end);
    if (errno || end == text || *end || !(setting->real >= option->least) ||
        !(setting->real <= option->most))
        failure_set(failure, STATUS_USAGE, "--%s '%s': give a%s number from %g to %g%s%s",
                    option->name, text, whole ? " whole" : "", option->least, option->most,
                    *option->unit ? " " : "", option->unit);
}

static void read_list(struct setting *setting, const char *text, struct failure *failure) {
    const struct option *option = setting->option;
    char why[200];
    sizes_free(&setting->sizes);
    if (!sizes_read(text, &setting->sizes, why, sizeof why))
        failure_set(failure, STATUS_USAGE, "--%s '%s': %s", option->name, text, why);
    for (size_t i = 0; i < setting->sizes.count; i++) {
        size_t bytes = setting->sizes.bytes[i];
        if ((double)bytes < option->least || (double)bytes > option->most)
            failure_set(failure, STATUS_USAGE,
                        "--%s '%s': %zu B is out of range; give sizes from %.0f to %.0f B",
                        option->name, text, bytes, option->least, option->most);
    }
}

static void read_value(struct setting *setting, const char *text, struct failure *failure) {
    const struct option *option = setting->option;
    setting->text = text;
    switch (option->type) {
    case OPTION_INTEGER:
    case OPTION_REAL:
        read_number(setting, text, failure);
        break;
    case OPTION_SIZES:
        read_list(setting, text, failure);
        break;
    case OPTION_CHOICE:
        if (!one_of(text, option->choices))
            failure_set(failure, STATUS_USAGE, "--%s '%s': give one of %s", option->name, text,
                        option->choices);
        break;
    case OPTION_TEXT:
        if (setting->given && !*text)
            failure_set(failure, STATUS_USAGE, "--%s '': must not be empty", option->name);
        break;
    }
}

static void refuse_unknown(const struct options *options, const char *word,
                           struct failure *failure) {
    const char *names[OPTIONS_MOST];
    for (int i = 0; i < options->count; i++)
        names[i] = options->settings[i].option->name;
    const char *meant = nearest_name(word, names, options->count);
    if (meant)
        failure_set(failure, STATUS_USAGE, "unknown option --%s; did you mean --%s?", word, meant);
    else
        failure_set(failure, STATUS_USAGE, "unknown option --%s; --help lists the options", word);
}

static struct setting *find(const struct options *options, const char *name, size_t length) {
    for (int i = 0; i < options->count; i++) {
        const char *known = options->settings[i].option->name;
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return (struct setting *)&options->settings[i];
    }
    return NULL;
}

// Reads the option at arguments[0]; returns how many arguments it took.
static int read_argument(struct options *options, int count, char *const *arguments,
                         struct failure *failure) {
    const char *word = arguments[0];
    if (strncmp(word, "--", 2) != 0 || !word[2]) {
        failure_set(failure, STATUS_USAGE, "'%s' is not an option; options are --NAME VALUE",
                    word);
        return 1;
    }
    const char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    struct setting *setting = find(options, name, length);
    if (!setting) {
        char unknown[64];
        snprintf(unknown, sizeof unknown, "%.*s", (int)length, name);
        refuse_unknown(options, unknown, failure);
        return 1;
    }
    if (setting->given) {
        failure_set(failure, STATUS_USAGE, "--%s is given twice; give it once",
                    setting->option->name);
        return 1;
    }
    setting->given = true;
    if (equals) {
        read_value(setting, equals + 1, failure);
        return 1;
    }
    if (count < 2) {
        failure_set(failure, STATUS_USAGE, "--%s needs a value; --help says which",
                    setting->option->name);
        return 1;
    }
    read_value(setting, arguments[1], failure);
    return 2;
}

void options_read(struct options *options, const struct option *const *tables, int number,
                  int count, char *const *arguments, struct failure *failure) {
    options->count = 0;
    for (int t = 0; t < number; t++) {
        for (const struct option *option = tables[t]; option && option->name; option++) {
            if (options->count == OPTIONS_MOST)
                abort();
            struct setting *setting = &options->settings[options->count++];
            *setting = (struct setting){.option = option};
            read_value(setting, option->value, failure);
        }
    }
    for (int i = 0; i < count && !failed(failure);)
        i += read_argument(options, count - i, arguments + i, failure);
}

void options_free(struct options *options) {
    for (int i = 0; i < options->count; i++)
        sizes_free(&options->settings[i].sizes);
    options->count = 0;
}

bool options_have(const struct options *options, const char *name) {
    return find(options, name, strlen(name)) != NULL;
}

static const struct setting *known(const struct options *options, const char *name,
                                   enum option_type type) {
    const struct setting *setting = find(options, name, strlen(name));
    if (!setting || setting->option->type != type)
        abort();
    return setting;
}

long options_integer(const struct options *options, const char *name) {
    return known(options, name, OPTION_INTEGER)->integer;
}

double options_real(const struct options *options, const char *name) {
    return known(options, name, OPTION_REAL)->real;
}

const struct sizes *options_sizes(const struct options *options, const char *name) {
    return &known(options, name, OPTION_SIZES)->sizes;
}

const char *options_text(const struct options *options, const char *name) {
    const struct setting *setting = find(options, name, strlen(name));
    bool choice = setting && setting->option->type == OPTION_CHOICE;
    return known(options, name, choice ? OPTION_CHOICE : OPTION_TEXT)->text;
}

bool options_is(const struct options *options, const char *name, const char *choice) {
    const struct setting *setting = known(options, name, OPTION_CHOICE);
    if (!one_of(choice, setting->option->choices))
        abort();
    return strcmp(setting->text, choice) == 0;
}

void options_help(const struct option *table, FILE *out) {
    static const char *const values[] = {[OPTION_INTEGER] = "N",
                                         [OPTION_REAL] = "X",
                                         [OPTION_SIZES] = "SIZES",
                                         [OPTION_TEXT] = "TEXT"};
    for (const struct option *option = table; option && option->name; option++) {
        fprintf(out, "  --%s %s\n      %s", option->name,
                option->type == OPTION_CHOICE ? option->choices : values[option->type],
                option->help);
        if (*option->value)
            fprintf(out, " [%s%s%s]", option->value, *option->unit ? " " : "", option->unit);
        fprintf(out, "\n");
    }
}

void options_describe(const struct options *options, struct json *json) {
    json_open(json, '{');
    for (int i = 0; i < options->count; i++) {
        const struct setting *setting = &options->settings[i];
        json_name(json, setting->option->name);
        switch (setting->option->type) {
        case OPTION_INTEGER:
            json_integer(json, setting->integer);
            break;
        case OPTION_REAL:
            json_real(json, setting->real);
            break;
        case OPTION_SIZES:
            json_open(json, '[');
            for (size_t s = 0; s < setting->sizes.count; s++)
                json_integer(json, (long long)setting->sizes.bytes[s]);
            json_close(json, ']');
            break;
        case OPTION_CHOICE:
        case OPTION_TEXT:
            json_string(json, setting->text);
            break;
        }
    }
    json_close(json, '}');
}

// Levenshtein's distance, for words of up to 40 letters.
static int distance(const char *a, const char *b) {
    enum { MOST = 40 };
    int row[MOST + 1];
    size_t la = strlen(a), lb = strlen(b);
    if (la > MOST || lb > MOST)
        return MOST;
    for (size_t j = 0; j <= lb; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= la; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= lb; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]), least = row[j - 1] + 1;
            diagonal = row[j];
            if (row[j] + 1 < least)
                least = row[j] + 1;
            row[j] = replaced < least ? replaced : least;
        }
    }
    return row[lb];
}

const char *nearest_name(const char *word, const char *const *names, int count) {
    const char *best = NULL;
    int least = (int)(strlen(word) + 2) / 3 + 1; // more wrong letters are another word
    for (int i = 0; i < count; i++) {
        int d = distance(word, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

bool words_have(const char *list, const char *word) {
    return word_in(list, ',', word, strlen(word));
}

void words_check(const char *option, const char *list, const char *const *names, int count,
                 struct failure *failure) {
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
        char word[64];
        bool known = false;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, ","), at);
        for (int i = 0; i < count && !known; i++)
            known = strcmp(word, names[i]) == 0;
        const char *meant = known ? NULL : nearest_name(word, names, count);
        if (!known)
            failure_set(failure, STATUS_USAGE, "--%s: no '%s'%s%s%s", option, word,
                        meant ? "; did you mean " : "; --help lists the names", meant ? meant : "",
                        meant ? "?" : "");
    }
}
