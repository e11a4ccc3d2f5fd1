#include "models/varying.h"
#include "tests/cmocka_all.h"

#include <string.h>

static void add(struct pdnn_varying *varying, struct pdnn_instance *instances, const char *const *ids,
                size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pdnn_instance_parse(ids[i], &instances[i], NULL), PDNN_OK);
        pdnn_instance_settle(&instances[i]);
        pdnn_instance_resolve(&instances[i], 2);
        pdnn_varying_add(varying, &instances[i]);
    }
}

static void expect(const struct pdnn_varying *varying, const struct pdnn_instance *instance,
                   const char *label) {
    char buffer[PDNN_ID_TEXT];
    assert_string_equal(pdnn_varying_label(varying, instance, buffer), label);
}

static void expect_common(const struct pdnn_varying *varying, const char *expected) {
    struct pdnn_str text = {0};
    pdnn_varying_common(varying, &text);
    assert_string_equal(pdnn_str_text(&text), expected);
    pdnn_str_finish(&text);
}

static void test_varying_one_family(void **state) {
    (void)state;
    static const char *const ids[] = {"fc/layers=4,batch=1,mode=infer,threads=2",
                                      "fc/layers=4,batch=16,mode=infer,threads=2",
                                      "fc/layers=4,batch=1,threads=2"};
    struct pdnn_varying varying = {0};
    struct pdnn_instance instances[3];
    add(&varying, instances, ids, 3);
    expect(&varying, &instances[0], "batch=1,mode=infer");
    expect(&varying, &instances[1], "batch=16,mode=infer");
    expect(&varying, &instances[2], "batch=1,mode=train");
    expect_common(&varying, "fc, layers=4, nodes=1024, input=2000, output=1000, activation=relu, threads=2");
    pdnn_varying_finish(&varying);
}

static void test_varying_several_families(void **state) {
    (void)state;
    static const char *const ids[] = {"fc/layers=4,nodes=8,mode=infer,threads=2",
                                      "fc/layers=4,nodes=16,mode=infer,threads=2",
                                      "gnmt/mode=infer,threads=2"};
    struct pdnn_varying varying = {0};
    struct pdnn_instance instances[3];
    add(&varying, instances, ids, 3);
    expect(&varying, &instances[1], "fc/nodes=16");
    expect(&varying, &instances[2], "gnmt");
    struct pdnn_str text = {0};
    pdnn_varying_common(&varying, &text);
    assert_non_null(strstr(pdnn_str_text(&text), "mode=infer, threads=2; fc: layers=4, input=2000, "));
    assert_non_null(strstr(pdnn_str_text(&text), "; gnmt: hidden="));
    pdnn_str_finish(&text);
    pdnn_varying_finish(&varying);
}

static void test_varying_alone(void **state) {
    (void)state;
    static const char *const ids[] = {"fc/layers=4,batch=1,mode=infer,threads=2"};
    struct pdnn_varying varying = {0};
    struct pdnn_instance instances[1];
    add(&varying, instances, ids, 1);
    char id[PDNN_ID_TEXT];
    expect(&varying, &instances[0], pdnn_instance_format(&instances[0], id));
    expect_common(&varying, "");
    pdnn_varying_finish(&varying);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varying_one_family),
        cmocka_unit_test(test_varying_several_families),
        cmocka_unit_test(test_varying_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
