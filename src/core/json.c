// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON into memory: values in order, commas and escapes are set here.
#include "json.h"

static void put(struct json *json, const char *text, size_t length) {
    if (json->lost)
        return;
    if (json->length + length + 1 > json->room) {
        size_t room = 2 * (json->length + length) + 256;
        char *larger = realloc(json->text, room);
        if (!larger) {
            json->lost = true;
            return;
        }
        json->text = larger;
        json->room = room;
    }
    memcpy(json->text + json->length, text, length);
    json->length += length;
    json->text[json->length] = '\0';
}

// No value ends in one of these characters, so the last character shows whether a comma is needed.
static void separate(struct json *json) {
    if (json->length && !strchr("{[:", json->text[json->length - 1]))
        put(json, ",", 1);
}

// Bytes of the well-formed UTF-8 character at `s`, 0 when there is none (RFC 3629).
static size_t utf8_length(const unsigned char *s) {
    size_t length = s[0] < 0x80                   ? 1
                    : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                    : (s[0] & 0xf0) == 0xe0       ? 3
                    : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    bool too_large = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

static void put_quoted(struct json *json, const char *text) {
    put(json, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t length = utf8_length(s);
        char escape[8];
        if (length == 0) {
            put(json, "\xef\xbf\xbd", 3); // the replacement character, U+FFFD
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\') {
            snprintf(escape, sizeof escape, "\\%c", *s);
            put(json, escape, 2);
        } else if (*s < 0x20 || *s == 0x7f) {
            snprintf(escape, sizeof escape, "\\u%04x", *s);
            put(json, escape, 6);
        } else {
            put(json, (const char *)s, length);
        }
        s += length;
    }
    put(json, "\"", 1);
}

void json_open(struct json *json, char bracket) {
    separate(json);
    put(json, &bracket, 1);
}

void json_close(struct json *json, char bracket) {
    put(json, &bracket, 1);
}

void json_name(struct json *json, const char *name) {
    separate(json);
    put_quoted(json, name);
    put(json, ":", 1);
}

void json_string(struct json *json, const char *text) {
    if (!text) {
        json_null(json);
        return;
    }
    separate(json);
    put_quoted(json, text);
}

void json_raw(struct json *json, const char *text) {
    if (!*text)
        return;
    separate(json);
    put(json, text, strlen(text));
}

void json_integer(struct json *json, long long value) {
    char text[24];
    snprintf(text, sizeof text, "%lld", value);
    json_raw(json, text);
}

void json_real(struct json *json, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.12g", value);
    json_raw(json, isfinite(value) ? text : "null");
}

void json_boolean(struct json *json, bool value) {
    json_raw(json, value ? "true" : "false");
}

void json_null(struct json *json) {
    json_raw(json, "null");
}

void json_free(struct json *json) {
    free(json->text);
    *json = (struct json){0};
}
