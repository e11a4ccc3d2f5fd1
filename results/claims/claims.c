#include "results/claims/claims.h"

#include <stdarg.h>
#include <stdio.h>

void pdnn_report_say(struct pdnn_report_question *question, enum pdnn_verdict verdict, const char *format,
                     ...) {
    va_list arguments;
    question->finding->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(question->finding->sentence, sizeof question->finding->sentence, format, arguments);
    va_end(arguments);
}

enum pdnn_verdict pdnn_report_judge(struct pdnn_report_question *question, bool holds, bool does_not) {
    if (!holds && !does_not)
        question->finding->tells = "A narrower interval: more models like these, or more rounds.";
    return holds ? PDNN_HOLDS : does_not ? PDNN_DOES_NOT_HOLD : PDNN_CANNOT_BE_TOLD;
}
