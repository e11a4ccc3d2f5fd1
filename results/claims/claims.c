#include "results/claims/claims.h"
#include "results/table/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void pdnn_report_say(struct pdnn_report_question *question, enum pdnn_verdict verdict, const char *format,
                     ...) {
    va_list arguments;
    struct pdnn_str sentence = {0};
    question->verdict = verdict;
    va_start(arguments, format);
    pdnn_str_vprintf(&sentence, format, arguments);
    va_end(arguments);
    question->sentence = pdnn_arena_strdup(question->arena, pdnn_str_text(&sentence));
    pdnn_str_finish(&sentence);
}

const char *pdnn_report_ratio(char text[PDNN_REPORT_RATIO], struct pdnn_mean_interval ratio,
                              const char *between) {
    struct pdnn_str out = {0};
    pdnn_factor_append(&out, ratio.at);
    pdnn_str_printf(&out, "%s", isnan(ratio.low) ? " (no interval" : between);
    if (!isnan(ratio.low)) {
        pdnn_factor_append(&out, ratio.low);
        pdnn_str_printf(&out, " to ");
        pdnn_factor_append(&out, ratio.high);
    }
    snprintf(text, PDNN_REPORT_RATIO, "%s", pdnn_str_text(&out));
    pdnn_str_finish(&out);
    return text;
}

enum pdnn_verdict pdnn_report_judge(struct pdnn_report_question *question, bool holds, bool does_not) {
    if (!holds && !does_not)
        question->tells = "A narrower interval: more models like these, or more rounds.";
    return holds ? PDNN_HOLDS : does_not ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD;
}

enum pdnn_verdict pdnn_report_apply(struct pdnn_report_question *question,
                                    struct pdnn_mean_interval interval) {
    const struct pdnn_report_claim *claim = question->claim;
    const double factor = claim->factor;
    const bool is_above = interval.low > factor,
               is_below = interval.high<factor, is_within = interval.low> 1 / factor && is_below,
               is_beyond = is_above || interval.high < 1 / factor;
    return claim->rule == PDNN_ABOVE    ? pdnn_report_judge(question, is_above, is_below)
           : claim->rule == PDNN_WITHIN ? pdnn_report_judge(question, is_within, is_beyond)
                                        : pdnn_report_judge(question, is_beyond, is_within);
}

void pdnn_report_conclude(struct pdnn_report_question *question, const struct pdnn_mean *logs,
                          const char *begins, const char *of) {
    const struct pdnn_mean_interval ratio = pdnn_mean_exp(pdnn_mean_interval(logs));
    char text[PDNN_REPORT_RATIO];
    if (isnan(ratio.at))
        pdnn_report_say(question, PDNN_CANNOT_BE_TOLD, "%s: %zu; at least 3 are needed.",
                        question->claim->few, logs->n);
    else
        pdnn_report_say(question, pdnn_report_apply(question, ratio), "%s %s, geometric mean of %zu %s).",
                        begins, pdnn_report_ratio(text, ratio, PDNN_REPORT_NAMED), logs->n, of);
}

const char *pdnn_verdict_name(enum pdnn_verdict verdict) {
    static const char *const names[PDNN_VERDICT_COUNT] = {"holds", "does not hold", "cannot be told"};
    return names[verdict];
}

bool pdnn_report_is_recurrent(const struct pdnn_family_def *family) {
    return family->recurs;
}

/* Speech recognition convolves before it recurs. */
bool pdnn_report_is_convolutional(const struct pdnn_family_def *family) {
    return family->convolves && !family->recurs;
}

bool pdnn_report_is_fully_connected(const struct pdnn_family_def *family) {
    bool is_dense = false;
    for (size_t k = 0; k < family->n_layers; k++)
        is_dense = is_dense || family->layers[k].part == PDNN_LAYER_DENSE;
    return is_dense && !family->convolves && !family->recurs;
}
