/* What other tools call the things that this program has words for. */
#ifndef BASE_SYNONYMS_H
#define BASE_SYNONYMS_H

#include <stddef.h>

/* The one of the words that somebody calls `word`, as num_layers are `layers`; NULL if there is none. Case
 * and the difference between '-' and '_' do not count. */
const char *pdnn_synonym(const char *word, const char *const *words, size_t count);

#endif
