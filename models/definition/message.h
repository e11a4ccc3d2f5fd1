/* What is said of mistakes in a definition, and where they are. Internal to models/definition. */
#ifndef MODELS_DEFINITION_MESSAGE_H
#define MODELS_DEFINITION_MESSAGE_H

#include "models/definition/compiled.h"

/* "file:line:col: " and the message; with the family's name in their stead where the place is not known.
 * Returns PDNN_INVALID. */
enum pdnn_status pdnn_definition_fail(const struct pdnn_definition *definition, int32_t place,
                                      struct pdnn_err *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same while an instance is built; after the message come the layer and the calls of blocks. Always
 * false.
 */
bool pdnn_build_fail(struct pdnn_build *build, int32_t place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "5.28", "132/25 = 5.28", "3-4-6-3", as messages say a value; and what it is, "the word 'none'". Both return
 * buffer. */
enum { PDNN_DATUM_TEXT = 160 };
const char *pdnn_datum_say(const struct pdnn_build *build, const struct pdnn_datum *datum,
                           char buffer[PDNN_DATUM_TEXT]);
const char *pdnn_datum_kind(const struct pdnn_build *build, const struct pdnn_datum *datum,
                            char buffer[PDNN_DATUM_TEXT]);

/* Says that a value of a term is not what is expected; with the expression, and where its name got it. Always
 * false. */
bool pdnn_term_wrong(struct pdnn_build *build, const struct pdnn_term *term, const char *what,
                     struct pdnn_rational value, const char *expected);

#endif
