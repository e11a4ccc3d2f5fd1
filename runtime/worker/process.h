/* The worker process's own state: what it was told about itself, and the backends that it keeps open between
 * requests. */
#ifndef RUNTIME_WORKER_PROCESS_H
#define RUNTIME_WORKER_PROCESS_H

#include "models/graph.h"
#include "models/instance.h"
#include "models/isa.h"
#include "runtime/core/plan_set.h"
#include "runtime/facts/host.h"
#include "runtime/facts/request.h"

enum { PDNN_PROCESS_BACKENDS_MAX = 16 };

/* A backend ready for a number of threads, kept because it remembers what it found out about shapes. */
struct pdnn_open_backend {
    const struct pdnn_backend_def *def;
    int64_t threads;
    void *state;
};

/* What instances that share their weights run in. */
struct pdnn_open_set {
    struct pdnn_request request;   /* that opened it; its largest is "" where there is none */
    struct pdnn_instance instance; /* the largest, with its threads */
    struct pdnn_plan_set plans;
};

struct pdnn_process {
    int fd; /* of the driver's socket */
    struct pdnn_host host;
    enum pdnn_isa isa; /* of this process */
    /* By the order of pdnn_backends: why one does not keep to the isa. */
    struct pdnn_err limit[PDNN_PROCESS_BACKENDS_MAX];
    struct pdnn_open_backend backend[PDNN_PROCESS_BACKENDS_MAX];
    size_t n_backends;
    struct pdnn_open_set set;
};

void pdnn_process_finish(struct pdnn_process *process);

/* Parses the id, checks that each of its threads has a core (PDNN_INVALID) and that its backend keeps to its
 * isa (PDNN_UNSUPPORTED), and sizes the OpenMP pool. */
enum pdnn_status pdnn_process_instance(const struct pdnn_process *process, const char *id,
                                       struct pdnn_instance *instance, struct pdnn_err *err);

/* The instance's backend, or another one of that name, for a number of threads; opened if it is not yet, with
 * the request's cache_bytes.
 * Borrowed, until the next call. */
enum pdnn_status pdnn_process_open(struct pdnn_process *process, const char *name, int64_t threads,
                                   uint64_t cache_bytes, const struct pdnn_open_backend **backend,
                                   struct pdnn_err *err);

/* An instance with its graph, on threads that are set up for it. */
struct pdnn_model {
    struct pdnn_instance instance;
    int64_t threads;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
};

/* As pdnn_process_instance, and builds the graph. */
enum pdnn_status pdnn_model_init(struct pdnn_model *model, const struct pdnn_process *process, const char *id,
                                 struct pdnn_err *err);
void pdnn_model_finish(struct pdnn_model *model);

#endif
