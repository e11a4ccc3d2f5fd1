#include "runtime/backend/tune.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_REPEATS = 50 };

struct pdnn_tune_entry {
    struct pdnn_tune_key key;
    uint64_t compilation; /* the last one that measured it */
    uint64_t asked;       /* the last one that asked for it */
    bool is_forgotten;    /* as if it were not there */
    int n_compilations;
    bool is_recalled;  /* no question has been answered with it yet */
    bool is_disturbed; /* measured beside other programs */
    int n;
    double ns[]; /* minimum over all measurements */
};

/* A compilation of another process. */
static const uint64_t of_another = UINT64_MAX;

void (*pdnn_tune_agree)(double *ns, int n);

void pdnn_tune_key_add(struct pdnn_tune_key *key, const char *format, ...) {
    size_t begin = key->length < sizeof key->text ? key->length : sizeof key->text - 1;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(key->text + begin, sizeof key->text - begin, format, arguments);
    va_end(arguments);
    key->length += length > 0 ? (size_t)length : 0;
}

/* ns per run. Repeats short runs to fill a visit, given an estimate of one run's time; 0: there is none. */
static double visit(const struct pdnn_tune_rules *rules, const struct pdnn_tune_candidate *candidate,
                    double about_ns) {
    double fill = about_ns > 0 ? (double)rules->visit_ns / about_ns : 0, ns = 0;
    int repeats = fill < MAX_REPEATS ? 1 + (int)fill : MAX_REPEATS;
    repeats = repeats < rules->repeats ? rules->repeats : repeats;
    for (int i = 0; isfinite(ns) && i < repeats; i++)
        ns += candidate->run(candidate->state);
    return ns / repeats;
}

/* The shortest time measured in the group. */
static double least(const struct pdnn_tune_candidate *candidate, int n, int group) {
    double ns = INFINITY;
    for (int i = 0; i < n; i++) {
        if (candidate[i].group == group && candidate[i].ns < ns)
            ns = candidate[i].ns;
    }
    return ns;
}

static void keep(struct pdnn_tune_candidate *candidate, double ns) {
    candidate->fails = !isfinite(ns);
    candidate->ns = candidate->fails || ns < candidate->ns ? ns : candidate->ns;
}

void pdnn_tune_measure(struct pdnn_core_share *share, const struct pdnn_tune_rules *rules,
                       struct pdnn_tune_candidate *candidate, int n) {
    pdnn_core_share_begin(share);
    for (int i = 0; i < n; i++) {
        /* The first run is warm-up and not counted. */
        candidate[i].fails = !isfinite(candidate[i].run(candidate[i].state));
        candidate[i].ns = INFINITY;
        if (!candidate[i].fails && rules->visit_ns)
            keep(&candidate[i], visit(rules, &candidate[i], 0));
    }
    for (int round = 0; round < rules->rounds; round++) {
        for (int i = 0; i < n; i++) {
            double best_ns = least(candidate, n, candidate[i].group);
            bool is_hopeless = rules->hopeless > 0 && !candidate[i].is_yardstick && isfinite(best_ns) &&
                               candidate[i].ns > rules->hopeless * best_ns;
            if (!candidate[i].fails && !is_hopeless)
                keep(&candidate[i], visit(rules, &candidate[i], rules->visit_ns ? candidate[i].ns : 0));
        }
    }
    pdnn_core_share_end(share);
}

int pdnn_tune_pick(const double *ns, int n, double margin) {
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (isfinite(ns[i]) && (best < 0 || ns[i] <= margin * ns[best]))
            best = i;
    }
    return best;
}

void pdnn_tune_finish(struct pdnn_tune *tune) {
    for (size_t i = 0; i < tune->keys.count; i++)
        free(tune->entries[i]);
    free(tune->entries);
    pdnn_texts_finish(&tune->keys);
    tune->entries = NULL;
    tune->room = 0;
}

void pdnn_tune_begin(struct pdnn_tune *tune) {
    tune->compilation++;
}

static struct pdnn_tune_entry *find(const struct pdnn_tune *tune, const struct pdnn_tune_key *key) {
    size_t number = pdnn_texts_find(&tune->keys, key->text);
    return number == SIZE_MAX || tune->entries[number]->is_forgotten ? NULL : tune->entries[number];
}

bool pdnn_tune_forget(struct pdnn_tune *tune) {
    bool any = false;
    for (size_t i = 0; i < tune->keys.count; i++) {
        struct pdnn_tune_entry *entry = tune->entries[i];
        entry->is_forgotten =
            entry->is_forgotten || (entry->compilation == of_another && entry->asked == tune->compilation);
        any = any || entry->is_forgotten;
    }
    return any;
}

/* An entry without times, in the place of another under this key. */
static struct pdnn_tune_entry *add(struct pdnn_tune *tune, const struct pdnn_tune_key *key, int n) {
    struct pdnn_tune_entry *entry = pdnn_alloc(1, sizeof *entry + (size_t)n * sizeof *entry->ns);
    size_t before = tune->keys.count;
    tune->entries = pdnn_grow(tune->entries, &tune->room, before, sizeof(struct pdnn_tune_entry *));
    size_t number = pdnn_texts_add(&tune->keys, key->text);
    entry->key = *key;
    entry->n = n;
    for (int i = 0; i < entry->n; i++)
        entry->ns[i] = INFINITY;
    if (number < before)
        free(tune->entries[number]);
    tune->entries[number] = entry;
    return entry;
}

void pdnn_tune_recall(struct pdnn_tune *tune, const struct pdnn_tune_key *key, const double *ns, int n,
                      int compilations) {
    struct pdnn_tune_entry *entry = add(tune, key, n);
    memcpy(entry->ns, ns, (size_t)n * sizeof *ns);
    entry->compilation = of_another;
    entry->n_compilations = compilations;
    entry->is_recalled = true;
}

/* Whether other programs had a part of the cores since the share was `before`. */
static bool is_disturbed(const struct pdnn_tune *tune, const struct pdnn_core_share *before) {
    const struct pdnn_core_share since = {.cpu_ns = tune->share.cpu_ns - before->cpu_ns,
                                          .wall_ns = tune->share.wall_ns - before->wall_ns};
    return pdnn_core_share_is_low(pdnn_core_share_of(&since, tune->threads));
}

/* Measures and merges the minimum times into the entry, creating it if needed. */
static enum pdnn_status measure(struct pdnn_tune *tune, const struct pdnn_tune_question *question,
                                struct pdnn_tune_entry **entry, struct pdnn_err *err) {
    double *ns = pdnn_alloc((size_t)question->n, sizeof *ns);
    uint64_t start_ns = pdnn_clock_ns(), before_ns = tune->measuring_ns;
    const struct pdnn_core_share before = tune->share; /* nested measurements are part of this one */
    tune->n_measuring++;
    enum pdnn_status status = question->measure(question->state, false, ns, err);
    tune->n_measuring--;
    if (status == PDNN_OK && pdnn_tune_agree)
        pdnn_tune_agree(ns, question->n);
    tune->measuring_ns = before_ns + pdnn_clock_ns() - start_ns;
    if (status == PDNN_OK) {
        *entry = *entry ? *entry : add(tune, &question->key, question->n);
        for (int i = 0; i < question->n; i++)
            (*entry)->ns[i] = ns[i] < (*entry)->ns[i] ? ns[i] : (*entry)->ns[i];
        (*entry)->compilation = tune->compilation;
        (*entry)->n_compilations++;
        (*entry)->is_disturbed = (*entry)->is_disturbed || is_disturbed(tune, &before);
        tune->n_measured++;
        if (tune->keep && (tune->is_final || !(*entry)->is_disturbed))
            tune->keep(tune->keeper, &(*entry)->key, (*entry)->ns, (*entry)->n, (*entry)->n_compilations);
    }
    free(ns);
    return status;
}

enum pdnn_status pdnn_tune_ask(struct pdnn_tune *tune, const struct pdnn_tune_question *question, double *ns,
                               struct pdnn_err *err) {
    if (question->key.length >= sizeof question->key.text)
        return pdnn_fail(err, PDNN_INTERNAL, "the key of a choice has %zu letters", question->key.length);
    struct pdnn_tune_entry *entry = find(tune, &question->key);
    if (entry && entry->is_recalled && entry->n != question->n)
        entry = NULL; /* of another program */
    if (entry && entry->n != question->n)
        return pdnn_fail(err, PDNN_INTERNAL, "two choices have the key \"%s\"", question->key.text);
    /* Times are frozen within a compilation, so that choices already made stay consistent. */
    bool is_settled = entry && (tune->is_final || entry->compilation == tune->compilation ||
                                entry->n_compilations >= question->compilations);
    enum pdnn_status status = is_settled ? PDNN_OK : measure(tune, question, &entry, err);
    if (status == PDNN_TOO_BIG && entry) /* times of an earlier compilation are better than none */
        status = PDNN_OK;
    if (status == PDNN_TOO_BIG) {
        tune->is_untried = true;
        return question->measure(question->state, true, ns, err);
    }
    if (status != PDNN_OK)
        return status;
    tune->n_recalled += is_settled && entry->is_recalled;
    entry->is_recalled = false;
    entry->asked = tune->compilation;
    memcpy(ns, entry->ns, (size_t)entry->n * sizeof *ns);
    return PDNN_OK;
}

void pdnn_tune_note(struct pdnn_tune *tune, const struct pdnn_tune_key *key, const int *picks, int n) {
    if (tune->n_measuring)
        return;
    tune->chosen = pdnn_rng_mix_text(tune->chosen, key->text);
    for (int i = 0; i < n; i++)
        tune->chosen = pdnn_rng_mix(tune->chosen + (uint64_t)picks[i]);
}
