/* Families that another process sends, and how they are named there. */
#include "models/definition/compile.h"
#include "models/definition/text/canonical.h"
#include "models/instance.h"
#include "models/zoo/catalog.h"
#include "models/zoo/transport.h"
#include "tests/cmocka_all.h"

#include <string.h>

static const char text[] = "family mynet width:int batch:int\n"
                           "minibatch batch\n"
                           "input x :shape batch width :fill uniform\n"
                           "op (dense out=width :from x)\n"
                           "axis width 1 4096 :default 8\n"
                           "axis batch 1 4096 :default 4\n"
                           "preset \"wide\" \"width=64\"\n";

static struct pdnn_arena arena;

/* The text with its first `old` replaced. */
static const char *replaced(const char *old, const char *new) {
    const char *at = strstr(text, old);
    assert_non_null(at);
    return pdnn_arena_printf(&arena, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static const struct pdnn_family_def *made_of(const char *full, bool ships) {
    const struct pdnn_definition *definition;
    const struct pdnn_family_def *family = NULL;
    struct pdnn_err err = {0};
    if (pdnn_definition_read(full, &arena, &definition, &err) != PDNN_OK ||
        pdnn_definition_family(definition, ships, &arena, &family, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    return family;
}

static void unpack(const struct pdnn_family_def *family) {
    struct pdnn_str packed = {0};
    struct pdnn_err err = {0};
    pdnn_family_pack(family, &packed);
    if (pdnn_family_unpack(packed.text, packed.length, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    pdnn_str_finish(&packed);
}

static void assert_id(const char *id, const char *printed) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    char again[PDNN_ID_TEXT];
    if (pdnn_instance_parse(id, &instance, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    assert_string_equal(pdnn_instance_format(&instance, again), printed);
    assert_int_equal(pdnn_instance_parse(again, &instance, &err), PDNN_OK);
}

static void assert_unknown(const char *id, const char *message) {
    struct pdnn_instance instance;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_instance_parse(id, &instance, &err), PDNN_INVALID);
    assert_string_equal(err.text, message);
}

static void test_unpack_refuses(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *message;
    } rows[] = {
        {"", "not a family: no line with its name"},
        {"mynet", "not a family: no line with its name"},
        {"mynet\nfamily", "a family's text: something else than expected at byte 0"},
        {"mynet@00000000\n", "not the family that its name says"},
        {"yournet\n", "not the family that its name says"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool is_whole = strstr(rows[i].message, "its name says") != NULL;
        const char *bytes = pdnn_arena_printf(&arena, "%s%s", rows[i].bytes, is_whole ? text : "");
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_family_unpack(bytes, strlen(bytes), &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
    const char *zero = pdnn_arena_printf(&arena, "mynet\n%s", text);
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_family_unpack(zero, strlen(zero) + 1, &err), PDNN_INVALID);
    assert_null(pdnn_family_find("mynet"));
}

/* Two definitions of one name, and one that ships in the process that sends it. */
static void test_unpack_names(void **state) {
    (void)state;
    const struct pdnn_family_def *first = made_of(text, false),
                                 *second = made_of(replaced("out=width", "out=1"), false);
    char one[PDNN_FAMILY_TEXT], other[PDNN_FAMILY_TEXT];
    assert_string_equal(made_of(text, true)->hash, first->hash);
    assert_string_not_equal(first->hash, second->hash);
    assert_unknown(pdnn_arena_printf(&arena, "mynet@%s/width=3", first->hash),
                   pdnn_arena_printf(&arena,
                                     "'mynet@%s/width=3': unknown model 'mynet@%s'; the results that it came "
                                     "from keep it in families/mynet@%s.yaml",
                                     first->hash, first->hash, first->hash));
    unpack(first);
    pdnn_family_format(first, one);
    pdnn_family_format(second, other);
    assert_id(pdnn_arena_printf(&arena, "%s/width=3,batch=2,threads=1", one),
              pdnn_arena_printf(&arena, "%s/width=3,batch=2,threads=1", one));
    assert_id("mynet,width=3,threads=1", pdnn_arena_printf(&arena, "%s/width=3,batch=4,threads=1", one));
    assert_id("wide,threads=1", pdnn_arena_printf(&arena, "%s/width=64,batch=4,threads=1", one));
    assert_unknown(other, pdnn_arena_printf(&arena,
                                            "'%s': unknown model '%s', here it is %s; the results that it "
                                            "came from keep it in families/%s.yaml",
                                            other, other, one, other));
    unpack(second);
    assert_id(pdnn_arena_printf(&arena, "%s/width=3,batch=2,threads=1", one),
              pdnn_arena_printf(&arena, "%s/width=3,batch=2,threads=1", one));
    assert_id("mynet,width=3,threads=1", pdnn_arena_printf(&arena, "%s/width=3,batch=4,threads=1", other));
    unpack(made_of(text, true));
    assert_id("mynet,width=3,threads=1", "mynet/width=3,batch=4,threads=1");
    assert_id(pdnn_arena_printf(&arena, "%s/width=3,threads=1", other),
              pdnn_arena_printf(&arena, "%s/width=3,batch=4,threads=1", other));
    assert_true(pdnn_instance_is_named(other) && pdnn_instance_is_named(one));
    assert_false(pdnn_instance_is_named("mynet@00000000/width=3"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unpack_refuses),
        cmocka_unit_test(test_unpack_names),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pdnn_arena_finish(&arena);
    return failed;
}
