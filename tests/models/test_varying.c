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

/* Presets are called by their names, with what they leave open; several with one name have their family's,
 * too. */
static void test_varying_presets(void **state) {
    (void)state;
    static const char *const ids[] = {"resnet50,batch=4,mode=infer", "resnet50,batch=8,mode=infer",
                                      "gpt2,batch=8,phase=decode,context=64,mode=infer",
                                      "fc:paper-min,batch=8,mode=infer", "fc/nodes=7,batch=8,mode=infer"};
    struct pdnn_varying varying = {0};
    struct pdnn_instance instances[5];
    add(&varying, instances, ids, 2);
    expect(&varying, &instances[1], "batch=8");
    expect_common(&varying, "resnet50, mode=infer, threads=2");
    pdnn_varying_finish(&varying);
    add(&varying, instances, ids, 5);
    expect(&varying, &instances[0], "resnet50,batch=4");
    expect(&varying, &instances[2], "gpt2");
    expect(&varying, &instances[3], "fc:paper-min");
    expect(&varying, &instances[4], "fc");
    struct pdnn_str text = {0};
    pdnn_varying_common(&varying, &text);
    assert_non_null(strstr(
        pdnn_str_text(&text),
        "mode=infer, threads=2; gpt2: batch=8, phase=decode, context=64; fc:paper-min: batch=8; fc: layers=4, nodes=7, "));
    assert_null(strstr(pdnn_str_text(&text), "hidden=768"));
    pdnn_str_finish(&text);
    pdnn_varying_finish(&varying);
}

/* A preset's name parses back to the instance. */
static void test_instance_name(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"resnet50,batch=4", "resnet50,batch=4,threads=2"},
        {"gpt2,phase=decode,context=64,mode=infer", "gpt2,phase=decode,context=64,mode=infer,threads=2"},
        {"rnn:paper-min,threads=1", "rnn:paper-min,threads=1"},
        {"fc/layers=1,nodes=2,threads=2",
         "fc/layers=1,nodes=2,input=2000,output=1000,batch=64,activation=relu,threads=2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_varying varying = {0};
        struct pdnn_instance instance, again;
        char name[PDNN_ID_TEXT], one[PDNN_ID_TEXT], other[PDNN_ID_TEXT];
        add(&varying, &instance, &rows[i][0], 1);
        assert_string_equal(pdnn_instance_name(&instance, name), rows[i][1]);
        expect(&varying, &instance, rows[i][1]);
        assert_int_equal(pdnn_instance_parse(name, &again, NULL), PDNN_OK);
        pdnn_instance_resolve(&again, 2);
        assert_string_equal(pdnn_instance_format(&again, one), pdnn_instance_format(&instance, other));
        pdnn_varying_finish(&varying);
    }
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
        cmocka_unit_test(test_varying_one_family), cmocka_unit_test(test_varying_several_families),
        cmocka_unit_test(test_varying_alone),      cmocka_unit_test(test_varying_presets),
        cmocka_unit_test(test_instance_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
