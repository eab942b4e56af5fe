// SPDX-License-Identifier: BSD-3-Clause
// A failure as one line of text and the exit status that goes with it.
#include "failure.h"

#include <stdarg.h>

void failure_set(struct failure *failure, int status, const char *format, ...) {
    if (failed(failure))
        return;
    va_list list;
    va_start(list, format);
    vsnprintf(failure->text, sizeof failure->text, format, list);
    va_end(list);
    for (char *c = failure->text; *c; c++) // file names and arguments may hold line ends
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    failure->status = status;
}
