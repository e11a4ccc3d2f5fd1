/* Training on several devices: links, rings and buckets by hand, and the published figures of BERT-Large. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "models/build.h"
#include "models/cost/group.h"
#include "models/op.h"
#include "results/whatif/distribution.h"
#include "tests/near.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_link_parse(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double bytes_per_ns, latency_ns; /* 0 bytes: refused */
    } rows[] = {
        {"12.5GB/s,2us", 12.5, 2000},
        {"32GB/s", 32, 0},
        {"200Mbit/s,50us", 0.025, 50000},
        {"1GiB/s", 1.073741824, 0},
        {"100Gbit/s", 12.5, 0},
        {"12.5GB", 0, 0},
        {"12.5GB/s,2", 0, 0},
        {"GB/s", 0, 0},
        {"0GB/s", 0, 0},
        {"12.5GB/second", 0, 0},
        {"", 0, 0},
        {"bit/s", 0, 0},
        {"1GB/s,", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_link link;
        struct pdnn_err err = {0};
        enum pdnn_status status = pdnn_link_parse(rows[i].text, &link, &err);
        assert_int_equal(status, rows[i].bytes_per_ns > 0 ? PDNN_OK : PDNN_INVALID);
        if (status != PDNN_OK) {
            assert_non_null(strstr(err.text, "expected bandwidth and latency"));
            continue;
        }
        assert_near(link.bytes_per_ns, rows[i].bytes_per_ns, 1e-9);
        assert_near(link.latency_ns, rows[i].latency_ns, 0);
    }
}

/* The gradients of BERT-Large with its heads in f32 over 32 GB/s. */
static void test_ring_published(void **state) {
    (void)state;
    const struct pdnn_link link = {32, 0}, slow = {1, 7};
    const double bytes = 4 * 336226108.0;
    assert_near(pdnn_ring_ns(&link, bytes, 2) * 1e-6, 42.0, 0.05);
    assert_near(pdnn_ring_ns(&link, bytes, 8) * 1e-6, 73.5, 0.05);
    assert_near(pdnn_ring_ns(&link, bytes, 128) * 1e-6, 83.4, 0.05);
    assert_near(pdnn_ring_ns(&link, bytes, 1), 0, 0);
    assert_near(pdnn_ring_ns(&slow, 100, 4), 150 + 42, 1e-9);
}

/* A ring of two devices at 1 B/ns takes as many ns as there are bytes. */
static const struct pdnn_link one = {1, 0};

static const struct pdnn_timed_node nodes[] = {
    {100, 0, false},                                                 /* forward */
    {50, 30, false},                                                 /* backward, three gradients */
    {50, 40, false}, {50, 10, false}, {20, 0, false}, {25, 0, true}, /* update */
};

static struct pdnn_reduced_step reduce(uint64_t bucket, int64_t devices, bool overlap) {
    const struct pdnn_reduction_plan plan = {one, bucket, overlap};
    return pdnn_reduce_gradients(nodes, sizeof nodes / sizeof *nodes, &plan, devices);
}

static void test_reduce_gradients(void **state) {
    (void)state;
    static const struct {
        uint64_t bucket;
        bool overlap;
        size_t buckets;
        double exposed;
    } rows[] = {
        {1, false, 3, 80},
        {1000, false, 1, 80},
        /* one bucket, full after the last gradient at 250; the backward pass ends at 270 */
        {1000, true, 1, 60},
        /* 30 at 150..180, 40 at 200..240, 10 at 250..260: before 270 */
        {1, true, 3, 0},
        /* 70 at 200..270, then 10 at 270..280 */
        {70, true, 2, 10},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_reduced_step made = reduce(rows[i].bucket, 2, rows[i].overlap);
        assert_int_equal(made.buckets, rows[i].buckets);
        assert_near(made.compute_ns, 295, 1e-9);
        assert_near(made.update_ns, 25, 1e-9);
        assert_near(made.comm_ns, 80, 1e-9);
        assert_near(made.exposed_ns, rows[i].exposed, 1e-9);
    }
    assert_near(reduce(1, 1, false).exposed_ns, 0, 0);
}

static char directory[] = "/tmp/pdnn_test_distribution_XXXXXX";

static void write_file(const char *name, const struct pdnn_str *text) {
    char path[64];
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (text)
        assert_int_equal(pdnn_file_replace(path, text->text, text->length, &err), PDNN_OK);
    else
        unlink(path);
}

/* A directory with the instance, of whose ops the first one has a time. */
static void write_results(const char *id, struct pdnn_arena *arena) {
    struct pdnn_instance instance;
    struct pdnn_graph graph;
    struct pdnn_group *groups;
    struct pdnn_err err = {0};
    struct pdnn_str results = {0}, ops = {0};
    size_t n_groups;
    uint32_t *group_of;
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_instance_resolve(&instance, 1);
    assert_int_equal(pdnn_instance_graph(&instance, arena, &graph, &err), PDNN_OK);
    assert_int_equal(pdnn_graph_groups(&graph, &groups, &n_groups, &group_of, &err), PDNN_OK);
    const struct pdnn_node *node = &graph.nodes[groups->node];
    pdnn_str_printf(&results, "id,family,status,time_ns_median\n\"%s\",transformer,ok,100\n", id);
    pdnn_str_printf(&ops,
                    "id,layer,op,category,op_pass,op_shape,executions,time_ns_median,share_pct,gflops,bw_gbs,"
                    "pct_of_roof,bound,roof_level,implementation\n"
                    "\"%s\",%s,%s,%s,%s,\"%s\",%u,100,,,,,,,\n",
                    id, groups->layer, node->op->name, node->op->category, pdnn_node_pass_name(node),
                    groups->shape, (unsigned)groups->count);
    assert_non_null(mkdtemp(directory));
    write_file("results.csv", &results);
    write_file("ops.csv", &ops);
    pdnn_str_finish(&results);
    pdnn_str_finish(&ops);
}

static void test_sliced_params_published(void **state) {
    (void)state;
    static const double millions[] = {336.2, 185.2, 109.7, 72.0};
    static const struct pdnn_roof_rows roof_rows = {.count = 0};
    struct pdnn_selection selection;
    struct pdnn_scaling scaling;
    struct pdnn_err err = {0};
    struct pdnn_arena arena = {0};
    struct pdnn_scale_request request = {.selection = &selection,
                                         .roof_rows = &roof_rows,
                                         .nodes = {1},
                                         .n_nodes = 1,
                                         .slice = {1, 2, 4, 8},
                                         .n_slices = 4,
                                         .plan = {one, 1, false}};
    write_results("bert-large,batch=4,objective=masked-lm,mode=train", &arena);
    if (pdnn_selection_open_all(&selection, &(const char *){directory}, 1, NULL, 0, &err) != PDNN_OK ||
        pdnn_selection_ops_open(&selection, &request.readers, &err) != PDNN_OK ||
        pdnn_scale(&request, &scaling, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    assert_int_equal(scaling.devices.n_rows, 4);
    for (size_t i = 0; i < 4; i++)
        assert_near(pdnn_table_number(&scaling.devices, i, PDNN_SCALED_PARAMS) * 1e-6, millions[i], 0.05);
    pdnn_scaling_finish(&scaling);
    pdnn_selection_ops_close(&selection, request.readers);
    pdnn_selection_close(&selection);
    pdnn_arena_finish(&arena);
    write_file("results.csv", NULL);
    write_file("ops.csv", NULL);
    assert_int_equal(rmdir(directory), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_link_parse),
        cmocka_unit_test(test_ring_published),
        cmocka_unit_test(test_reduce_gradients),
        cmocka_unit_test(test_sliced_params_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
