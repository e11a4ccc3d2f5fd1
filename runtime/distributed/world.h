/* The ranks that run one step together, of which this process is one, as the worker sees them. Who implements
 * it is only in the program `paradnn-worker-mpi` (world_mpi.c); a worker without it is alone. Rank 0 talks to
 * the driver, and passes on what it is asked to do. */
#ifndef RUNTIME_DISTRIBUTED_WORLD_H
#define RUNTIME_DISTRIBUTED_WORLD_H

#include "runtime/distributed/gradient_allreduce.h"
#include "runtime/protocol/protocol.h"

struct pdnn_world {
    int rank, ranks;
    int local_rank, local_ranks; /* among those on this host */
    bool is_beside_0;            /* on rank 0's host */
    struct pdnn_wire wire;
    /* Rank 0: passes a request on to the others; the kind PDNN_MESSAGE_COUNT asks them to end. */
    void (*tell)(const struct pdnn_world *world, enum pdnn_message_kind kind, const void *body, size_t bytes);
    /* The others: waits for it, without using the processor meanwhile. The body is valid until the next call.
     */
    void (*hear)(const struct pdnn_world *world, struct pdnn_message *message);
    /* All ranks together: rank 0's bytes for all of them; the largest of each value for all of them; a
     * meeting. */
    void (*share)(void *bytes, size_t length);
    void (*max)(double *values, size_t count);
    void (*meet)(void);
    /* Any rank: ends all of them, with a line for the driver. Does not return. */
    void (*end)(const char *reason);
};

/* Serves the driver's requests over fd (rank 0), or those that rank 0 passes on (fd -1), until told to end.
 * PDNN_INVALID for a rank of another build than rank 0. */
enum pdnn_status pdnn_worker_serve_world(const struct pdnn_world *world, int fd, struct pdnn_err *err);

#endif
