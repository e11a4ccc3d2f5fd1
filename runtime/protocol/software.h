/* What a worker consists of: its build, and the libraries behind its backends. */
#ifndef RUNTIME_PROTOCOL_SOFTWARE_H
#define RUNTIME_PROTOCOL_SOFTWARE_H

#include <stddef.h>

enum { PDNN_BUILD_TEXT = 64, PDNN_SOFTWARE_TEXT = 192, PDNN_SOFTWARE_MAX = 16, PDNN_SOFTWARE_PATH = 1024 };

/* "0.1.0 (3f9a0c11d2e4)": version and an id of what was compiled, the same in both programs of one build.
 * Only programs of the same build talk to each other. Generated. */
extern const char pdnn_build[PDNN_BUILD_TEXT];

struct pdnn_software {
    size_t count;
    struct {
        char backend[32];
        char version[PDNN_SOFTWARE_TEXT]; /* "oneDNN 2.6.3 (avx2), build c740ed96491c" */
        char path[PDNN_SOFTWARE_PATH];    /* of the library as it was loaded; "": our own code */
    } row[PDNN_SOFTWARE_MAX];             /* in the order of the build's list of backends */
};

#endif
