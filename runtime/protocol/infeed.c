#include "runtime/protocol/infeed.h"

#include <string.h>

const char pdnn_pages_mixed[] = "mixed";

static bool is_of(const char *key, const char *op) {
    size_t length = strlen(op);
    return strncmp(key, op, length) == 0 && key[length] == '/';
}

bool pdnn_infeed_is_wait(const char *key) {
    return is_of(key, PDNN_INFEED_OP);
}

bool pdnn_infeed_is_alone(const char *key) {
    return is_of(key, PDNN_LOADERS_OP);
}

const char *pdnn_infeed_shape(const char *key) {
    const char *pass = strchr(key, '/'), *shape = pass ? strchr(pass + 1, '/') : NULL;
    return shape ? shape + 1 : "";
}
