#define _POSIX_C_SOURCE 200809L
/* Families of users: as arguments, in specs, among those that ship, and how many are read. */
#include "base/str.h"
#include "gen/expansion/expand.h"
#include "gen/family/shipped.h"
#include "models/zoo/catalog.h"
#include "results/store/results.h"
#include "tests/gen/spec_file.h"

#include <stdio.h>
#include <sys/stat.h>

struct pdnn_definition;

#define BODY                                                                                                 \
    "axes:\n"                                                                                                \
    "  nodes: {default: 8, range: 1..64}\n"                                                                  \
    "  batch: {default: 2, range: 1..64}\n"                                                                  \
    "inputs: {x: {shape: [batch, 16]}, y: {shape: [batch], fill: {class: nodes}}}\n"                         \
    "ops: [{dense: {out: nodes}, from: x, as: z}]\n"                                                         \
    "loss: [{softmax_cross_entropy, from: [z, y]}]\n"
#define SMALL BODY "presets: {small: {nodes: 4}, resnet50: {nodes: 50}}\n"

static const char tiny[] = "family: tiny\n" SMALL;

static size_t n_compiled;

/* Counts what is compiled. */
enum pdnn_status __real_pdnn_definition_family(const struct pdnn_definition *definition, bool ships,
                                               struct pdnn_arena *arena,
                                               const struct pdnn_family_def **family, struct pdnn_err *err);
enum pdnn_status __wrap_pdnn_definition_family(const struct pdnn_definition *definition, bool ships,
                                               struct pdnn_arena *arena,
                                               const struct pdnn_family_def **family, struct pdnn_err *err);
enum pdnn_status __wrap_pdnn_definition_family(const struct pdnn_definition *definition, bool ships,
                                               struct pdnn_arena *arena,
                                               const struct pdnn_family_def **family, struct pdnn_err *err) {
    n_compiled++;
    return __real_pdnn_definition_family(definition, ships, arena, family, err);
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The ids of all instances, a line each; or the message. Without @HASH, which other tests hold. */
static void list(const char *const *arguments, size_t n_arguments, const char *set, struct pdnn_str *out) {
    struct pdnn_spec spec;
    struct pdnn_err err = {0};
    out->length = 0;
    pdnn_str_printf(out, "%s", "");
    if (pdnn_spec_load(arguments, n_arguments, &set, set != NULL, &spec, &err) != PDNN_OK) {
        pdnn_str_printf(out, "%s", err.text);
        return;
    }
    struct pdnn_expand *expand = pdnn_expand_create(&spec, 2, false);
    struct pdnn_expanded item;
    bool done = false;
    char id[PDNN_ID_TEXT];
    while (pdnn_expand_next(expand, &item, &done, &err) == PDNN_OK && !done) {
        pdnn_instance_format(&item.instance, id);
        const char *hash = strchr(id, '@');
        pdnn_str_printf(out, "%.*s%s%s%s\n", (int)(hash ? hash - id : 0), id, hash ? strchr(id, '/') : id,
                        *item.reason ? " " : "", item.reason);
    }
    pdnn_str_printf(out, "%s", err.text);
    pdnn_expand_destroy(expand);
    pdnn_spec_finish(&spec);
}

#define TINY(nodes, batch) "tiny/nodes=" #nodes ",batch=" #batch ",threads=2\n"

static void test_file_as_argument(void **state) {
    (void)state;
    static const struct {
        const char *argument, *lists;
    } rows[] = {
        {"tiny.yaml", TINY(8, 2)},
        {"./tiny.yaml", TINY(8, 2)},
        {"./tiny.yaml,batch=8", TINY(8, 8)},
        {"tiny.yaml,nodes=3,batch=8", TINY(3, 8)},
        {"tiny.yaml/batch=8", TINY(8, 8)},
        {"tiny.yaml:small", TINY(4, 2)},
        {"nets/tiny:small,batch=3", TINY(4, 3)},
        {"nets/tiny", TINY(8, 2)},
        {"tiny.yaml,bach=8", "'tiny,bach=8': unknown key 'bach' for tiny, did you mean 'batch'?"},
        {"tiny.yaml,zzyzx=8", "'tiny,zzyzx=8': unknown key 'zzyzx' for tiny, see tiny.yaml"},
        {"tiny.yaml:zzyzx", "'tiny:zzyzx': tiny has no preset 'zzyzx', see tiny.yaml"},
        {"tiny.yaml,nodes=65", "'tiny,nodes=65': nodes is 65, expected 1 to 64"},
        {"./tinny.yaml,batch=8", "./tinny.yaml: No such file or directory, did you mean './tiny.yaml'?"},
        {"bad.yaml", "bad.yaml:6:8: no op or block 'dens', did you mean 'dense'?"},
        {"two.yaml", "two.yaml:9:1: a family's file has one document"},
        {"spec.yaml,batch=8",
         "spec.yaml: is a spec, ',batch=8' may only stand behind a family's file; --set changes a spec"},
    };
    struct pdnn_str lines = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        list(&rows[i].argument, 1, NULL, &lines);
        assert_string_equal(lines.text, rows[i].lists);
    }
    pdnn_str_finish(&lines);
}

static void test_families_of_a_spec(void **state) {
    (void)state;
    static const struct {
        const char *text, *set, *lists;
    } rows[] = {
        {"families: [tiny.yaml]\nmodels: [{tiny: {nodes: [1, 2]}}, small]\n", NULL,
         TINY(1, 2) TINY(2, 2) TINY(4, 2)},
        {"families: [nets/tiny]\nmodels: [tiny]\n", NULL, TINY(8, 2)},
        {"models: [{tiny: {nodes: 3}}]\n", "families=[tiny.yaml]", TINY(3, 2)},
        {"families: [tiny.yaml]\nmodels: [tiny]\n", "families.0.axes.nodes.default=5", TINY(5, 2)},
        {"families:\n  - family: other\n    axes: {batch: {default: 1, range: 1..8}}\n"
         "    inputs: {x: {shape: [batch, 4]}}\n    ops: [{dense: {out: 4}, from: x}]\n"
         "run: {mode: [train, infer]}\nmodels: [other]\n",
         NULL,
         "other/batch=1,threads=2 other has no loss: it is for mode=infer\n"
         "other/batch=1,mode=infer,threads=2\n"},
        {"families: []\nmodels: [fc]\n", NULL,
         "made.yaml:1:11: families takes a list of files and maps: [mynet.yaml]"},
        {"families: tiny.yaml\nmodels: [fc]\n", NULL,
         "made.yaml:1:11: families takes a list of files and maps: [mynet.yaml]"},
        {"families: [none.yaml]\nmodels: [fc]\n", NULL,
         "made.yaml:1:12: none.yaml: No such file or directory"},
        {"families: [spec.yaml]\nmodels: [fc]\n", NULL,
         "spec.yaml:1:1: not a family, which is a map with the key 'family'"},
        {"families: [bad.yaml]\nmodels: [fc]\n", NULL,
         "bad.yaml:6:8: no op or block 'dens', did you mean 'dense'?"},
        {"families: [two.yaml]\nmodels: [fc]\n", NULL, "two.yaml:9:1: a family's file has one document"},
        {"families: [[tiny.yaml]]\nmodels: [fc]\n", NULL,
         "made.yaml:1:12: families takes a list of files and maps: [mynet.yaml]"},
        {"families: [{axes: {}}]\nmodels: [fc]\n", NULL, "made.yaml:1:12: a family needs 'family'"},
        {"families: [tiny.yaml, nets/tiny]\nmodels: [fc]\n", NULL,
         "nets/tiny:1:9: family tiny is in the list twice"},
        {"families: [zip.yaml]\nmodels: [fc]\n", NULL,
         "zip.yaml:1:9: a family cannot be called zip, which is a key of a model"},
        {"families:\n  - family: other\n    axes: {batch: {default: 1, range: 1..8}}\n"
         "    inputs: {x: {shape: [batch, 4]}}\n    ops: [{dense: {out: 4}, from: x}]\nmodels: [other]\n",
         NULL, "made.yaml:6:10: other has no loss: it is for mode=infer"},
    };
    struct pdnn_str lines = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_file("made.yaml", rows[i].text);
        list(&(const char *){"made.yaml"}, 1, rows[i].set, &lines);
        assert_string_equal(lines.text, rows[i].lists);
    }
    pdnn_str_finish(&lines);
}

/* Each spec has its own; a name that ships is hidden where one says so. */
static void test_names_are_found_in_order(void **state) {
    (void)state;
    struct pdnn_str lines = {0};
    write_file("fc.yaml", "family: fc\n" BODY);
    write_file("first.yaml", "families: [fc.yaml]\nmodels: [fc]\n");
    write_file("second.yaml", "families: [tiny.yaml]\nmodels: [tiny, resnet50]\n");
    write_file("third.yaml", "families:\n  - {family: fc, axes: {batch: {default: 3, range: 1..8}}, "
                             "inputs: {x: {shape: [batch, 4]}}, ops: [{dense: {out: 4}, from: x}]}\n"
                             "run: {mode: infer}\nmodels: [fc]\n");
    const char *const all[] = {"first.yaml", "second.yaml", "third.yaml", "first.yaml"};
    list(all, 4, NULL, &lines);
    assert_string_equal(lines.text, "fc/nodes=8,batch=2,threads=2\n" TINY(8, 2)
                                        TINY(50, 2) "fc/batch=3,mode=infer,threads=2\n"
                                                    "fc/nodes=8,batch=2,threads=2\n");
    pdnn_str_finish(&lines);
}

/* The record of a spec holds the families: it lists the same where their files are gone, or were changed. */
static void test_record_holds_families(void **state) {
    (void)state;
    static const char *const specs[][2] = {
        {"tiny.yaml,batch=7", NULL}, {"spec.yaml", NULL}, {"fc", "spec.yaml"}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        struct pdnn_spec spec;
        struct pdnn_err err = {0};
        struct pdnn_str before = {0}, after = {0};
        const size_t n_specs = specs[i][1] ? 2 : 1;
        write_file("tiny.yaml", tiny);
        list(specs[i], n_specs, NULL, &before);
        assert_int_equal(pdnn_spec_load(specs[i], n_specs, NULL, 0, &spec, &err), PDNN_OK);
        assert_int_equal(rename("tiny.yaml", "moved"), 0);
        write_file("record.yaml", spec.text);
        list(&(const char *){"record.yaml"}, 1, NULL, &after);
        assert_string_equal(after.text, before.text);
        assert_non_null(strstr(before.text, "tiny/"));
        assert_int_equal(rename("moved", "tiny.yaml"), 0);
        pdnn_spec_finish(&spec);
        pdnn_str_finish(&before);
        pdnn_str_finish(&after);
    }
}

/* Read twice, a file is one family. */
static void test_same_file_is_one_family(void **state) {
    (void)state;
    struct pdnn_str lines = {0};
    list(&(const char *){"tiny.yaml"}, 1, NULL, &lines);
    const struct pdnn_family_def *family = pdnn_family_find("tiny");
    n_compiled = 0;
    list(&(const char *){"spec.yaml"}, 1, NULL, &lines);
    assert_ptr_equal(pdnn_family_find("tiny"), family);
    assert_int_equal(n_compiled, 0);
    pdnn_str_finish(&lines);
}

/* A command reads the families that it names, and no other. */
static void test_only_named_families_are_read(void **state) {
    (void)state;
    struct pdnn_str lines = {0};
    const struct pdnn_family_def **families;
    struct pdnn_arena arena = {0};
    struct pdnn_spec spec;
    struct pdnn_err err = {0};
    n_compiled = 0;
    list(&(const char *){"spec.yaml"}, 1, NULL, &lines);
    list(&(const char *){"tiny.yaml:small"}, 1, NULL, &lines);
    assert_int_equal(n_compiled, 1);
    list(&(const char *){"rnn/batch=3"}, 1, NULL, &lines);
    assert_int_equal(n_compiled, 1 + (pdnn_family_source("rnn") != NULL));
    assert_int_equal(pdnn_spec_load(&(const char *){"rnn,batch=3"}, 1, NULL, 0, &spec, &err), PDNN_OK);
    const size_t n_families = pdnn_spec_families(&spec, &arena, &families);
    assert_true(pdnn_results_def(families, n_families, &arena).count > 0);
    assert_int_equal(n_families, 1);
    assert_int_equal(n_compiled, 1 + (pdnn_family_source("rnn") != NULL));
    pdnn_spec_finish(&spec);
    pdnn_arena_finish(&arena);
    pdnn_str_finish(&lines);
}

static int enter(void **state) {
    static char place[] = "/tmp/paradnn-families-XXXXXX";
    *state = mkdtemp(place);
    if (!*state || chdir(place) != 0 || mkdir("nets", 0777) != 0)
        return -1;
    write_file("tiny.yaml", tiny);
    write_file("nets/tiny", tiny);
    write_file("spec.yaml", "families: [tiny.yaml]\nmodels: [{tiny: {nodes: [1, 2]}}]\n");
    write_file("bad.yaml", "family: bad\naxes:\n  nodes: {default: 8, range: 1..64}\n"
                           "  batch: {default: 2, range: 1..64}\ninputs: {x: {shape: [batch, 16]}}\n"
                           "ops: [{dens: {out: nodes}, from: x}]\n");
    write_file("two.yaml", "family: two\n" BODY "---\nmodels: [fc]\n");
    write_file("zip.yaml", "family: zip\n" BODY);
    return 0;
}

static int leave(void **state) {
    static const char *const files[] = {"tiny.yaml",  "nets/tiny",   "spec.yaml",  "bad.yaml",
                                        "two.yaml",   "zip.yaml",    "made.yaml",  "fc.yaml",
                                        "first.yaml", "second.yaml", "third.yaml", "record.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
    return rmdir("nets") || chdir("/") || rmdir(*state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_named_families_are_read), cmocka_unit_test(test_file_as_argument),
        cmocka_unit_test(test_families_of_a_spec),           cmocka_unit_test(test_names_are_found_in_order),
        cmocka_unit_test(test_record_holds_families),        cmocka_unit_test(test_same_file_is_one_family),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
