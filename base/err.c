#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum pdnn_status pdnn_fail(struct pdnn_err *err, enum pdnn_status status, const char *format, ...) {
    if (!err)
        return status;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->status = status;
    return status;
}

enum pdnn_status pdnn_wrap(struct pdnn_err *err, const char *format, ...) {
    if (!err)
        return PDNN_INTERNAL;
    char text[PDNN_ERR_TEXT];
    va_list args;
    va_start(args, format);
    int used = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t at = used < 0 ? 0 : (size_t)used < sizeof text ? (size_t)used : sizeof text - 1;
    snprintf(text + at, sizeof text - at, ": %.*s", (int)(sizeof text - at) - 3, err->text);
    memcpy(err->text, text, sizeof err->text);
    return err->status;
}
