/* Words that a column of a table may hold, each with what it says and what to do about it. `paradnn columns`
 * and the documentation read the same rows as the code that writes the words. */
#ifndef BASE_WORD_H
#define BASE_WORD_H

struct pdnn_word {
    const char *name;
    const char *meaning; /* one phrase without a full stop */
    const char *remedy;  /* what the reader can do about it, likewise; "" if there is nothing to do */
};

#endif
