#include "results/import/labels.h"
#include "models/zoo/catalog.h"
#include "models/family.h"

#include <stdio.h>
#include <string.h>

enum { WORDS = 5 };

/* The words of one kind of label, in ParaDnn's terms and in ours. */
static const struct kind {
    const char *family;
    const char *theirs[WORDS], *ours[WORDS]; /* NULL: the minibatch */
    const char *unsaid; /* a hyper-parameter that file names say, not labels; NULL: none */
} kinds[] = {
    {"fc", {"layer", "node", "input", "output", "bs"}, {"layers", "nodes", "input", "output", NULL}, NULL},
    {"cnn",
     {"block", "filtersz", "input", "output", "batchsize"},
     {"blocks", "filters", "image", "output", NULL},
     "block"},
    {"rnn",
     {"layer", "maxlength", "vocabsize", "embeddingsize", "batchsize"},
     {"layers", "length", "vocabulary", "embedding", NULL},
     "cell"},
};

/* Why their runs ended, as their scripts wrote it. */
static const struct {
    const char *state;
    enum pdnn_outcome outcome;
} states[] = {
    {"OOM", PDNN_OUTCOME_OOM},
    {"Deadline Exceeded", PDNN_OUTCOME_TIMEOUT},
    {"Negative dimension size", PDNN_OUTCOME_INVALID},
    {"NaN value", PDNN_OUTCOME_NUMERIC_ERROR},
    {"Socket closed", PDNN_OUTCOME_CRASH},
    {"unhealthy", PDNN_OUTCOME_CRASH},
    {"FAILED state", PDNN_OUTCOME_CRASH},
    {"no error but not finished", PDNN_OUTCOME_INTERRUPTED},
    {"finished but no performance", PDNN_OUTCOME_INTERRUPTED},
    {"not run", PDNN_OUTCOME_INTERRUPTED},
};
enum { STATES = sizeof states / sizeof *states };

enum pdnn_status pdnn_state_outcome(const char *state, enum pdnn_outcome *outcome, struct pdnn_err *err) {
    char suggestion[PDNN_SUGGESTION_TEXT];
    const char *names[STATES];
    *outcome = *state ? pdnn_outcome_find(state) : PDNN_OUTCOME_OK;
    for (size_t i = 0; i < STATES; i++) {
        names[i] = states[i].state;
        if (strcmp(names[i], state) == 0)
            *outcome = states[i].outcome;
    }
    if (*outcome == PDNN_OUTCOME_COUNT)
        return pdnn_fail(err, PDNN_INVALID, "unknown state '%.64s'%s", state,
                         pdnn_suggest(suggestion, state, names, STATES));
    return PDNN_OK;
}

/* Which of the kind's words the part of a label begins with; WORDS: none. */
static size_t find_word(const struct kind *kind, const char *part) {
    const size_t length = strcspn(part, "_-");
    size_t k = 0;
    while (k < WORDS && (strlen(kind->theirs[k]) != length || strncmp(kind->theirs[k], part, length) != 0))
        k++;
    return k;
}

/* The kind that the label has the second word of, which is its own; the first if of none. */
static const struct kind *choose(const char *label) {
    const struct kind *kind = kinds + sizeof kinds / sizeof *kinds - 1;
    while (kind > kinds && !strstr(label, kind->theirs[1]))
        kind--;
    return kind;
}

/* Several may be one text, "dtype=bf16,threads=2", as in an id. */
static bool is_set(const char *key, const char *const *set, size_t n_set) {
    for (size_t i = 0; i < n_set; i++) {
        size_t length;
        for (const char *rest = set[i], *at; (at = pdnn_part_next(&rest, ",", &length));) {
            if (strcspn(at, "=") == strlen(key) && strncmp(at, key, strlen(key)) == 0)
                return true;
        }
    }
    return false;
}

enum pdnn_status pdnn_label_id(const char *label, const char *const *set, size_t n_set, struct pdnn_str *id,
                               struct pdnn_err *err) {
    const struct kind *kind = choose(label);
    const struct pdnn_family_def *family = pdnn_family_find(kind->family);
    bool found[WORDS] = {false};
    pdnn_str_printf(id, "%s", kind->family);
    size_t part_length;
    for (const char *rest = label, *part; (part = pdnn_part_next(&rest, "-", &part_length));) {
        const int length = (int)part_length, word = (int)strcspn(part, "_"), n_digits = length - word - 1;
        const char *digits = part + word + 1;
        const size_t k = find_word(kind, part);
        char suggestion[PDNN_SUGGESTION_TEXT], unknown[64];
        if (!word || n_digits <= 0 || strspn(digits, "0123456789") != (size_t)n_digits)
            return pdnn_fail(err, PDNN_INVALID, "'%.*s' is not WORD_NUMBER", length < 64 ? length : 64, part);
        snprintf(unknown, sizeof unknown, "%.*s", word, part);
        if (k == WORDS)
            return pdnn_fail(err, PDNN_INVALID, "unknown word '%s'%s", unknown,
                             pdnn_suggest(suggestion, unknown, kind->theirs, WORDS));
        if (found[k])
            return pdnn_fail(err, PDNN_INVALID, "'%s' is there twice", kind->theirs[k]);
        found[k] = true;
        pdnn_str_printf(id, ",%s=%.*s",
                        kind->ours[k] ? kind->ours[k] : family->params[family->minibatch_param].name,
                        n_digits, digits);
    }
    for (size_t k = 0; k < WORDS; k++)
        if (!found[k])
            return pdnn_fail(err, PDNN_INVALID, "'%s' is missing", kind->theirs[k]);
    if (kind->unsaid && !is_set(kind->unsaid, set, n_set))
        return pdnn_fail(err, PDNN_INVALID, "does not say which %s the model has: give --set %s=...",
                         kind->unsaid, kind->unsaid);
    return PDNN_OK;
}
