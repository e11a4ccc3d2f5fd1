#include "results/import/labels.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 5, WORD_TEXT = 64 };

/* The words of one kind of label, in ParaDnn's terms and in ours. */
static const struct kind {
    const char *family;
    struct {
        const char *theirs, *ours; /* ours is NULL for the minibatch */
    } word[WORDS_MAX];
    const char *unsaid; /* a hyper-parameter that file names say, not labels; NULL: none */
} kinds[] = {
    {"fc",
     {{"layer", "layers"}, {"node", "nodes"}, {"input", "input"}, {"output", "output"}, {"bs", NULL}},
     NULL},
    {"cnn",
     {{"block", "blocks"},
      {"filtersz", "filters"},
      {"input", "image"},
      {"output", "output"},
      {"batchsize", NULL}},
     "block"},
    {"rnn",
     {{"layer", "layers"},
      {"maxlength", "length"},
      {"vocabsize", "vocabulary"},
      {"embeddingsize", "embedding"},
      {"batchsize", NULL}},
     "cell"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

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

enum pdnn_outcome pdnn_state_outcome(const char *state) {
    size_t i = 0;
    while (i < STATES && strcmp(states[i].state, state) != 0)
        i++;
    return i < STATES ? states[i].outcome : PDNN_OUTCOME_COUNT;
}

const char *pdnn_state_suggest(const char *state, char buffer[PDNN_SUGGESTION_TEXT]) {
    const char *names[STATES];
    for (size_t i = 0; i < STATES; i++)
        names[i] = states[i].state;
    return pdnn_suggest(buffer, state, names, STATES);
}

/* One "word_value" of a label. */
struct part {
    char word[WORD_TEXT], value[WORD_TEXT];
};

static int find_word(const struct kind *kind, const char *word) {
    int i = 0;
    while (i < WORDS_MAX && strcmp(kind->word[i].theirs, word) != 0)
        i++;
    return i < WORDS_MAX ? i : -1;
}

static enum pdnn_status split(const char *label, struct part part[WORDS_MAX], size_t *n_parts,
                              struct pdnn_err *err) {
    size_t count = 0;
    for (const char *at = label; at;) {
        size_t length = strcspn(at, "-"), word = strcspn(at, "_"), digits = length - word - 1;
        if (word >= length || length >= WORD_TEXT || !word || !digits ||
            strspn(at + word + 1, "0123456789") != digits)
            return pdnn_fail(err, PDNN_INVALID, "label '%.256s': '%.*s' is not WORD_NUMBER", label,
                             (int)(length < WORD_TEXT ? length : WORD_TEXT), at);
        if (count == WORDS_MAX)
            return pdnn_fail(err, PDNN_INVALID, "label '%.256s': more than %d words", label, WORDS_MAX);
        snprintf(part[count].word, WORD_TEXT, "%.*s", (int)word, at);
        snprintf(part[count].value, WORD_TEXT, "%.*s", (int)digits, at + word + 1);
        count++;
        at = at[length] ? at + length + 1 : NULL;
    }
    *n_parts = count;
    return PDNN_OK;
}

/* The kind that has most of the label's words. */
static const struct kind *choose(const struct part *part, size_t n_parts) {
    const struct kind *chosen = &kinds[0];
    size_t most = 0;
    for (size_t k = 0; k < KINDS; k++) {
        size_t known = 0;
        for (size_t i = 0; i < n_parts; i++)
            known += find_word(&kinds[k], part[i].word) >= 0;
        if (known > most) {
            most = known;
            chosen = &kinds[k];
        }
    }
    return chosen;
}

static enum pdnn_status append_parts(const char *label, const struct kind *kind, const struct part *part,
                                     size_t n_parts, struct pdnn_str *id, struct pdnn_err *err) {
    const struct pdnn_family_def *family = pdnn_family_find(kind->family);
    bool found[WORDS_MAX] = {false};
    if (!family)
        return pdnn_fail(err, PDNN_INTERNAL, "there is no family '%s'", kind->family);
    for (size_t i = 0; i < n_parts; i++) {
        int word = find_word(kind, part[i].word);
        if (word < 0) {
            char suggestion[PDNN_SUGGESTION_TEXT];
            const char *words[WORDS_MAX];
            for (size_t k = 0; k < WORDS_MAX; k++)
                words[k] = kind->word[k].theirs;
            return pdnn_fail(err, PDNN_INVALID, "label '%.256s': unknown word '%s'%s", label, part[i].word,
                             pdnn_suggest(suggestion, part[i].word, words, WORDS_MAX));
        }
        if (found[word])
            return pdnn_fail(err, PDNN_INVALID, "label '%.256s': '%s' is there twice", label, part[i].word);
        found[word] = true;
        const char *ours = kind->word[word].ours;
        pdnn_str_printf(id, "%s%s=%s", i ? "," : "",
                        ours ? ours : family->params[family->minibatch_param].name, part[i].value);
    }
    for (size_t k = 0; k < WORDS_MAX; k++) {
        if (!found[k])
            return pdnn_fail(err, PDNN_INVALID, "label '%.256s': '%s' is missing", label,
                             kind->word[k].theirs);
    }
    return PDNN_OK;
}

/* Several may be one text, "dtype=bf16,threads=2", as in an id. */
static bool is_set(const char *key, const char *const *set, size_t n_set) {
    for (size_t i = 0; i < n_set; i++) {
        for (const char *at = set[i]; at; at = strchr(at, ','), at = at ? at + 1 : NULL) {
            if (strcspn(at, "=") == strlen(key) && strncmp(at, key, strlen(key)) == 0)
                return true;
        }
    }
    return false;
}

enum pdnn_status pdnn_label_parse(const char *label, const char *const *set, size_t n_set,
                                  struct pdnn_instance *instance, struct pdnn_err *err) {
    struct part part[WORDS_MAX];
    struct pdnn_str id = {0};
    size_t n_parts = 0;
    if (split(label, part, &n_parts, err) != PDNN_OK)
        return err->status;
    const struct kind *kind = choose(part, n_parts);
    pdnn_str_printf(&id, "%s/", kind->family);
    enum pdnn_status status = append_parts(label, kind, part, n_parts, &id, err);
    if (status == PDNN_OK && kind->unsaid && !is_set(kind->unsaid, set, n_set))
        status = pdnn_fail(err, PDNN_INVALID,
                           "label '%.256s' does not say which %s the model has: give --set %s=...", label,
                           kind->unsaid, kind->unsaid);
    for (size_t i = 0; i < n_set; i++)
        pdnn_str_printf(&id, ",%s", set[i]);
    if (!is_set("threads", set, n_set))
        pdnn_str_printf(&id, ",threads=1");
    if (status == PDNN_OK && pdnn_instance_parse(pdnn_str_text(&id), instance, err) != PDNN_OK)
        status = pdnn_wrap(err, "label '%.256s'", label);
    if (status == PDNN_OK)
        pdnn_instance_resolve(instance, 1);
    pdnn_str_finish(&id);
    return status;
}
