#include "runtime/infeed/infeed.h"

#include "base/memory.h"
#include "base/clock.h"
#include "runtime/backend/threads.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Room for a decoder's tables and the paths of files; threads' usual stacks would count against the memory
 * limit. */
enum { STACK_BYTES = 1 << 19, ALIGN = 64, COPY_BYTES = 1 << 20, FIRST_SKIPPED = 1, LEAST_MEASURED = 2 };

struct slot {
    unsigned char *bytes;
    uint64_t number; /* of the minibatch that it holds or is being filled with */
    bool is_full;
};

struct pdnn_infeed {
    struct pdnn_infeed_request request;
    pthread_mutex_t lock;
    pthread_cond_t filled, emptied;
    pthread_t *threads;
    int64_t n_threads; /* started */
    struct slot *slots;
    uint64_t depth, next_made, next_taken; /* numbers of minibatches */
    bool stops, failed;
    struct pdnn_err err;              /* if it failed */
    struct pdnn_feed_scratch scratch; /* of the step, without loaders */
    uint64_t waited_ns;
    uint64_t n_made, read_bytes; /* minibatches made, and bytes of files read for them */
};

int64_t pdnn_infeed_depth(int64_t loaders) {
    return !loaders ? 0 : loaders == 1 ? 2 : loaders + 1;
}

/* Without a core for them, the loaders share those of the step. */
static void bind(const struct pdnn_infeed_request *request) {
    const struct pdnn_host *host = request->host;
    int64_t first = request->threads < host->threads ? request->threads : 0;
    pdnn_threads_bind(host->core_pu + first, host->threads - first);
}

static enum pdnn_status make(const struct pdnn_infeed *infeed, uint64_t number, unsigned char *bytes,
                             struct pdnn_feed_scratch *scratch, struct pdnn_err *err) {
    const struct pdnn_feed *feed = infeed->request.feed;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < feed->n_parts && status == PDNN_OK; i++)
        status = pdnn_feed_fill(feed, &feed->parts[i], number, scratch, bytes + feed->parts[i].offset, err);
    return status;
}

/* Claims the next minibatch once its slot is empty; false when the loader is to end. */
static bool claim(struct pdnn_infeed *infeed, struct slot **slot) {
    pthread_mutex_lock(&infeed->lock);
    while (!infeed->stops && infeed->next_made >= infeed->next_taken + infeed->depth)
        pthread_cond_wait(&infeed->emptied, &infeed->lock);
    bool goes_on = !infeed->stops;
    if (goes_on) {
        *slot = &infeed->slots[infeed->next_made % infeed->depth];
        (*slot)->number = infeed->next_made++;
    }
    pthread_mutex_unlock(&infeed->lock);
    return goes_on;
}

static void *load(void *user) {
    struct pdnn_infeed *infeed = user;
    struct pdnn_feed_scratch scratch = {.read_bytes = 0};
    struct slot *slot;
    bind(&infeed->request);
    while (claim(infeed, &slot)) {
        struct pdnn_err err = {0};
        uint64_t before = scratch.read_bytes;
        enum pdnn_status status = make(infeed, slot->number, slot->bytes, &scratch, &err);
        pthread_mutex_lock(&infeed->lock);
        slot->is_full = status == PDNN_OK;
        infeed->read_bytes += scratch.read_bytes - before;
        infeed->n_made++;
        if (status != PDNN_OK && !infeed->failed) {
            infeed->failed = infeed->stops = true;
            infeed->err = err;
            pthread_cond_broadcast(&infeed->emptied);
        }
        pthread_cond_broadcast(&infeed->filled);
        pthread_mutex_unlock(&infeed->lock);
    }
    pdnn_feed_scratch_finish(&scratch);
    return NULL;
}

static enum pdnn_status start(struct pdnn_infeed *infeed, struct pdnn_err *err) {
    pthread_attr_t attributes;
    int code = 0;
    infeed->threads = pdnn_alloc((size_t)infeed->request.loaders, sizeof *infeed->threads);
    if (pthread_attr_init(&attributes) != 0)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for %" PRId64 " loaders",
                         infeed->request.loaders);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (; infeed->n_threads < infeed->request.loaders && !code; infeed->n_threads += code == 0)
        code = pthread_create(&infeed->threads[infeed->n_threads], &attributes, load, infeed);
    pthread_attr_destroy(&attributes);
    return code ? pdnn_fail(err, PDNN_NO_MEMORY, "cannot start loader %" PRId64 " of %" PRId64 ": %s",
                            infeed->n_threads + 1, infeed->request.loaders, strerror(code))
                : PDNN_OK;
}

static enum pdnn_status allocate(struct pdnn_infeed *infeed, struct pdnn_err *err) {
    uint64_t bytes = infeed->request.feed->bytes;
    infeed->slots = pdnn_alloc(infeed->depth + 1, sizeof *infeed->slots);
    for (uint64_t i = 0; i < infeed->depth + (infeed->depth == 0); i++) {
        infeed->slots[i].bytes = aligned_alloc(ALIGN, bytes ? bytes : ALIGN);
        if (!infeed->slots[i].bytes)
            return pdnn_fail(err, PDNN_NO_MEMORY,
                             "cannot allocate %" PRIu64 " minibatches of %" PRIu64 " bytes for the loaders",
                             infeed->depth, bytes);
        memset(infeed->slots[i].bytes, 0, bytes); /* no page fault later */
    }
    return PDNN_OK;
}

enum pdnn_status pdnn_infeed_create(const struct pdnn_infeed_request *request, struct pdnn_infeed **infeed,
                                    struct pdnn_err *err) {
    struct pdnn_infeed *made = pdnn_alloc(1, sizeof *made);
    made->request = *request;
    made->depth = (uint64_t)pdnn_infeed_depth(request->loaders);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->filled, NULL);
    pthread_cond_init(&made->emptied, NULL);
    enum pdnn_status status = allocate(made, err);
    if (status == PDNN_OK && request->loaders)
        status = start(made, err);
    if (status == PDNN_OK)
        *infeed = made;
    else
        pdnn_infeed_destroy(made);
    return status;
}

void pdnn_infeed_destroy(struct pdnn_infeed *infeed) {
    if (!infeed)
        return;
    pthread_mutex_lock(&infeed->lock);
    infeed->stops = true;
    pthread_cond_broadcast(&infeed->emptied);
    pthread_mutex_unlock(&infeed->lock);
    for (int64_t i = 0; i < infeed->n_threads; i++)
        pthread_join(infeed->threads[i], NULL);
    for (uint64_t i = 0; i <= infeed->depth; i++)
        free(infeed->slots[i].bytes);
    pdnn_feed_scratch_finish(&infeed->scratch);
    pthread_mutex_destroy(&infeed->lock);
    pthread_cond_destroy(&infeed->filled);
    pthread_cond_destroy(&infeed->emptied);
    free(infeed->slots);
    free(infeed->threads);
    free(infeed);
}

/* The slot of the next minibatch to be taken. */
static struct slot *next_slot(const struct pdnn_infeed *infeed) {
    return &infeed->slots[infeed->depth ? infeed->next_taken % infeed->depth : 0];
}

static bool is_ready(const struct pdnn_infeed *infeed) {
    return infeed->failed || (next_slot(infeed)->is_full && next_slot(infeed)->number == infeed->next_taken);
}

static void sleep_until_ready(struct pdnn_infeed *infeed) {
    pthread_mutex_lock(&infeed->lock);
    while (!is_ready(infeed))
        pthread_cond_wait(&infeed->filled, &infeed->lock);
    pthread_mutex_unlock(&infeed->lock);
}

/* The whole team sleeps: threads that wait for the next parallel region would spin. */
static void wait_until_ready(struct pdnn_infeed *infeed) {
    pthread_mutex_lock(&infeed->lock);
    bool ready = is_ready(infeed);
    pthread_mutex_unlock(&infeed->lock);
    if (ready)
        return;
#pragma omp parallel
    sleep_until_ready(infeed);
}

static void release(struct pdnn_infeed *infeed) {
    pthread_mutex_lock(&infeed->lock);
    next_slot(infeed)->is_full = false;
    infeed->next_taken++;
    pthread_cond_signal(&infeed->emptied);
    pthread_mutex_unlock(&infeed->lock);
}

/* By the whole team, as the step would otherwise wait for one core's bandwidth. */
static void copy(const unsigned char *from, unsigned char *to, uint64_t bytes) {
#pragma omp parallel for schedule(static) if (bytes > COPY_BYTES)
    for (uint64_t at = 0; at < bytes; at += COPY_BYTES)
        memcpy(to + at, from + at, bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES);
}

static enum pdnn_status place(const struct pdnn_infeed *infeed, const struct pdnn_plan *plan,
                              const unsigned char *bytes, struct pdnn_err *err) {
    const struct pdnn_feed *feed = infeed->request.feed;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < feed->n_parts && status == PDNN_OK; i++) {
        const struct pdnn_feed_part *part = &feed->parts[i];
        if (!plan->program.slots[part->tensor].bytes)
            continue;
        if (pdnn_plan_is_plain(plan, part->tensor))
            copy(bytes + part->offset, plan->memory[part->tensor], part->bytes);
        else
            status = pdnn_plan_put(plan, part->tensor, bytes + part->offset, err);
    }
    return status;
}

static int fail(struct pdnn_infeed *infeed, const struct pdnn_err *err) {
    pthread_mutex_lock(&infeed->lock);
    infeed->failed = true;
    infeed->err = *err;
    pthread_mutex_unlock(&infeed->lock);
    return 1;
}

static bool has_failed(struct pdnn_infeed *infeed) {
    pthread_mutex_lock(&infeed->lock);
    bool failed = infeed->failed;
    pthread_mutex_unlock(&infeed->lock);
    return failed;
}

/* Without loaders: the calling thread makes the minibatch, and what the plan stores as a plain array at once
 * in its place. Without a plan, nothing takes it. */
static enum pdnn_status make_here(struct pdnn_infeed *infeed, const struct pdnn_plan *plan,
                                  struct pdnn_err *err) {
    const struct pdnn_feed *feed = infeed->request.feed;
    unsigned char *bytes = infeed->slots[0].bytes;
    uint64_t before = infeed->scratch.read_bytes;
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < feed->n_parts && status == PDNN_OK; i++) {
        const struct pdnn_feed_part *part = &feed->parts[i];
        bool is_stored = plan && plan->program.slots[part->tensor].bytes;
        bool is_plain = is_stored && pdnn_plan_is_plain(plan, part->tensor);
        void *to = is_plain ? plan->memory[part->tensor] : bytes + part->offset;
        status = pdnn_feed_fill(feed, part, infeed->next_taken, &infeed->scratch, to, err);
        if (status == PDNN_OK && is_stored && !is_plain)
            status = pdnn_plan_put(plan, part->tensor, to, err);
    }
    infeed->read_bytes += infeed->scratch.read_bytes - before;
    infeed->n_made++;
    infeed->next_taken += status == PDNN_OK;
    return status;
}

/* plan NULL: drops it. */
static int take(struct pdnn_infeed *infeed, const struct pdnn_plan *plan) {
    struct pdnn_err err = {0};
    if (!infeed->depth)
        return make_here(infeed, plan, &err) == PDNN_OK ? 0 : fail(infeed, &err);
    wait_until_ready(infeed);
    if (has_failed(infeed))
        return 1;
    if (plan && place(infeed, plan, next_slot(infeed)->bytes, &err) != PDNN_OK)
        return fail(infeed, &err);
    release(infeed);
    return 0;
}

int pdnn_infeed_take(struct pdnn_infeed *infeed, const struct pdnn_plan *plan) {
    uint64_t begun_ns = pdnn_clock_ns();
    int code = take(infeed, plan);
    infeed->waited_ns += pdnn_clock_ns() - begun_ns;
    return code;
}

enum pdnn_status pdnn_infeed_error(struct pdnn_infeed *infeed, struct pdnn_err *err) {
    pthread_mutex_lock(&infeed->lock);
    enum pdnn_status status = infeed->failed ? infeed->err.status : PDNN_OK;
    if (infeed->failed && err)
        *err = infeed->err;
    pthread_mutex_unlock(&infeed->lock);
    return status;
}

uint64_t pdnn_infeed_waited_ns(const struct pdnn_infeed *infeed) {
    return infeed->waited_ns;
}

/* The first minibatches pay for starting the loaders and for their buffers. */
enum pdnn_status pdnn_infeed_measure(const struct pdnn_infeed_request *request, uint64_t time_ns,
                                     struct pdnn_infeed_alone *alone, struct pdnn_err *err) {
    uint64_t per_turn = request->loaders ? (uint64_t)request->loaders : 1, taken = 0, turns = 0, begun_ns = 0;
    uint64_t now_ns = pdnn_clock_ns(), end_ns = now_ns + time_ns;
    struct pdnn_infeed *infeed;
    enum pdnn_status status = pdnn_infeed_create(request, &infeed, err);
    if (status != PDNN_OK)
        return status;
    while (status == PDNN_OK && (turns < FIRST_SKIPPED + LEAST_MEASURED || now_ns < end_ns)) {
        for (uint64_t i = 0; i < per_turn && status == PDNN_OK; i++)
            if (take(infeed, NULL) != 0)
                status = pdnn_infeed_error(infeed, err);
        now_ns = pdnn_clock_ns();
        if (++turns == FIRST_SKIPPED)
            begun_ns = now_ns;
        else
            taken += per_turn;
    }
    pthread_mutex_lock(&infeed->lock);
    double read_bytes = infeed->n_made ? (double)infeed->read_bytes / (double)infeed->n_made : 0;
    pthread_mutex_unlock(&infeed->lock);
    if (status == PDNN_OK)
        *alone = (struct pdnn_infeed_alone){.minibatch_ns = (double)(now_ns - begun_ns) / (double)taken,
                                            .read_bytes = read_bytes,
                                            .minibatches = taken};
    pdnn_infeed_destroy(infeed);
    return status;
}
