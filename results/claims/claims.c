#include "results/claims/claims.h"
#include "results/table/number.h"

#include <stdarg.h>
#include <stdio.h>

void pdnn_report_say(struct pdnn_report_question *question, enum pdnn_verdict verdict, const char *format,
                     ...) {
    va_list arguments;
    struct pdnn_str sentence = {0};
    question->finding->verdict = verdict;
    va_start(arguments, format);
    pdnn_str_vprintf(&sentence, format, arguments);
    va_end(arguments);
    question->finding->sentence = pdnn_arena_strdup(question->arena, pdnn_str_text(&sentence));
    pdnn_str_finish(&sentence);
}

const char *pdnn_report_ratio(char text[PDNN_REPORT_RATIO], struct pdnn_mean_interval ratio, bool is_named) {
    struct pdnn_str out = {0};
    pdnn_number_format(&out, ratio.at, 3);
    pdnn_str_printf(&out, is_named ? " (95 %% interval " : " (");
    pdnn_number_format(&out, ratio.low, 3);
    pdnn_str_printf(&out, " to ");
    pdnn_number_format(&out, ratio.high, 3);
    snprintf(text, PDNN_REPORT_RATIO, "%s", pdnn_str_text(&out));
    pdnn_str_finish(&out);
    return text;
}

enum pdnn_verdict pdnn_report_judge(struct pdnn_report_question *question, bool holds, bool does_not) {
    if (!holds && !does_not)
        question->finding->tells = "A narrower interval: more models like these, or more rounds.";
    return holds ? PDNN_HOLDS : does_not ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD;
}
