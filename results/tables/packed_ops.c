#include "results/tables/packed_ops.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c) {
    const char *at = c ? strchr("0123456789ABCDEF", c) : NULL;
    return at ? (int)(at - "0123456789ABCDEF") : -1;
}

/* Unescapes text up to the separator and steps over it; false if the separator is
 * missing or the text does not fit. */
static bool take_text(const char **at, char separator, char *text, size_t room) {
    size_t used = 0;
    for (; **at && **at != separator; (*at)++) {
        char c = **at;
        if (c == '%') {
            int high = hex_digit((*at)[1]), low = high < 0 ? -1 : hex_digit((*at)[2]);
            if (low < 0)
                return false;
            c = (char)(unsigned char)(high * 16 + low);
            *at += 2;
        }
        if (used + 1 >= room)
            return false;
        text[used++] = c;
    }
    text[used] = 0;
    if (**at != separator)
        return false;
    *at += separator != 0;
    return true;
}

static bool take_count(const char **at, uint64_t most, uint64_t *count) {
    char text[PDNN_UNIT_TEXT];
    int64_t value;
    if (!take_text(at, '|', text, sizeof text) || !pdnn_parse_i64(text, &value) || value < 0)
        return false;
    *count = (uint64_t)value;
    return *count <= most;
}

static bool take_op(const char **at, struct pdnn_visit_op *op) {
    uint64_t count;
    char number[PDNN_UNIT_TEXT];
    /* The layer was appended to the shape. */
    if (!take_text(at, '|', op->key, sizeof op->key) ||
        !take_text(at, '|', op->implementation, sizeof op->implementation) ||
        !take_count(at, UINT32_MAX, &count) || !take_count(at, INT64_MAX, &op->bytes))
        return false;
    op->count = (uint32_t)count;
    const char *stem = strrchr(op->key, '@');
    snprintf(op->layer, sizeof op->layer, "%s", stem ? stem + 1 : "");
    size_t length = strcspn(*at, ";");
    if (length >= sizeof number)
        return false;
    memcpy(number, *at, length);
    number[length] = 0;
    *at += length;
    if (**at == ';')
        (*at)++;
    return pdnn_parse_double(number, &op->time_ns);
}

enum pdnn_status pdnn_ops_unpack(const char *text, struct pdnn_visit_op **ops, size_t *n_ops,
                                 struct pdnn_err *err) {
    size_t count = *text != 0;
    for (const char *at = text; *at; at++)
        count += *at == ';';
    struct pdnn_visit_op *unpacked = count ? calloc(count, sizeof *unpacked) : NULL;
    if (count && !unpacked)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %zu ops", count);
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        if (take_op(&at, &unpacked[i]))
            continue;
        free(unpacked);
        return pdnn_fail(err, PDNN_INVALID, "op %zu of %zu is not key|implementation|count|bytes|ns", i + 1,
                         count);
    }
    *ops = unpacked;
    *n_ops = count;
    return PDNN_OK;
}
