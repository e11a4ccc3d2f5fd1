/* paradnn-worker, which only the driver starts. */
#include "base/units.h"
#include "runtime/worker/serve.h"

#include <stdint.h>

int main(int argc, char **argv) {
    int64_t fd;
    if (argc != 2 || !pdnn_parse_i64(argv[1], &fd))
        return 2;
    return pdnn_worker_serve((int)fd);
}
