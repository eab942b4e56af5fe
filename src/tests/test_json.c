// SPDX-License-Identifier: BSD-3-Clause
#include "check.h"
#include "json.h"

#include <math.h>
#include <string.h>

int main(void) {
    struct json json = {0};
    json_open(&json, '{');
    json_name(&json, "a\"\\\n");
    json_string(&json, "x\ty");
    json_name(&json, "list");
    json_open(&json, '[');
    json_integer(&json, -1);
    json_real(&json, 2.5e-9);
    json_real(&json, NAN);
    json_boolean(&json, true);
    json_string(&json, NULL);
    json_open(&json, '{');
    json_close(&json, '}');
    json_close(&json, ']');
    json_name(&json, "bytes");
    json_string(&json,
                "\xc3\xb1 \xff \xc3"); // one character, and two bytes that form no character
    json_close(&json, '}');
    CHECK(!json.lost);
    CHECK(strcmp(json.text, "{\"a\\\"\\\\\\u000a\":\"x\\u0009y\",\"list\":[-1,2.5e-09,null,true,"
                            "null,{}],\"bytes\":\"\xc3\xb1 \xef\xbf\xbd \xef\xbf\xbd\"}") == 0);
    json_free(&json);
    return check_status();
}
