/* Runs a target on the files named as arguments, without libFuzzer: the seeds as a test of every build. */
#include "tests/fuzz/common.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEED_BYTES = 1 << 20 };

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        char *text;
        size_t length;
        struct pdnn_err err = {0};
        if (pdnn_file_read(argv[i], SEED_BYTES, &text, &length, &err) != PDNN_OK) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        fprintf(stderr, "%s\n", argv[i]);
        LLVMFuzzerTestOneInput((const uint8_t *)text, length);
        free(text);
    }
    printf("%d inputs\n", argc - 1);
    return argc > 1 ? 0 : 2;
}
