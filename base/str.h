/* Text: a growing string, and the nearest word to a misspelt one. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing heap string; {0} is empty. */
struct pdnn_str {
    char *text; /* NUL-terminated; NULL until something is appended */
    size_t length, room;
};

void pdnn_str_finish(struct pdnn_str *str);
void pdnn_str_clear(struct pdnn_str *str);
void pdnn_str_append(struct pdnn_str *str, const char *bytes, size_t length);
void pdnn_str_append_u64(struct pdnn_str *str, uint64_t value);
void pdnn_str_append_i64(struct pdnn_str *str, int64_t value);
void pdnn_str_printf(struct pdnn_str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pdnn_str_vprintf(struct pdnn_str *str, const char *format, va_list args);

/* Writes the decimal digits of a number, and no NUL; returns how many. snprintf takes ten times as long. */
enum { PDNN_U64_DIGITS = 20 };
size_t pdnn_u64_digits(char digits[PDNN_U64_DIGITS], uint64_t value);

/* The text, never NULL. */
const char *pdnn_str_text(const struct pdnn_str *str);

/* Takes the next of texts that are joined by a separator; *rest is NULL behind the last one, and then so is
 * what is returned. "" is one empty text. */
const char *pdnn_part_next(const char **rest, const char *separator, size_t *length);
bool pdnn_parts_have(const char *parts, const char *separator, const char *part, size_t length);

/* Whether two words differ at most in case and punctuation: ResNet-50 is resnet50. */
bool pdnn_word_is_same(const char *a, const char *b);

/* The word in words[0..count) nearest to `word` by edit distance, or NULL if none is near: a third of the
 * letters may differ, or one, but no digit. Two letters that changed places count once, case and punctuation
 * do not count. */
const char *pdnn_nearest_word(const char *word, const char *const *words, size_t count);

enum { PDNN_SUGGESTION_TEXT = 96 };

/* ", did you mean 'x'?" with that word, cut at 64 letters; if it is not one letter away, ", did you mean 'xa'
 * or 'xb'?" with the words that begin with it or that it begins with, if there are any; "" if none is near.
 * Returns buffer. */
const char *pdnn_suggest(char buffer[PDNN_SUGGESTION_TEXT], const char *word, const char *const *words,
                         size_t count);

#endif
