// SPDX-License-Identifier: BSD-3-Clause
// Writes JSON into memory: values in order, commas and escapes are set here.
#pragma once

#include "standard.h"

struct json {
    char *text; // owned; NULL before the first value
    size_t length, room;
    bool lost; // memory ran out: the text is incomplete
};

void json_open(struct json *json, char bracket); // '{' or '['
void json_close(struct json *json, char bracket);
void json_name(struct json *json, const char *name);
void json_string(struct json *json, const char *text); // NULL gives null
void json_integer(struct json *json, long long value);
void json_real(struct json *json, double value); // 12 digits; not finite gives null
void json_boolean(struct json *json, bool value);
void json_null(struct json *json);
void json_raw(struct json *json, const char *text); // JSON already
// A member of an object; `kind`: string, integer, real, boolean, raw, or open.
#define json_member(json, name, kind, value) (json_name(json, name), json_##kind(json, value))
void json_free(struct json *json);
