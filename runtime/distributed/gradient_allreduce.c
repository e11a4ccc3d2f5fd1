#define _GNU_SOURCE /* pthread_cond_clockwait, syscall */
#include "runtime/distributed/gradient_allreduce.h"

#include "base/memory.h"
#include "base/clock.h"
#include "models/instance.h"
#include "runtime/backend/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A thread on the step's own core asks how far a sum is about so often while the sum lasts, times the number
 * of ranks, since each of them has its part of the ring's messages; but not more often than the shortest nap,
 * and not more rarely than the longest. */
enum { QUESTIONS = 64, NAP_MIN_NS = 20000, NAP_MAX_NS = 1000000 };

/* What a thread that seldom runs for long asks of the scheduler: it takes the core from the step sooner. */
enum { SLICE_NS = 100000 };

struct part {
    void *values;
    size_t count;
};

enum state { IDLE, RUNNING, SUMMED };

struct bucket {
    struct part *parts;
    size_t n_parts, room, count; /* count: values of all parts */
    bool is_double;
    int mode;
    void *packed; /* heap; NULL: one part, which is summed in place */
    size_t packed_bytes;
    void *request;
    enum state state; /* of buckets that the thread sums: under the lock */
    int code;         /* of the thread */
    uint64_t took_ns; /* the thread's last sum */
};

static struct {
    const struct pdnn_wire *wire;
    bool is_off;
    struct bucket **buckets;
    size_t n_buckets;
    size_t filling; /* parts of the current bucket so far */
    size_t n_running;
    int failure; /* the first one; it lasts until a model begins */
    /* The thread takes buckets in the order in which they were put here. */
    struct pdnn_gradient_allreduce_cores cores;
    pthread_t thread;
    bool has_thread, ends;
    pthread_mutex_t lock;
    pthread_cond_t wake, summed; /* for the thread: something to do, or to hurry; for the step */
    bool is_awaited;             /* the step does nothing but wait for the thread */
    struct bucket **queue;
    size_t n_queued, n_taken, queue_room;
} exchange = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .summed = PTHREAD_COND_INITIALIZER};

static size_t value_bytes(const struct bucket *bucket) {
    return bucket->is_double ? sizeof(double) : sizeof(float);
}

static void *values_of(const struct bucket *bucket) {
    return bucket->n_parts == 1 ? bucket->parts[0].values : bucket->packed;
}

static void pack(const struct bucket *bucket) {
    char *at = bucket->packed;
    for (size_t i = 0; bucket->n_parts > 1 && i < bucket->n_parts; i++) {
        size_t bytes = bucket->parts[i].count * value_bytes(bucket);
        memcpy(at, bucket->parts[i].values, bytes);
        at += bytes;
    }
}

/* Divides the sums by the number of ranks on their way back. */
static void unpack(const struct bucket *bucket) {
    const void *from = values_of(bucket);
    double share = 1.0 / exchange.wire->ranks;
    size_t at = 0;
    for (size_t i = 0; i < bucket->n_parts; i++) {
        const struct part *part = &bucket->parts[i];
        for (size_t k = 0; bucket->is_double && k < part->count; k++)
            ((double *)part->values)[k] = ((const double *)from)[at + k] * share;
        float factor = (float)share;
        for (size_t k = 0; !bucket->is_double && k < part->count; k++)
            ((float *)part->values)[k] = ((const float *)from)[at + k] * factor;
        at += part->count;
    }
}

/* The kernel's struct sched_attr: no header that has it goes with the C libraries of both Debians. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* Naps end when they should, and a wake-up does not wait for the end of the step's slice. Kernels before
 * Linux 6.12 ignore the slice. */
static void want_little(void) {
    const struct scheduling wish = {.size = sizeof wish, .policy = SCHED_OTHER, .runtime_ns = SLICE_NS};
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    syscall(SYS_sched_setattr, 0, &wish, 0U);
}

/* Until the time is over, or the step has nothing to do but wait. */
static void nap(const struct bucket *bucket) {
    uint64_t ns = bucket->took_ns / ((uint64_t)QUESTIONS * (uint64_t)exchange.wire->ranks);
    ns = ns < NAP_MIN_NS ? NAP_MIN_NS : ns > NAP_MAX_NS ? NAP_MAX_NS : ns;
    uint64_t end_ns = pdnn_clock_ns() + ns;
    const struct timespec end = {(time_t)(end_ns / 1000000000), (long)(end_ns % 1000000000)};
    pthread_mutex_lock(&exchange.lock);
    if (!exchange.is_awaited)
        pthread_cond_clockwait(&exchange.wake, &exchange.lock, CLOCK_MONOTONIC, &end);
    pthread_mutex_unlock(&exchange.lock);
}

/* A blocking sum spins, and would take the core from the step on it. */
static int sum_aside(struct bucket *bucket) {
    uint64_t begun_ns = pdnn_clock_ns();
    void *request;
    bool done = false;
    int code = exchange.wire->start(values_of(bucket), bucket->count, bucket->is_double, &request);
    while (!code && !done) {
        code = exchange.wire->test(&request, &done);
        if (!code && !done)
            nap(bucket);
    }
    bucket->took_ns = pdnn_clock_ns() - begun_ns;
    return code;
}

static int sum_by_thread(struct bucket *bucket) {
    return exchange.cores.are_spare ? exchange.wire->sum(values_of(bucket), bucket->count, bucket->is_double)
                                    : sum_aside(bucket);
}

/* The communication thread. */
static void *serve(void *unused) {
    (void)unused;
    if (exchange.cores.count)
        pdnn_threads_bind(exchange.cores.units, exchange.cores.count);
    want_little();
    pthread_mutex_lock(&exchange.lock);
    for (;;) {
        while (exchange.n_taken == exchange.n_queued && !exchange.ends)
            pthread_cond_wait(&exchange.wake, &exchange.lock);
        if (exchange.n_taken == exchange.n_queued)
            break;
        struct bucket *bucket = exchange.queue[exchange.n_taken++];
        pthread_mutex_unlock(&exchange.lock);
        int code = sum_by_thread(bucket);
        pthread_mutex_lock(&exchange.lock);
        bucket->code = code;
        bucket->state = SUMMED;
        pthread_cond_signal(&exchange.summed);
    }
    pthread_mutex_unlock(&exchange.lock);
    return NULL;
}

static int start_thread(void) {
    exchange.ends = false;
    if (pthread_create(&exchange.thread, NULL, serve, NULL) != 0)
        return ENOMEM;
    exchange.has_thread = true;
    return 0;
}

static void end_thread(void) {
    if (!exchange.has_thread)
        return;
    pthread_mutex_lock(&exchange.lock);
    exchange.ends = true;
    pthread_cond_signal(&exchange.wake);
    pthread_mutex_unlock(&exchange.lock);
    pthread_join(exchange.thread, NULL);
    exchange.has_thread = false;
}

enum pdnn_status pdnn_gradient_allreduce_open(const struct pdnn_wire *wire, struct pdnn_err *err) {
    if (wire->ranks < 2)
        return pdnn_fail(err, PDNN_INVALID, "an exchange takes two ranks or more, not %d", wire->ranks);
    exchange.wire = wire;
    return PDNN_OK;
}

void pdnn_gradient_allreduce_place(const struct pdnn_gradient_allreduce_cores *cores) {
    end_thread();
    exchange.cores = *cores;
}

void pdnn_gradient_allreduce_begin(void) {
    end_thread();
    for (size_t i = 0; i < exchange.n_buckets; i++) {
        free(exchange.buckets[i]->parts);
        free(exchange.buckets[i]->packed);
        free(exchange.buckets[i]);
    }
    free(exchange.buckets);
    free(exchange.queue);
    exchange.buckets = NULL;
    exchange.queue = NULL;
    exchange.n_buckets = exchange.filling = exchange.n_running = 0;
    exchange.n_queued = exchange.n_taken = exchange.queue_room = 0;
    exchange.is_off = false;
    exchange.failure = 0;
}

void pdnn_gradient_allreduce_close(void) {
    pdnn_gradient_allreduce_begin();
    exchange.wire = NULL;
}

void pdnn_gradient_allreduce_switch(bool on) {
    exchange.is_off = !on;
}

/* Buckets come in order, so that at most the next one is new. */
static struct bucket *bucket_of(const struct pdnn_gradient_allreduce_part *part) {
    if (part->bucket < exchange.n_buckets)
        return exchange.buckets[part->bucket];
    exchange.buckets = pdnn_resize(exchange.buckets, exchange.n_buckets + 1, sizeof(struct bucket *));
    struct bucket *fresh = pdnn_alloc(1, sizeof *fresh);
    fresh->is_double = part->is_double;
    fresh->mode = part->mode;
    exchange.buckets[exchange.n_buckets++] = fresh;
    return fresh;
}

/* The first step allocates; later ones find everything in its place. */
static void add(struct bucket *bucket, const struct pdnn_gradient_allreduce_part *part) {
    bucket->parts = pdnn_grow(bucket->parts, &bucket->room, exchange.filling, sizeof *bucket->parts);
    bucket->parts[exchange.filling++] = (struct part){part->values, part->count};
}

static void complete(struct bucket *bucket) {
    size_t count = 0;
    bucket->n_parts = exchange.filling;
    exchange.filling = 0;
    for (size_t i = 0; i < bucket->n_parts; i++)
        count += bucket->parts[i].count;
    bucket->count = count;
    size_t bytes = bucket->n_parts > 1 ? count * value_bytes(bucket) : 0;
    if (bytes > bucket->packed_bytes) {
        bucket->packed = pdnn_resize(bucket->packed, bytes, 1);
        bucket->packed_bytes = bytes;
    }
}

static int hand_over(struct bucket *bucket) {
    int code = exchange.has_thread ? 0 : start_thread();
    if (code)
        return code;
    pthread_mutex_lock(&exchange.lock);
    if (exchange.n_taken == exchange.n_queued)
        exchange.n_taken = exchange.n_queued = 0;
    exchange.queue =
        pdnn_grow(exchange.queue, &exchange.queue_room, exchange.n_queued, sizeof(struct bucket *));
    exchange.queue[exchange.n_queued++] = bucket;
    pthread_cond_signal(&exchange.wake);
    pthread_mutex_unlock(&exchange.lock);
    return 0;
}

/* By the calls that the bucket's mode uses beside a step. */
static int sum_now(struct bucket *bucket) {
    bool blocks = bucket->mode == PDNN_ALLREDUCE_BLOCKING ||
                  (bucket->mode == PDNN_ALLREDUCE_THREAD && exchange.cores.are_spare);
    void *request;
    int code;
    pack(bucket);
    if (blocks) {
        code = exchange.wire->sum(values_of(bucket), bucket->count, bucket->is_double);
    } else {
        code = exchange.wire->start(values_of(bucket), bucket->count, bucket->is_double, &request);
        code = code ? code : exchange.wire->wait(&request);
    }
    if (!code)
        unpack(bucket);
    return code;
}

static int start_part(const struct pdnn_gradient_allreduce_part *part) {
    struct bucket *bucket = bucket_of(part);
    add(bucket, part);
    if (!part->is_last)
        return 0;
    complete(bucket);
    if (part->mode == PDNN_ALLREDUCE_BLOCKING)
        return sum_now(bucket);
    pack(bucket);
    bucket->state = RUNNING;
    if (part->mode == PDNN_ALLREDUCE_THREAD)
        return hand_over(bucket);
    exchange.n_running++;
    return exchange.wire->start(values_of(bucket), bucket->count, bucket->is_double, &bucket->request);
}

int pdnn_gradient_allreduce_start(const struct pdnn_gradient_allreduce_part *part) {
    if (exchange.wire && !exchange.is_off && !exchange.failure)
        exchange.failure = start_part(part);
    return exchange.failure;
}

static int test_running(void) {
    int code = 0;
    for (size_t i = 0; exchange.n_running && i < exchange.n_buckets && !code; i++) {
        struct bucket *bucket = exchange.buckets[i];
        bool done = false;
        if (bucket->mode != PDNN_ALLREDUCE_BUCKETED || bucket->state != RUNNING)
            continue;
        code = exchange.wire->test(&bucket->request, &done);
        if (done) {
            bucket->state = SUMMED;
            exchange.n_running--;
        }
    }
    return code;
}

int pdnn_gradient_allreduce_poll(void) {
    if (!exchange.failure)
        exchange.failure = test_running();
    return exchange.failure;
}

/* Sleeps, so that a thread on the same core has it. */
static void await_thread(struct bucket *bucket) {
    pthread_mutex_lock(&exchange.lock);
    exchange.is_awaited = true;
    pthread_cond_signal(&exchange.wake);
    while (bucket->state == RUNNING)
        pthread_cond_wait(&exchange.summed, &exchange.lock);
    exchange.is_awaited = false;
    pthread_mutex_unlock(&exchange.lock);
}

static int finish(struct bucket *bucket) {
    int code = 0;
    if (bucket->mode == PDNN_ALLREDUCE_THREAD)
        await_thread(bucket);
    if (bucket->mode == PDNN_ALLREDUCE_BUCKETED && bucket->state == RUNNING) {
        code = exchange.wire->wait(&bucket->request);
        bucket->state = SUMMED;
        exchange.n_running--;
    }
    if (bucket->state != SUMMED)
        return code;
    bucket->state = IDLE;
    code = code ? code : bucket->code;
    if (!code)
        unpack(bucket);
    return code;
}

/* The gradients of one bucket are waited for one by one; the first does it for all. */
int pdnn_gradient_allreduce_wait(size_t number) {
    if (exchange.wire && !exchange.is_off && !exchange.failure && number < exchange.n_buckets)
        exchange.failure = finish(exchange.buckets[number]);
    return exchange.failure;
}

int pdnn_gradient_allreduce_repeat(void) {
    int code = 0;
    for (size_t i = 0; i < exchange.n_buckets && !code; i++)
        code = sum_now(exchange.buckets[i]);
    return code;
}
