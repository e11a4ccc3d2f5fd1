/* Claims about two versions of the software on one machine. */
#include "results/claims/pairs.h"
#include "results/store/tables.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library that all models of a side ran on, with its version, as in environment.yaml; empty if there were
 * several or none is known. */
static void software_of(const struct pdnn_report_question *q, int side, struct pdnn_str *version) {
    const struct pdnn_comparison *pairs = q->sides->pairs;
    int column[PDNN_SIDES];
    char key[64];
    pdnn_comparison_setting(pairs, PDNN_SETTING_BACKEND, column);
    const char *backend = pdnn_comparison_get(pairs, 0, side, column[side]);
    for (size_t i = 1; i < pairs->pairs.n_rows; i++) {
        if (strcmp(pdnn_comparison_get(pairs, i, side, column[side]), backend) != 0)
            return;
    }
    snprintf(key, sizeof key, "backend_%.40s", backend);
    pdnn_environment_get(pairs->directory[side], key, version);
}

/* As strverscmp: -1, 0 or 1 by the numbers of the first that has any, "oneDNN 2.6.3" below "oneDNN 3.5". */
static int compare_versions(const char *a, const char *b) {
    a += strcspn(a, "0123456789");
    b += strcspn(b, "0123456789");
    while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
        long x = strtol(a, NULL, 10), y = strtol(b, NULL, 10);
        if (x != y)
            return x < y ? -1 : 1;
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        a += *a == '.';
        b += *b == '.';
    }
    return 0;
}

/* 1 if B has the newer version of one library on one machine, -1 if A has; 0 after a sentence that says why
 * there is no newer one. */
static int newer_side(struct pdnn_report_question *q, char *names[PDNN_SIDES]) {
    struct pdnn_str version[PDNN_SIDES] = {{0}, {0}};
    const struct pdnn_comparison *pairs = q->sides->pairs;
    int newer = 0;
    for (int side = 0; side < PDNN_SIDES; side++) {
        software_of(q, side, &version[side]);
        names[side] = pdnn_arena_strdup(q->arena, pdnn_str_text(&version[side]));
        char *detail = strstr(names[side], " (");
        if (detail)
            *detail = 0;
    }
    if (pairs->n_across)
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The two differ in their settings.");
    else if (!version[0].length || !version[1].length)
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The version of a library is not known.");
    else if (!pdnn_report_is_same_machine(pairs))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "The two are different machines.");
    else if (!(newer = compare_versions(names[PDNN_SIDE_B], names[PDNN_SIDE_A])))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "Both ran %s.", names[PDNN_SIDE_A]);
    for (int side = 0; side < PDNN_SIDES; side++)
        pdnn_str_finish(&version[side]);
    return newer;
}

void pdnn_report_newer_is_faster(struct pdnn_report_question *q) {
    char *names[PDNN_SIDES];
    int newer = pdnn_report_has_pairs(q) ? newer_side(q, names) : 0;
    if (!newer)
        return;
    struct pdnn_mean all = {.n = 0};
    for (size_t i = 0; i < q->sides->pairs->pairs.n_rows; i++)
        pdnn_mean_add(&all, newer * log(pdnn_pair_ratio(q->sides->pairs, i)),
                      pdnn_pair_half(q->sides->pairs, i));
    struct pdnn_mean_interval gain = pdnn_mean_exp(pdnn_mean_interval(&all));
    char text[PDNN_REPORT_RATIO];
    if (isnan(gain.at))
        pdnn_report_say(q, PDNN_CANNOT_BE_TOLD, "%zu models ran on both; at least 3 are needed.", all.n);
    else
        pdnn_report_say(q, pdnn_report_judge(q, gain.low > 1, gain.high < 1),
                        "From %s to %s the speed of models is multiplied by %s, geometric mean of %zu).",
                        names[newer < 0], names[newer > 0], pdnn_report_ratio(text, gain, true), all.n);
}

/* The newer version's gain on one pair, with its interval. */
static struct pdnn_mean_interval gain_of(const struct pdnn_comparison *pairs, size_t pair, int newer) {
    double ratio = pdnn_pair_ratio(pairs, pair);
    double low = pdnn_table_number(&pairs->pairs, pair, PDNN_PAIR_LOW);
    double high = pdnn_table_number(&pairs->pairs, pair, PDNN_PAIR_HIGH);
    return newer > 0 ? (struct pdnn_mean_interval){ratio, low, high}
                     : (struct pdnn_mean_interval){1 / ratio, 1 / high, 1 / low};
}

/* By what the gain is at least; a pair without an interval comes last, and among these the ratio counts. */
static bool is_greater(struct pdnn_mean_interval gain, struct pdnn_mean_interval than) {
    if (isnan(gain.low) || isnan(than.low))
        return isnan(gain.low) == isnan(than.low) ? gain.at > than.at : isnan(than.low);
    return gain.low > than.low;
}

/* Whether the greatest gain is clearly above 2; it is not if no model's can be. */
void pdnn_report_newer_doubles_some(struct pdnn_report_question *q) {
    static const double factor = 2;
    char *names[PDNN_SIDES];
    int newer = pdnn_report_has_pairs(q) ? newer_side(q, names) : 0;
    const struct pdnn_comparison *pairs = q->sides->pairs;
    size_t best = 0;
    bool none = true, some = false;
    if (!newer)
        return;
    for (size_t i = 0; i < pairs->pairs.n_rows; i++) {
        struct pdnn_mean_interval gain = gain_of(pairs, i, newer);
        some = some || gain.low > factor;
        none = none && gain.high < factor; /* not without an interval */
        if (is_greater(gain, gain_of(pairs, best, newer)))
            best = i;
    }
    struct pdnn_mean_interval most = gain_of(pairs, best, newer);
    char interval[64] = "no interval";
    if (!isnan(most.low))
        snprintf(interval, sizeof interval, "95 %% interval %.3g to %.3g", most.low, most.high);
    pdnn_report_say(q, pdnn_report_judge(q, some, none),
                    "Of %zu models, the greatest gain from %s to %s is %.3g times (%s): %s.",
                    pairs->pairs.n_rows, names[newer < 0], names[newer > 0], most.at, interval,
                    pdnn_table_text(&pairs->pairs, best, PDNN_PAIR_ID));
}
