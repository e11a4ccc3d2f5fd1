/* The worker's own side: what it knows, what it keeps between requests, and one function per request. This
 * side alone may use OpenMP and the backends. Private to the driver. */
#ifndef RUNTIME_DRIVER_CHILD_H
#define RUNTIME_DRIVER_CHILD_H

#include "models/graph.h"
#include "models/instance.h"
#include "runtime/core/plan_set.h"
#include "runtime/driver/protocol.h"
#include "runtime/driver/worker.h"

enum { PDNN_CHILD_BACKENDS_MAX = 16 };

/* A backend ready for so many threads, kept because it remembers what it found out about shapes. */
struct pdnn_child_backend {
    const struct pdnn_backend_def *def;
    int64_t threads;
    void *state;
};

/* What instances that share their weights run in. */
struct pdnn_child_set {
    char largest[PDNN_ID_TEXT]; /* ""; there is none */
    uint64_t seed, memory_limit_bytes;
    bool allow_slow;
    struct pdnn_instance instance; /* of the largest, with its threads */
    struct pdnn_plan_set plans;
};

struct pdnn_child {
    int request_fd, answer_fd;
    struct pdnn_host host;
    enum pdnn_isa isa;                              /* of this process */
    struct pdnn_err limit[PDNN_CHILD_BACKENDS_MAX]; /* of pdnn_backends: why one does not keep to it */
    struct pdnn_child_backend backend[PDNN_CHILD_BACKENDS_MAX];
    size_t n_backends;
    struct pdnn_child_set set;
};

/* An instance with its graph, on threads that are set up for it. */
struct pdnn_model {
    struct pdnn_instance instance;
    int64_t threads;
    struct pdnn_arena arena;
    struct pdnn_graph graph;
};

/* Parses the id, checks that its threads have a core each (PDNN_INVALID) and that its backend keeps to its
 * isa (PDNN_UNSUPPORTED), and sizes the OpenMP pool. */
enum pdnn_status pdnn_child_instance(const struct pdnn_child *child, const char *id,
                                     struct pdnn_instance *instance, struct pdnn_err *err);

/* The same, and builds the graph. */
enum pdnn_status pdnn_model_init(struct pdnn_model *model, const struct pdnn_child *child, const char *id,
                                 struct pdnn_err *err);
void pdnn_model_finish(struct pdnn_model *model);

/* The backend of that name for so many threads, opened if it is not yet. Borrowed, until the next call. */
enum pdnn_status pdnn_child_open(struct pdnn_child *child, const char *name, int64_t threads,
                                 const struct pdnn_child_backend **backend, struct pdnn_err *err);

/* child_set.c: the member that the order names of the set that it names, which is opened if it is not the one
 * that is open. Borrowed, until the next call. */
enum pdnn_status pdnn_child_set_get(struct pdnn_child *child, const struct pdnn_visit_order *order,
                                    const struct pdnn_plan_member **member, struct pdnn_err *err);
void pdnn_child_set_close(struct pdnn_child *child);

/* One visit; what goes wrong is in visit->outcome and reason. The caller finishes the visit. */
void pdnn_child_visit(struct pdnn_child *child, const struct pdnn_visit_order *order,
                      struct pdnn_visit *visit);

/* One step on the instance's backend and each of its ops on `reference`; *rows is heap, the caller frees. */
enum pdnn_status pdnn_child_check(struct pdnn_child *child, const struct pdnn_check_order *order,
                                  struct pdnn_check_row **rows, size_t *n_rows, struct pdnn_err *err);

#endif
