#include "base/str.h"

#include "base/memory.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pdnn_str_finish(struct pdnn_str *str) {
    free(str->text);
    *str = (struct pdnn_str){0};
}

void pdnn_str_clear(struct pdnn_str *str) {
    str->length = 0;
    if (str->text)
        str->text[0] = 0;
}

static void reserve(struct pdnn_str *str, size_t extra) {
    size_t need;
    if (__builtin_add_overflow(str->length, extra, &need) || need > SIZE_MAX / 2)
        need = SIZE_MAX / 2; /* which no allocator has */
    if (need < str->room)
        return;
    str->room = need < 64 ? 64 : need + need / 2 + 1;
    str->text = pdnn_resize(str->text, str->room, 1);
}

void pdnn_str_append(struct pdnn_str *str, const char *bytes, size_t length) {
    reserve(str, length);
    memcpy(str->text + str->length, bytes, length);
    str->length += length;
    str->text[str->length] = 0;
}

size_t pdnn_u64_digits(char digits[PDNN_U64_DIGITS], uint64_t value) {
    char text[PDNN_U64_DIGITS];
    size_t at = PDNN_U64_DIGITS;
    do {
        text[--at] = (char)('0' + (int)(value % 10));
        value /= 10;
    } while (value);
    memcpy(digits, text + at, PDNN_U64_DIGITS - at);
    return PDNN_U64_DIGITS - at;
}

void pdnn_str_append_u64(struct pdnn_str *str, uint64_t value) {
    char digits[PDNN_U64_DIGITS];
    pdnn_str_append(str, digits, pdnn_u64_digits(digits, value));
}

void pdnn_str_append_i64(struct pdnn_str *str, int64_t value) {
    if (value < 0)
        pdnn_str_append(str, "-", 1);
    pdnn_str_append_u64(str, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void pdnn_str_vprintf(struct pdnn_str *str, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    reserve(str, 0);
    size_t room = str->room - str->length;
    int length = vsnprintf(str->text + str->length, room, format, args);
    if (length >= 0 && (size_t)length >= room) {
        reserve(str, (size_t)length);
        vsnprintf(str->text + str->length, (size_t)length + 1, format, again);
    }
    str->length += length > 0 ? (size_t)length : 0;
    str->text[str->length] = 0;
    va_end(again);
}

void pdnn_str_printf(struct pdnn_str *str, const char *format, ...) {
    va_list args;
    va_start(args, format);
    pdnn_str_vprintf(str, format, args);
    va_end(args);
}

const char *pdnn_str_text(const struct pdnn_str *str) {
    return str->text ? str->text : "";
}

const char *pdnn_part_next(const char **rest, const char *separator, size_t *length) {
    const char *part = *rest, *end = part ? strstr(part, separator) : NULL;
    if (part)
        *length = end ? (size_t)(end - part) : strlen(part);
    *rest = end ? end + strlen(separator) : NULL;
    return part;
}

bool pdnn_parts_have(const char *parts, const char *separator, const char *part, size_t length) {
    const char *at;
    for (size_t n; (at = pdnn_part_next(&parts, separator, &n));)
        if (n == length && memcmp(at, part, n) == 0)
            return true;
    return false;
}

enum { WORD_MAX = 64 };

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The letters and digits of a word, in lower case; returns how many there are, WORD_MAX + 1 if there are more
 * than the first WORD_MAX that are taken. */
static size_t take_letters(char letters[WORD_MAX + 1], const char *word) {
    size_t length = 0;
    for (; *word && length <= WORD_MAX; word++)
        if (isalnum((unsigned char)*word))
            letters[length++] = (char)tolower((unsigned char)*word);
    letters[least(length, WORD_MAX)] = 0;
    return length;
}

bool pdnn_word_is_same(const char *a, const char *b) {
    char of_a[WORD_MAX + 1], of_b[WORD_MAX + 1];
    const size_t length = take_letters(of_a, a);
    return length && length <= WORD_MAX && take_letters(of_b, b) == length && strcmp(of_a, of_b) == 0;
}

/* A digit is never a slip: resnet50 is not near resnet18. */
static size_t cost_of(char letter) {
    return isdigit((unsigned char)letter) ? WORD_MAX : 1;
}

/* Edit distance, in which two letters that changed places count once, and punctuation does not count; words
 * of more than WORD_MAX letters count as far away. Three rows of the table: this one and the two before it.
 */
static size_t edit_distance(const char *one, const char *other) {
    size_t rows[3][WORD_MAX + 1] = {{0}};
    char a[WORD_MAX + 1], b[WORD_MAX + 1];
    const size_t a_length = take_letters(a, one), b_length = take_letters(b, other);
    if (a_length > WORD_MAX || b_length > WORD_MAX)
        return WORD_MAX;
    for (size_t j = 1; j <= b_length; j++)
        rows[0][j] = rows[0][j - 1] + cost_of(b[j - 1]);
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        const size_t cost = cost_of(a[i - 1]);
        row[0] = above[0] + cost;
        for (size_t j = 1; j <= b_length; j++) {
            const size_t other_cost = cost_of(b[j - 1]), both = cost > other_cost ? cost : other_cost;
            row[j] = least(above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : both),
                           least(above[j] + cost, row[j - 1] + other_cost));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], second[j - 2] + both);
        }
    }
    return rows[a_length % 3][b_length];
}

const char *pdnn_nearest_word(const char *word, const char *const *words, size_t count) {
    size_t limit = strlen(word) / 3;
    if (limit < 1)
        limit = 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t distance = edit_distance(word, words[i]);
        if (distance <= limit && distance < strlen(words[i])) {
            nearest = words[i];
            limit = distance ? distance - 1 : 0;
            if (!distance)
                break;
        }
    }
    return nearest;
}

enum { LETTERS_MIN = 3 };

/* Whether one of the two begins with the other. */
static bool is_related(const char *word, const char *other) {
    char letters[WORD_MAX + 1], others[WORD_MAX + 1];
    size_t common = least(take_letters(others, other), take_letters(letters, word));
    return common >= LETTERS_MIN && memcmp(others, letters, common) == 0;
}

/* The words that `word` abbreviates or extends, each once, as many as fit: "'xa', 'xb' or 'xc'". */
static size_t list_related(char buffer[PDNN_SUGGESTION_TEXT], const char *word, const char *const *words,
                           size_t count) {
    enum { LISTED_MAX = 5, MARKS = sizeof ", did you mean ''  or ?" };
    const char *listed[LISTED_MAX];
    size_t n_listed = 0, room = PDNN_SUGGESTION_TEXT - MARKS;
    for (size_t i = 0; i < count; i++) {
        size_t known = 0;
        while (known < n_listed && strcmp(listed[known], words[i]) != 0)
            known++;
        bool is_new = known == n_listed && n_listed < LISTED_MAX && is_related(word, words[i]);
        if (!is_new || strlen(words[i]) + 4 > room)
            continue;
        room -= strlen(words[i]) + 4;
        listed[n_listed++] = words[i];
    }
    size_t used = (size_t)snprintf(buffer, PDNN_SUGGESTION_TEXT, n_listed ? ", did you mean " : "");
    for (size_t i = 0; i < n_listed; i++)
        used += (size_t)snprintf(buffer + used, PDNN_SUGGESTION_TEXT - used, "%s'%s'%s",
                                 i == 0             ? ""
                                 : i + 1 < n_listed ? ", "
                                                    : " or ",
                                 listed[i], i + 1 < n_listed ? "" : "?");
    return n_listed;
}

const char *pdnn_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *word, const char *const *words,
                         size_t count) {
    const char *nearest = pdnn_nearest_word(word, words, count);
    const size_t distance = nearest ? edit_distance(word, nearest) : WORD_MAX;
    /* Said alone, unless another word begins with it: resnet is near regnet, and means resnet50. */
    bool is_near = distance <= 1 && (!distance || is_related(word, nearest));
    if (is_near || (!list_related(buffer, word, words, count) && nearest))
        snprintf(buffer, PDNN_SUGGESTION_TEXT, ", did you mean '%.64s'?", nearest);
    return buffer;
}
