/* Lists the instances of specs as `paradnn list` does, but prints none of them: only the error, if there is
 * one, and on stdout how much work it was, in basic blocks of gen/ that ran. That number depends on no clock;
 * bombs_test.py holds it against a limit.
 *
 * Usage: list_counted SPEC... [--set KEY=VALUE]... */
#include "gen/spec.h"
#include "gen/expansion/walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t blocks;

/* Called from each basic block of what is compiled with -fsanitize-coverage=trace-pc. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {
    blocks++;
}

int main(int argc, char **argv) {
    struct pdnn_spec spec = {0};
    struct pdnn_walk walk = {0};
    struct pdnn_err err = {0};
    const char **words = calloc((size_t)argc, sizeof *words);
    size_t n_specs = 0, n_sets = 0;
    if (!words)
        return 1;
    /* Specs from the front, values of --set from the back, and these in their order. */
    for (int i = 1; i < argc; i++)
        n_sets += strcmp(argv[i], "--set") == 0;
    const char **sets = words + (size_t)argc - n_sets;
    for (int i = 1, set = 0; i < argc; i++) {
        if (strcmp(argv[i], "--set") == 0 && i + 1 < argc)
            sets[set++] = argv[++i];
        else
            words[n_specs++] = argv[i];
    }
    enum pdnn_status status = pdnn_spec_load(words, n_specs, sets, n_sets, &spec, &err);
    if (status == PDNN_OK)
        pdnn_walk_start(&walk, &spec, 1, true);
    for (struct pdnn_expanded item; status == PDNN_OK && pdnn_walk_next(&walk, &item, &status, &err);) {
    }
    pdnn_walk_finish(&walk);
    pdnn_spec_finish(&spec);
    free(words);
    if (status != PDNN_OK)
        fprintf(stderr, "paradnn: %s\n", err.text);
    printf("%" PRIu64 "\n", blocks);
    return status == PDNN_OK ? 0 : 2;
}
