#include "session/merge/job.h"

#include <stdarg.h>
#include <stdio.h>

void pdnn_merge_note(const struct pdnn_merge_job *job, const char *format, ...) {
    char text[PDNN_ID_TEXT + 2 * PDNN_FOLDER_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job->request->note(job->request->user, text);
}

bool pdnn_merge_is_stopped(const struct pdnn_merge_job *job) {
    return job->request->stop && *job->request->stop;
}
