#include "runtime/worker/choices.h"

#include "base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NUMBERS_MAX = 4096 };

static void add(void *keeper, const struct pdnn_tune_key *key, const double *ns, int n, int compilations) {
    const struct pdnn_choices *choices = keeper;
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%" PRIu64 " %d %d", choices->cache_bytes, compilations, n);
    for (int i = 0; i < n; i++)
        pdnn_str_printf(&text, " %.17g", ns[i]); /* "inf" for what fails */
    pdnn_str_printf(&text, " %s", key->text);
    pdnn_kept_add(&choices->file, text.text);
    pdnn_str_finish(&text);
}

/* The sizes found for one cache differ between runs, by up to 2.8 where others use it too. */
static bool is_alike(uint64_t bytes, uint64_t others) {
    return bytes / 4 <= others && others / 4 <= bytes && (bytes == 0) == (others == 0);
}

/* The cache that the entry at *text was measured with is like this one; *text then moves behind it. */
static bool read_cache(const char **text, uint64_t bytes) {
    char *end;
    unsigned long long measured = strtoull(*text, &end, 10);
    if (end == *text || *end != ' ' || !is_alike(measured, bytes))
        return false;
    *text = end + 1;
    return true;
}

/* A whole number from 1 to most at *text, which then moves behind it; 0: there is none. */
static int read_count(const char **text, long most) {
    char *end;
    long count = strtol(*text, &end, 10);
    bool is_good = end > *text && *end == ' ' && count >= 1 && count <= most;
    *text = is_good ? end + 1 : *text;
    return is_good ? (int)count : 0;
}

/* Times are positive, or infinite for what fails; not everything fails. */
static bool read_times(const char **text, double *ns, int n) {
    bool any = false;
    for (int i = 0; i < n; i++) {
        char *end;
        ns[i] = strtod(*text, &end);
        if (end == *text || *end != ' ' || !(ns[i] >= 0))
            return false;
        any = any || isfinite(ns[i]);
        *text = end + 1;
    }
    return any;
}

struct recall {
    struct pdnn_tune *tune;
    uint64_t cache_bytes;
};

static void recall_one(void *user, const char *text) {
    struct recall *recall = user;
    struct pdnn_tune_key key = {0};
    if (!read_cache(&text, recall->cache_bytes))
        return;
    int compilations = read_count(&text, 1000), n = compilations ? read_count(&text, NUMBERS_MAX) : 0;
    double *ns = pdnn_alloc((size_t)n, sizeof *ns);
    if (n && read_times(&text, ns, n)) {
        pdnn_tune_key_add(&key, "%s", text);
        if (key.length && key.length < sizeof key.text)
            pdnn_tune_recall(recall->tune, &key, ns, n, compilations);
    }
    free(ns);
}

void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_choices *choices, const char *directory,
                       const struct pdnn_environment_key *context, uint64_t cache_bytes) {
    struct pdnn_str text = {0};
    if (!directory[0])
        return;
    pdnn_environment_key_format(context, &text);
    struct recall recall = {tune, cache_bytes};
    choices->cache_bytes = cache_bytes;
    pdnn_kept_open(&choices->file, directory, "choices", text.text);
    pdnn_kept_read(&choices->file, recall_one, &recall);
    tune->keep = add;
    tune->keeper = choices;
    pdnn_str_finish(&text);
}
