// SPDX-License-Identifier: BSD-3-Clause
// Intercepts calls of MPI under their names in C and in Fortran: those of mpif.h and the module
// mpi, and those of mpi_f08.
//
// A library's Fortran enters MPI by the calls of C, or by those of PMPI, or by both (MPICH and
// Intel MPI). All calls of Open MPI's Fortran enter PMPI. A call inside of another one is a part
// of that call, so that each call of the program counts once. The parameter names of calls.def
// have the same meaning in both languages.
#pragma once

#include "standard.h"

#include <mpi.h>

// A function that takes the place of another one. All others are hidden, because a program or a
// second preloaded library may have functions of their names.
#define INTERCEPTED __attribute__((visibility("default")))

// Writes the address of the next function of that name to the pointer at `function`.
void intercept_find(const char *name, void *function);

// Reports a program that used MPI, but whose calls the library did not see. `lost` is what the
// program lacks for this reason. To be called by a destructor.
void intercept_report(const char *library, bool seen, const char *lost);

// The number of intercepted calls in which this thread is.
extern _Thread_local int intercept_depth __attribute__((tls_model("initial-exec")));

// Values of arguments, which are addresses in Fortran.
#define VALUES(kind, Type, of_fortran)                                                            \
    static inline Type kind##_itself(Type value) {                                                \
        return value;                                                                             \
    }                                                                                             \
    static inline Type kind##_of_fortran(const void *at) {                                        \
        return of_fortran;                                                                        \
    }
VALUES(count, MPI_Count, *(const MPI_Fint *)at)
VALUES(large, MPI_Count, *(const MPI_Count *)at)
VALUES(comm, MPI_Comm, MPI_Comm_f2c(*(const MPI_Fint *)at))
VALUES(type, MPI_Datatype, MPI_Type_f2c(*(const MPI_Fint *)at))
#define VALUE_OF(kind, x) _Generic((x), void * : kind##_of_fortran, default : kind##_itself)(x)

#define OPEN(...) __VA_ARGS__
#define ADDRESSES_1(a) void *a
#define ADDRESSES_2(a, ...) void *a, ADDRESSES_1(__VA_ARGS__)
#define ADDRESSES_3(a, ...) void *a, ADDRESSES_2(__VA_ARGS__)
#define ADDRESSES_4(a, ...) void *a, ADDRESSES_3(__VA_ARGS__)
#define ADDRESSES_5(a, ...) void *a, ADDRESSES_4(__VA_ARGS__)
#define ADDRESSES_6(a, ...) void *a, ADDRESSES_5(__VA_ARGS__)
#define ADDRESSES_7(a, ...) void *a, ADDRESSES_6(__VA_ARGS__)
#define ADDRESSES_8(a, ...) void *a, ADDRESSES_7(__VA_ARGS__)
#define ADDRESSES_9(a, ...) void *a, ADDRESSES_8(__VA_ARGS__)
#define ADDRESSES_10(a, ...) void *a, ADDRESSES_9(__VA_ARGS__)
#define ADDRESSES_11(a, ...) void *a, ADDRESSES_10(__VA_ARGS__)
#define ADDRESSES_12(a, ...) void *a, ADDRESSES_11(__VA_ARGS__)
#define ADDRESSES_13(a, ...) void *a, ADDRESSES_12(__VA_ARGS__)
#define ADDRESSES_OF(a, b, c, d, e, f, g, h, i, j, k, l, m, n, ...) ADDRESSES_##n
#define ADDRESSES_BY(n, ...) n(__VA_ARGS__)
#define ADDRESSES(...)                                                                            \
    ADDRESSES_BY(ADDRESSES_OF(__VA_ARGS__, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),         \
                 __VA_ARGS__)

// Calls `next` between two statements, unless it is inside of another call. Both statements may
// use the arguments and `noted`.
#define INTERCEPT_AROUND(before, next, after)                                                     \
    double noted = 0;                                                                             \
    bool outer = intercept_depth++ == 0;                                                          \
    (void)noted;                                                                                  \
    if (outer) {                                                                                  \
        before;                                                                                   \
    }                                                                                             \
    next;                                                                                         \
    if (outer) {                                                                                  \
        after;                                                                                    \
    }                                                                                             \
    intercept_depth--;

// In C only.
#define INTERCEPT_C(Name, parameters, on, before, after)                                          \
    INTERCEPTED int MPI_##Name parameters {                                                       \
        int outcome;                                                                              \
        INTERCEPT_AROUND(before, outcome = PMPI_##Name on, after)                                 \
        return outcome;                                                                           \
    }

// One name of Fortran; `on` ends with `error`.
#define INTERCEPT_FORTRAN(name, on, before, after)                                                \
    INTERCEPTED void mpi_##name(ADDRESSES on) {                                                   \
        static __typeof__(mpi_##name) *next;                                                      \
        if (!next)                                                                                \
            intercept_find("mpi_" #name, &next);                                                  \
        INTERCEPT_AROUND(before, next on, after)                                                  \
    }

// In both languages; `on` names the arguments, as calls.def does.
#define INTERCEPT(Name, name, parameters, on, before, after)                                      \
    INTERCEPT_C(Name, parameters, on, before, after)                                              \
    INTERCEPT_FORTRAN(name##_, (OPEN on, error), before, after)                                   \
    INTERCEPT_FORTRAN(name##_f08_, (OPEN on, error), before, after)

// A call with large counts, which Fortran has in mpi_f08 only: their kind is `large`.
#define INTERCEPT_LARGE(Name, name, parameters, on, before, after)                                \
    INTERCEPT_C(Name, parameters, on, before, after)                                              \
    INTERCEPT_FORTRAN(name##_f08_, (OPEN on, error), before, after)

// The begin and the end of MPI.
#define INTERCEPT_INIT(before, after)                                                             \
    INTERCEPT_C(Init, (int *count, char ***words), (count, words), before, after)                 \
    INTERCEPT_C(Init_thread, (int *count, char ***words, int required, int *provided),            \
                (count, words, required, provided), before, after)                                \
    INTERCEPT_FORTRAN(init_, (error), before, after)                                              \
    INTERCEPT_FORTRAN(init_f08_, (error), before, after)                                          \
    INTERCEPT_FORTRAN(init_thread_, (required, provided, error), before, after)                   \
    INTERCEPT_FORTRAN(init_thread_f08_, (required, provided, error), before, after)
#define INTERCEPT_FINALIZE(before)                                                                \
    INTERCEPT_C(Finalize, (void), (), before, )                                                   \
    INTERCEPT_FORTRAN(finalize_, (error), before, )                                               \
    INTERCEPT_FORTRAN(finalize_f08_, (error), before, )
