/* Families of one name with different definitions. */
#ifndef RESULTS_COMPARE_DEFINITIONS_H
#define RESULTS_COMPARE_DEFINITIONS_H

#include "base/arena.h"
#include "base/texts.h"

/* Of the first family of which a and b, "mynet@372764cd", have one definition each that the other lacks:
 * which lines of its canonical text differ. It begins
 * with a semicolon; "" where there is none. */
const char *pdnn_definitions_differ(const struct pdnn_texts *a, const struct pdnn_texts *b,
                                    struct pdnn_arena *arena);

#endif
