/* Choosing by measurement. Where several implementations can do the same work, they run in turn when a
 * program is compiled, and each one's minimum time is kept under a key that identifies the choice. What is
 * chosen is a pure function of the kept times, so it never changes within a compilation. Times that were
 * measured beside other programs serve this process only. One instance per backend and thread count; not
 * thread-safe. */
#ifndef RUNTIME_BACKEND_TUNE_H
#define RUNTIME_BACKEND_TUNE_H

#include "base/err.h"
#include "base/texts.h"
#include "runtime/backend/core_share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The key is text, so that times can be kept in a file: "matmul B=8 h=12 ... dtype=f32 threads=2".
 * {0} is empty. */
enum { PDNN_TUNE_KEY_TEXT = 512 };
struct pdnn_tune_key {
    char text[PDNN_TUNE_KEY_TEXT];
    size_t length; /* untruncated length; a key that does not fit is rejected */
};
void pdnn_tune_key_add(struct pdnn_tune_key *key, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

struct pdnn_tune_candidate {
    double (*run)(void *state); /* ns, or INFINITY: the candidate fails */
    void *state;
    int group;         /* candidates compete only within their group */
    bool is_yardstick; /* never skipped as hopeless, because others are compared with it */
    bool fails;        /* result */
    double ns;         /* result: minimum per run over all visits; INFINITY: fails */
};

struct pdnn_tune_rules {
    int rounds;        /* visits per candidate, interleaved */
    int repeats;       /* runs per visit, at least; 0: one */
    uint64_t visit_ns; /* length of a visit, which repeats short runs; 0: no more than that */
    double hopeless;   /* skip candidates this many times slower than their group's best; 0: never */
};

/* Fills in ns, and adds to the share. The first run of each candidate is not counted. If visits repeat runs,
 * one more run estimates how often. */
void pdnn_tune_measure(struct pdnn_core_share *share, const struct pdnn_tune_rules *rules,
                       struct pdnn_tune_candidate *candidate, int n);

/* The first candidate that does not fail, replaced by a later one only if that takes at most `margin` of its
 * time, and so on: noise must not make two runs of one instance choose differently. -1: all fail. */
int pdnn_tune_pick(const double *ns, int n, double margin);

struct pdnn_tune_entry;

/* If set, before anything is measured, replaces the n times that were measured in this process: ranks must
 * choose alike, since they add up what lies in memory. */
extern void (*pdnn_tune_agree)(double *ns, int n);

/* The times measured so far; {0} is empty. */
struct pdnn_tune {
    struct pdnn_texts keys;
    struct pdnn_tune_entry **entries; /* by the key's number */
    size_t room;
    uint64_t compilation;
    int64_t threads;              /* that candidates keep busy; 0: not known (core_share.h) */
    struct pdnn_core_share share; /* of all measurements */
    /* Called after each measurement with all that is known under the key, unless part of that was measured
     * beside other programs; NULL: nobody keeps it. */
    void (*keep)(void *keeper, const struct pdnn_tune_key *key, const double *ns, int n, int compilations);
    void *keeper;
    uint64_t n_measured, measuring_ns; /* measurements so far, and the time they took */
    uint64_t n_recalled;               /* keys that were asked for and needed no measurement here */
    /* A key is measured once, and kept although other programs had a part of the cores: all processes of one
     * comparison choose alike. */
    bool is_final;
    bool is_untried; /* set when a question was answered with a guess, for lack of memory */
    /* A hash of all choices since the caller set it to 0, without those for measuring others. */
    uint64_t chosen;
    int n_measuring; /* questions that are being measured, one for another */
};
void pdnn_tune_finish(struct pdnn_tune *tune);

/* Enters what another process measured in so many compilations. What is already known under the key is
 * replaced. Before the first question only. */
void pdnn_tune_recall(struct pdnn_tune *tune, const struct pdnn_tune_key *key, const double *ns, int n,
                      int compilations);

/* Starts a new compilation, in which times from earlier ones may be measured again. */
void pdnn_tune_begin(struct pdnn_tune *tune);

/* Forgets what the present compilation took from another process, which the library refuses to run: it is
 * another build than the one that was measured. False: there was nothing. */
bool pdnn_tune_forget(struct pdnn_tune *tune);

struct pdnn_tune_question {
    struct pdnn_tune_key key;
    int n;            /* number of times, always the same for a key */
    int compilations; /* how many measure before the times are final: noise comes in bursts */
    /* Fills in n times. is_guess: without running anything, as if all candidates took the same. */
    enum pdnn_status (*measure)(void *state, bool is_guess, double *ns, struct pdnn_err *err);
    void *state;
};

/* Copies the n times under the key, measured unless they are settled. They change only in a later
 * compilation. Fails when measure does; nothing is stored then. When that fails with PDNN_TOO_BIG, for lack
 * of memory, earlier times under the key will do, or else a guess, which is not stored. */
enum pdnn_status pdnn_tune_ask(struct pdnn_tune *tune, const struct pdnn_tune_question *question, double *ns,
                               struct pdnn_err *err);

/* Tells what was picked by the times under a key, as one number or several. */
void pdnn_tune_note(struct pdnn_tune *tune, const struct pdnn_tune_key *key, const int *picks, int n);

#endif
