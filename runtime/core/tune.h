/* Choices by measuring: where several implementations do the same work, they run in turns when a program is
 * compiled, and the least time of each is kept under a key that tells this choice from all others. What is
 * chosen is a pure function of the kept times: within one compilation it never changes. For one backend at
 * one thread count; not for several threads at a time. */
#ifndef RUNTIME_CORE_TUNE_H
#define RUNTIME_CORE_TUNE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As text, so that the times could be kept in a file: "matmul B=8 h=12 ... dtype=f32 threads=2". {0} is
 * empty.
 */
enum { PDNN_TUNE_KEY_TEXT = 512 };
struct pdnn_tune_key {
    char text[PDNN_TUNE_KEY_TEXT];
    size_t length; /* that it should have: one that does not fit is refused */
};
void pdnn_tune_key_add(struct pdnn_tune_key *key, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct pdnn_tune_candidate {
    int (*run)(const void *state); /* 0, or an error code: then it fails */
    const void *state;
    int group;         /* only candidates of one group compete */
    bool is_yardstick; /* measured to the end, since others are compared with it */
    bool fails;        /* the results */
    double ns;         /* of one run, the least of all visits; INFINITY: it fails */
};

struct pdnn_tune_rules {
    int rounds;        /* visits to each candidate, in turns */
    uint64_t visit_ns; /* a visit repeats short runs to last about as long; 0: it is one run */
    double hopeless;   /* no more visits to what takes that many times the least of its group; 0: to all */
    uint64_t (*clock_ns)(void); /* NULL: pdnn_clock_ns */
};

/* Fills in ns. The first run of each candidate is not counted. Where visits repeat, one counted run says how
 * often. */
void pdnn_tune_measure(const struct pdnn_tune_rules *rules, struct pdnn_tune_candidate *candidate, int n);

/* The first that does not fail, unless one after it takes at most `margin` of its time; and so on from that
 * one: noise must not make two runs of one instance differ. -1: all fail. */
int pdnn_tune_pick(const double *ns, int n, double margin);

struct pdnn_tune_entry;

/* The times found so far; {0} is empty. */
struct pdnn_tune {
    struct pdnn_tune_entry *first;
    uint64_t compilation;
};
void pdnn_tune_finish(struct pdnn_tune *tune);

/* A new compilation begins: what was settled in an earlier one may be measured again. */
void pdnn_tune_begin(struct pdnn_tune *tune);

struct pdnn_tune_question {
    struct pdnn_tune_key key;
    int n;            /* how many times there are, for one key always as many */
    int compilations; /* the first ones that ask measure; the least counts, since noise comes in spells */
    enum pdnn_status (*measure)(void *state, double *ns, struct pdnn_err *err); /* fills in n times */
    void *state;
};

/* *ns[0..n): the times under the key, measured now unless they are settled. They live as long as tune and
 * change in a later compilation only. Fails as measure does; nothing is kept then. */
enum pdnn_status pdnn_tune_ask(struct pdnn_tune *tune, const struct pdnn_tune_question *question,
                               const double **ns, struct pdnn_err *err);

#endif
