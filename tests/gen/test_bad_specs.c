/* Every <name>.yaml in the directory given as argument must be refused with the line in <name>.txt: specs,
 * and families, whose first line may have values for the instance, "# width=9". Without <name>.txt, a family
 * is right, as all in models/zoo, in inference and in training, and so are its claims. */
#include "gen/expansion/expand.h"
#include "gen/family/family.h"
#include "models/build.h"
#include "models/definition/check.h"
#include "models/definition/compile.h"
#include "models/definition/compiled.h"
#include "models/zoo/catalog.h"
#include "tests/cmocka_all.h"

#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MIN = 6, NAME_TEXT = 300, FILE_BYTES = 1 << 16 };

/* The error that reading and expanding ends with; "" if there is none. */
static void first_error(const char *path, struct pdnn_err *err) {
    struct pdnn_spec spec;
    struct pdnn_expand *expand = NULL;
    if (pdnn_spec_load(&path, 1, NULL, 0, &spec, err) != PDNN_OK)
        return;
    enum pdnn_status status = PDNN_OK;
    expand = pdnn_expand_create(&spec, 2, false);
    bool done = false;
    while (status == PDNN_OK && !done) {
        struct pdnn_expanded item;
        status = pdnn_expand_next(expand, &item, &done, err);
    }
    pdnn_expand_destroy(expand);
    pdnn_spec_finish(&spec);
}

/* The same of a family: reading, compiling, checking, and building the instance with these values. */
static void family_error(const char *path, const char *text, const char *values, struct pdnn_err *err) {
    struct pdnn_arena *arena = calloc(1, sizeof *arena);
    const struct pdnn_definition *definition;
    const struct pdnn_compiled *compiled;
    struct pdnn_instance instance;
    struct pdnn_graph graph;
    char id[PDNN_ID_TEXT];
    pdnn_catalog_keep(arena);
    if (pdnn_family_parse(path, text, strlen(text), arena, &definition, err) != PDNN_OK ||
        pdnn_definition_compile(definition, arena, &compiled, err) != PDNN_OK)
        return;
    if (pdnn_definition_check(&compiled->family, err) != PDNN_OK ||
        pdnn_family_check_claims(&compiled->family, err) != PDNN_OK)
        return;
    pdnn_catalog_add(&compiled->family);
    snprintf(id, sizeof id, "%s%s%s", compiled->family.name, *values ? "/" : "", values);
    if (pdnn_instance_parse(id, &instance, err) == PDNN_OK)
        pdnn_instance_graph(&instance, arena, &graph, err);
}

static void any_error(const char *path, bool is_right, struct pdnn_err *err) {
    char *text = NULL, values[NAME_TEXT] = "";
    assert_int_equal(pdnn_file_read(path, FILE_BYTES, &text, NULL, NULL), PDNN_OK);
    if (strncmp(text, "# ", 2) == 0)
        snprintf(values, sizeof values, "%.*s", (int)strcspn(text + 2, "\n"), text + 2);
    if (strncmp(text, "family:", 7) != 0 && !strstr(text, "\nfamily:"))
        first_error(path, err);
    else
        family_error(path, text, values, err);
    if (is_right && err->status == PDNN_OK)
        family_error(path, text, "mode=infer", err);
    free(text);
}

static int check(const char *yaml) {
    char path[NAME_TEXT], line[PDNN_ERR_TEXT + 1];
    char *expected = NULL; /* no file: no error */
    struct pdnn_err err = {0};
    snprintf(path, sizeof path, "%.*s.txt", (int)(strlen(yaml) - strlen(".yaml")), yaml);
    bool is_right = access(path, F_OK) != 0;
    if (!is_right)
        assert_int_equal(pdnn_file_read(path, PDNN_ERR_TEXT, &expected, NULL, NULL), PDNN_OK);
    any_error(yaml, is_right, &err);
    snprintf(line, sizeof line, "%s\n", err.text);
    int bad = strcmp(line, expected ? expected : "\n") != 0;
    if (bad)
        print_error("%s\n  expected: %s  but was:  %s", yaml, expected ? expected : "\n", line);
    free(expected);
    return bad;
}

static void test_bad_specs_messages(void **state) {
    (void)state;
    DIR *directory = opendir(".");
    assert_non_null(directory);
    int n_files = 0, n_bad = 0;
    for (struct dirent *entry = readdir(directory); entry; entry = readdir(directory)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".yaml") != 0)
            continue;
        n_files++;
        n_bad += check(entry->d_name);
    }
    closedir(directory);
    assert_int_equal(n_bad, 0);
    assert_true(n_files >= FILES_MIN);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bad_specs_messages)};
    if (argc != 2 || chdir(argv[1]) != 0)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
