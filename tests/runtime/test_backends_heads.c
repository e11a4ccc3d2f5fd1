/* Products of heads, and the cache they may read, on every backend against `reference`: each product of an
 * attention and of its gradients, then attention trained for some steps, with queries, keys and values in one
 * tensor or in three, then decoding; in every way that onednn can multiply, in f32 and in bf16. B sequences,
 * h heads, n queries, m keys, d width of a head; g heads of keys and values, and a window, or 0. */
#include "tests/runtime/backend_check.h"
#include "tests/cmocka_all.h"
#include "tests/runtime/levels.h"

#include "models/attributes.h"
#include "models/transform/backward.h"
#include "models/op.h"
#include "models/optimizer.h"
#include "models/forward.h"
#include "runtime/backends/onednn/state.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

extern const struct pdnn_backend_def pdnn_backend_openblas;

static const struct pdnn_backend_def *const fast_backends[] = {&pdnn_backend_onednn, &pdnn_backend_openblas};
enum { FAST_BACKENDS = sizeof fast_backends / sizeof *fast_backends };

struct shape {
    int64_t B, h, n, m, d, g, window;
};

/* One row, one head, odd widths, more keys than queries and the reverse, several blocks of k. */
static const struct shape shapes[] = {
    {1, 1, 1, 1, 1, 1, 0},      {2, 3, 5, 7, 4, 3, 0},     {1, 2, 17, 9, 13, 2, 0},
    {3, 4, 1, 40, 64, 4, 0},    {2, 2, 33, 65, 24, 2, 0},  {1, 2, 40, 300, 64, 2, 0},
    {2, 6, 5, 7, 4, 2, 0},      {3, 4, 1, 40, 64, 1, 0},   {2, 4, 33, 65, 24, 2, 0},
    {2, 3, 17, 9, 13, 3, 9},    {1, 4, 33, 65, 24, 2, 65}, {1, 4, 100, 100, 20, 2, 17},
    {1, 2, 70, 600, 16, 1, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

struct net {
    struct pdnn_arena arena;
    struct pdnn_graph graph;
};

static void begin(struct net *net, enum pdnn_dtype dtype) {
    pdnn_arena_init(&net->arena);
    pdnn_graph_init(&net->graph, &net->arena);
    net->graph.dtype = dtype;
}

static uint32_t new_data(struct net *net, enum pdnn_role role, int rank, const int64_t *dim) {
    struct pdnn_tensor data = {.role = role,
                               .dtype = net->graph.dtype,
                               .rank = rank,
                               .fill = {PDNN_FILL_UNIFORM, 1},
                               .of = PDNN_NONE};
    memcpy(data.dim, dim, (size_t)rank * sizeof *dim);
    return pdnn_graph_tensor(&net->graph, &data);
}

/* A matrix (rows, columns) that gradients flow into. */
static uint32_t new_matrix(struct net *net, int64_t rows, int64_t columns) {
    enum { INPUTS = 3 };
    uint32_t x = new_data(net, PDNN_ROLE_INPUT, 2, (int64_t[]){rows, INPUTS});
    uint32_t w = pdnn_graph_weight(&net->graph, 2, (int64_t[]){columns, INPUTS},
                                   (struct pdnn_fill){.kind = PDNN_FILL_UNIFORM, .scale = 0.5});
    return pdnn_graph_forward(&net->graph, &pdnn_op_dense, (uint32_t[]){x, w, PDNN_NONE}, NULL);
}

struct product {
    uint32_t a, b;
    int64_t a_column, b_column;
    bool a_transposed, b_transposed, is_wide; /* wide: the result has heads side by side */
    bool is_seen;                             /* wholly, whatever the window */
};

/* Heads of b; 0 if it has them all, as graphs say it. */
static int64_t fewer(const struct shape *s) {
    return s->g < s->h ? s->g : 0;
}

static uint32_t multiply(struct net *net, const struct shape *s, const struct product *p) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_MATMUL_SEQUENCES] = s->B,
                                            [PDNN_MATMUL_HEADS] = s->h,
                                            [PDNN_MATMUL_WIDTH] = s->d,
                                            [PDNN_MATMUL_A_COLUMN] = p->a_column,
                                            [PDNN_MATMUL_B_COLUMN] = p->b_column,
                                            [PDNN_MATMUL_TRANSPOSE_A] = p->a_transposed,
                                            [PDNN_MATMUL_TRANSPOSE_B] = p->b_transposed,
                                            [PDNN_MATMUL_Y_WIDTH] = p->is_wide ? s->h * s->d : 0,
                                            [PDNN_MATMUL_B_HEADS] = p->a_transposed ? 0 : fewer(s),
                                            [PDNN_MATMUL_WINDOW] = p->is_seen ? 0 : s->window};
    return pdnn_graph_forward(&net->graph, &pdnn_op_matmul, (uint32_t[]){p->a, p->b, PDNN_NONE}, attrs);
}

/* The backends, and onednn with each way to multiply forced. */
enum { WAYS = FAST_BACKENDS + PDNN_ONEDNN_MATMUL_WAY_COUNT };

static struct {
    struct opened backend[WAYS];
    enum pdnn_onednn_matmul_way forced[PDNN_ONEDNN_MATMUL_WAY_COUNT];
    size_t ran[WAYS], all;
} ways;

/* Runs the network in every way, in new memory and in memory taken over. */
static void check_net(struct net *net, const struct shape *s, const char *what) {
    struct pdnn_err err = {0};
    struct oracle oracle;
    bool runs[WAYS];
    char text[160];
    must(pdnn_graph_status(&net->graph, &err), &err);
    snprintf(text, sizeof text, "%s %s B=%d h=%d n=%d m=%d d=%d g=%d window=%d", what,
             pdnn_dtype_name(net->graph.dtype), (int)s->B, (int)s->h, (int)s->n, (int)s->m, (int)s->d,
             (int)s->g, (int)s->window);
    double slack = 10 * sqrt((double)(s->n + s->m + s->d));
    take_level(ways.all);
    open_oracle(&net->graph, &oracle);
    for (int i = 0; i < WAYS; i++)
        runs[i] = check_everything(&ways.backend[i], &oracle, 1, slack, text);
    for (int i = 0; i < WAYS; i++)
        ways.ran[i] +=
            runs[i] && check_kept(&ways.backend[i], &oracle, CHECK_STEPS, check_whole_step_slack, text);
    close_oracle(&oracle);
    pdnn_arena_finish(&net->arena);
    ways.all++;
}

/* The products of attention: scores, context, and the gradients of queries, keys, probabilities and values.
 * Wide operands have heads side by side, in rows with two extra columns. */
static const struct {
    const char *name;
    bool a_wide, b_wide, y_wide, a_transposed, b_transposed;
} products[] = {
    {"scores", true, true, false, false, true}, {"context", false, true, true, false, false},
    {"dq", false, true, true, false, false},    {"dk", false, true, true, true, false},
    {"dp", true, true, false, false, true},     {"dv", false, true, true, true, false},
    {"plain", false, false, false, true, true}, {"wide", true, false, false, true, true},
};
enum { PRODUCTS = sizeof products / sizeof *products, APART = 2 };

static uint32_t new_operand(struct net *net, const struct shape *s, bool is_wide, int64_t heads,
                            const int64_t *dim) {
    if (is_wide)
        return new_data(net, PDNN_ROLE_INPUT, 2, (int64_t[]){s->B * dim[0], heads * s->d + APART});
    return new_data(net, PDNN_ROLE_INPUT, 3, (int64_t[]){s->B * heads, dim[0], dim[1]});
}

static void check_product(const struct shape *s, enum pdnn_dtype dtype, int i) {
    struct net net;
    begin(&net, dtype);
    /* The columns of a wide operand are d: this is K if it is used as stored, M if it is transposed. */
    int64_t M = products[i].a_wide && products[i].a_transposed ? s->d : s->n;
    int64_t K = products[i].a_wide && !products[i].a_transposed ? s->d : s->m;
    int64_t N = products[i].b_wide && !products[i].b_transposed ? s->d : s->m;
    const int64_t a[] = {M, K}, at[] = {K, M}, b[] = {K, N}, bt[] = {N, K};
    struct product p = {.a_transposed = products[i].a_transposed,
                        .b_transposed = products[i].b_transposed,
                        .is_wide = products[i].y_wide,
                        .is_seen = products[i].a_transposed || products[i].a_wide == products[i].y_wide};
    p.a = new_operand(&net, s, products[i].a_wide, s->h, p.a_transposed ? at : a);
    p.b = new_operand(&net, s, products[i].b_wide, p.a_transposed ? s->h : s->g, p.b_transposed ? bt : b);
    p.a_column = products[i].a_wide ? APART : 0;
    p.b_column = products[i].b_wide ? 1 : 0;
    net.graph.result = multiply(&net, s, &p);
    check_net(&net, s, products[i].name);
}

static uint32_t attend(struct net *net, const struct shape *s, const uint32_t qkv[3],
                       const int64_t column[3]) {
    const struct product scores = {
        .a = qkv[0], .b = qkv[1], .a_column = column[0], .b_column = column[1], .b_transposed = true};
    const struct product context = {
        .a = multiply(net, s, &scores), .b = qkv[2], .b_column = column[2], .is_wide = true};
    return multiply(net, s, &context);
}

/* Fused tensors need as many queries as keys; their order is values, queries, keys. */
static void check_training(const struct shape *shape, bool is_fused) {
    struct net net;
    struct shape s = *shape;
    int64_t H = s.h * s.d, narrow = s.g * s.d, column[3] = {0};
    uint32_t qkv[3];
    begin(&net, PDNN_F32);
    s.m = is_fused ? s.n : s.m;
    if (is_fused) {
        qkv[0] = qkv[1] = qkv[2] = new_matrix(&net, s.B * s.n, H + 2 * narrow);
        memcpy(column, (int64_t[]){narrow, narrow + H, 0}, sizeof column);
    } else {
        for (int i = 0; i < 3; i++)
            qkv[i] = new_matrix(&net, s.B * (i ? s.m : s.n), i ? narrow : H);
    }
    uint32_t y = attend(&net, &s, qkv, column);
    struct pdnn_tensor labels = {.role = PDNN_ROLE_LABEL,
                                 .dtype = PDNN_S32,
                                 .rank = 1,
                                 .dim = {s.B * s.n},
                                 .fill = {PDNN_FILL_CLASS, (double)H},
                                 .of = PDNN_NONE};
    uint32_t label = pdnn_graph_tensor(&net.graph, &labels);
    net.graph.loss = pdnn_graph_forward(&net.graph, &pdnn_op_softmax_cross_entropy,
                                        (uint32_t[]){y, label, PDNN_NONE}, NULL);
    pdnn_backward_derive(&net.graph, &pdnn_optimizers[PDNN_OPTIMIZER_SGD]);
    check_net(&net, &s, is_fused ? "fused" : "separate");
}

static uint32_t append(struct net *net, const struct shape *s, uint32_t x, int64_t column) {
    const int64_t attrs[PDNN_NODE_ATTRS] = {[PDNN_CACHE_APPEND_SEQUENCES] = s->B,
                                            [PDNN_CACHE_APPEND_COLUMN] = column,
                                            [PDNN_CACHE_APPEND_POSITION] = s->m - s->n};
    uint32_t cache = pdnn_graph_state(&net->graph, 2, (int64_t[]){s->B * s->m, s->g * s->d},
                                      (struct pdnn_fill){PDNN_FILL_UNIFORM, 1});
    return pdnn_graph_forward(&net->graph, &pdnn_op_cache_append, (uint32_t[]){x, cache, PDNN_NONE}, attrs);
}

/* Queries, keys and values of the last tokens; those of earlier tokens are in the caches. */
static void check_decoding(const struct shape *shape, enum pdnn_dtype dtype) {
    struct net net;
    struct shape s = *shape;
    int64_t H = s.h * s.d, narrow = s.g * s.d;
    begin(&net, dtype);
    s.n = s.n < s.m ? s.n : s.m;
    uint32_t x = new_matrix(&net, s.B * s.n, H + 2 * narrow);
    const uint32_t qkv[] = {x, append(&net, &s, x, H), append(&net, &s, x, H + narrow)};
    net.graph.result = attend(&net, &s, qkv, (int64_t[]){0, 0, 0});
    check_net(&net, &s, "decoding");
}

static void open_ways(void) {
    for (int i = 0; i < WAYS; i++) {
        ways.backend[i] = open_backend(i < FAST_BACKENDS ? fast_backends[i] : &pdnn_backend_onednn);
        if (i < FAST_BACKENDS)
            continue;
        ways.forced[i - FAST_BACKENDS] = (enum pdnn_onednn_matmul_way)(i - FAST_BACKENDS);
        ((struct pdnn_onednn *)ways.backend[i].state)->forced_matmul = &ways.forced[i - FAST_BACKENDS];
    }
}

/* The library may lack a matmul for some network, and has no windows; sgemm has nothing else than f32. What
 * is chosen among the ways, and our own kernel, run everything. */
static void test_compile_heads(void **state) {
    (void)state;
    open_ways();
    for (int i = 0; i < SHAPES; i++) {
        for (int k = 0; k < PRODUCTS; k++) {
            check_product(&shapes[i], PDNN_F32, k);
            check_product(&shapes[i], PDNN_BF16, k);
        }
        check_training(&shapes[i], false);
        check_training(&shapes[i], true);
        check_decoding(&shapes[i], PDNN_F32);
        check_decoding(&shapes[i], PDNN_F16);
    }
    for (int i = 0; i < WAYS; i++) {
        const bool is_own = i == FAST_BACKENDS + (int)PDNN_ONEDNN_MATMUL_KERNEL;
        assert_true(ways.ran[i] == ways.all || (ways.ran[i] && i > 0 && !is_own));
        close_backend(&ways.backend[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile_heads)};
    omp_set_num_threads(CHECK_THREADS);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
