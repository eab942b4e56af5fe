// SPDX-License-Identifier: BSD-3-Clause
// Prints the control variables of an MPI library in JSON: name, description, and the names of the
// values where they are enumerated (MPI tool information interface; MPI itself is not started).
#include "core/json.h"

#include <mpi.h>

enum { TEXT_MOST = 1 << 14 };

static void describe_values(MPI_T_enum values, struct json *json) {
    int count = 0, room = TEXT_MOST;
    static char text[TEXT_MOST];
    json_member(json, "values", open, '[');
    if (values != MPI_T_ENUM_NULL &&
        MPI_T_enum_get_info(values, &count, text, &room) == MPI_SUCCESS)
        for (int i = 0; i < count; i++) {
            int value;
            room = sizeof text;
            if (MPI_T_enum_get_item(values, i, &value, text, &room) == MPI_SUCCESS)
                json_string(json, text);
        }
    json_close(json, ']');
}

int main(void) {
    int provided, count = 0;
    struct json json = {0};
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
        MPI_T_cvar_get_num(&count) != MPI_SUCCESS)
        return 1;
    json_open(&json, '[');
    for (int i = 0; i < count; i++) {
        static char name[TEXT_MOST], description[TEXT_MOST];
        int name_room = sizeof name, description_room = sizeof description, verbosity, binds,
            scope;
        MPI_Datatype type;
        MPI_T_enum values;
        if (MPI_T_cvar_get_info(i, name, &name_room, &verbosity, &type, &values, description,
                                &description_room, &binds, &scope) != MPI_SUCCESS)
            continue;
        json_open(&json, '{');
        json_member(&json, "name", string, name);
        json_member(&json, "description", string, description);
        describe_values(values, &json);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    MPI_T_finalize();
    if (json.lost)
        return 1;
    puts(json.text);
    json_free(&json);
    return fflush(stdout) == 0 ? 0 : 1;
}
