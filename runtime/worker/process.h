/* The worker process's own state: what the driver told it at the start, and the backends that it keeps
 * open between requests. */
#ifndef RUNTIME_WORKER_PROCESS_H
#define RUNTIME_WORKER_PROCESS_H

#include "models/graph.h"
#include "models/instance.h"
#include "models/isa.h"
#include "runtime/plan/plan_set.h"
#include "runtime/host/host.h"
#include "runtime/backend/threads.h"
#include "runtime/measure/counters.h"
#include "runtime/measure/dram_buffer.h"
#include "runtime/measure/probe.h"
#include "runtime/protocol/request.h"
#include "runtime/worker/choices.h"

enum { PDNN_PROCESS_BACKENDS_MAX = 16 };

/* A backend opened for a number of threads and kept, because it remembers what it measured about shapes. */
struct pdnn_open_backend {
    const struct pdnn_backend_def *def;
    int64_t threads;
    void *state;
    struct pdnn_tune *tune;    /* the backend's; NULL: it chooses nothing */
    struct pdnn_kept *choices; /* heap: where tune's times are kept; NULL: nowhere */
};

/* The plan set in which instances that share their weights run. */
struct pdnn_open_set {
    struct pdnn_request request;   /* the one that opened it; its `largest` is "" if no set is open */
    struct pdnn_instance instance; /* the largest instance, with its threads */
    struct pdnn_plan_set plans;
};

/* The last probe, and on what it ran. */
struct pdnn_process_probe {
    struct pdnn_probe_rates rates;
    int64_t threads; /* 0: there was none */
    uint64_t far_bytes, ended_ns;
};

struct pdnn_compiled_model; /* operators.h */
struct pdnn_world;          /* world.h */

struct pdnn_process {
    int fd;                         /* socket to the driver; -1: a rank other than 0 */
    const struct pdnn_world *world; /* NULL: this process is alone */
    struct pdnn_host host;
    uint64_t asked_ns; /* when the last visit was asked for */
    enum pdnn_isa isa; /* of every instance in this process; so is the library */
    int64_t library;
    /* By index into pdnn_backends: why that backend cannot be limited to the isa. */
    struct pdnn_err limit[PDNN_PROCESS_BACKENDS_MAX];
    struct pdnn_open_backend backend[PDNN_PROCESS_BACKENDS_MAX];
    size_t n_backends;
    struct pdnn_open_set set;
    struct pdnn_thread_team team; /* of the pool */
    struct pdnn_process_probe probe;
    struct pdnn_thread_counters counters; /* of its threads, if a visit asked for them */
    struct pdnn_far_memory far;
    struct pdnn_compiled_model *compiled; /* heap: the model whose operators are being measured; NULL: none */
};

void pdnn_process_finish(struct pdnn_process *process);

/* Parses the id, checks that there is a core for each of its threads (PDNN_INVALID) and that its backend
 * keeps to the isa (PDNN_UNSUPPORTED), and sizes the OpenMP pool. */
enum pdnn_status pdnn_process_instance(struct pdnn_process *process, const char *id,
                                       struct pdnn_instance *instance, struct pdnn_err *err);

/* The backend of that name for a number of threads, opened with the request's cache_bytes and choices if it
 * is not open yet. Borrowed until the next call. */
enum pdnn_status pdnn_process_open(struct pdnn_process *process, const char *name, int64_t threads,
                                   const struct pdnn_request *request,
                                   const struct pdnn_open_backend **backend, struct pdnn_err *err);

/* An instance with its graph; the threads are set up for it. */
struct pdnn_model {
    struct pdnn_instance instance;
    int64_t threads;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
};

/* Like pdnn_process_instance; also builds the graph. */
enum pdnn_status pdnn_model_init(struct pdnn_model *model, struct pdnn_process *process, const char *id,
                                 struct pdnn_err *err);
void pdnn_model_finish(struct pdnn_model *model);

#endif
