#include "runtime/worker/choices.h"

#include "base/memory.h"
#include "base/rng.h"
#include "models/isa.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NUMBERS_MAX = 4096 };

static void add(void *keeper, const struct pdnn_tune_key *key, const double *ns, int n, int compilations) {
    struct pdnn_str text = {0};
    pdnn_str_printf(&text, "%d %d", compilations, n);
    for (int i = 0; i < n; i++)
        pdnn_str_printf(&text, " %.17g", ns[i]); /* "inf" for what fails */
    pdnn_str_printf(&text, " %s", key->text);
    pdnn_kept_add(keeper, text.text);
    pdnn_str_finish(&text);
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

static void recall(void *tune, const char *text) {
    struct pdnn_tune_key key = {0};
    int compilations = read_count(&text, 1000), n = compilations ? read_count(&text, NUMBERS_MAX) : 0;
    double *ns = pdnn_alloc((size_t)n, sizeof *ns);
    if (n && read_times(&text, ns, n)) {
        pdnn_tune_key_add(&key, "%s", text);
        if (key.length && key.length < sizeof key.text)
            pdnn_tune_recall(tune, &key, ns, n, compilations);
    }
    free(ns);
}

void pdnn_choices_keep(struct pdnn_tune *tune, struct pdnn_kept *file, const char *directory,
                       const struct pdnn_environment_key *context) {
    struct pdnn_str text = {0};
    if (!directory[0])
        return;
    pdnn_environment_key_format(context, &text);
    pdnn_kept_open(file, directory, "choices", text.text);
    pdnn_kept_read(file, recall, tune);
    tune->keep = add;
    tune->keeper = file;
    pdnn_str_finish(&text);
}

struct pdnn_visit_choices pdnn_choices_made(const struct pdnn_tune *tune,
                                            const struct pdnn_instance *instance, const char *effective_isa) {
    struct pdnn_instance alike = *instance;
    char id[PDNN_ID_TEXT];
    alike.setting[PDNN_SETTING_ISA] = PDNN_ISA_DEFAULT;
    alike.setting[PDNN_SETTING_LIBRARY] = 0;
    const uint64_t model = pdnn_rng_mix_text(0, pdnn_instance_format(&alike, id));
    return (struct pdnn_visit_choices){.questions = pdnn_rng_mix_text(model, effective_isa),
                                       .answers = tune->chosen};
}
