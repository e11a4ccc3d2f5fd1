/* Rows of results.csv selected by values, grouped into series, and named by their differences. */
#define _POSIX_C_SOURCE 200809L
#include "tests/cmocka_all.h"

#include "base/file.h"
#include "results/query/grid.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 256 };

static char directory[] = "/tmp/pdnn_test_selection_XXXXXX", path[PATH_ROOM];

static const char text[] = "schema,id,preset,family,nodes,batch,mode,status,time_ns_median,extrapolated\n"
                           "3,\"fc/nodes=8,batch=16,mode=infer\",,fc,8,16,infer,ok,100,1\n"
                           "3,\"fc/nodes=8,batch=4,mode=infer\",paper-min,fc,8,4,infer,ok,100,\n"
                           "3,\"fc/nodes=16,batch=4,mode=infer\",,fc,16,4,infer,ok,100,\n"
                           "3,\"fc/nodes=16,batch=4,mode=train\",,fc,16,4,train,ok,100,0\n"
                           "3,\"fc/nodes=16,batch=16,mode=train\",,fc,16,16,train,crash,,\n"
                           "3,\"rnn/batch=250,mode=infer\",,rnn,,250,infer,ok,100,\n"
                           "3,\"rnn/batch=100,mode=infer\",,rnn,,100,infer,ok,100,\n";

static int setup(void **state) {
    struct pdnn_err err = {0};
    (void)state;
    strcpy(strrchr(directory, '_') + 1, "XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/results.csv", directory);
    return pdnn_file_replace(path, text, strlen(text), &err) == PDNN_OK ? 0 : -1;
}

static int teardown(void **state) {
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void open_selection(struct pdnn_selection *selection, const char *const *only, size_t n_only) {
    struct pdnn_err err = {0};
    if (pdnn_selection_open_all(selection, &(const char *){directory}, 1, only, n_only, &err) != PDNN_OK)
        fail_msg("%s", err.text);
}

static void test_selection_open_chooses(void **state) {
    (void)state;
    static const struct {
        const char *only[2];
        size_t n_only, count, left_out;
    } rows[] = {
        {{NULL}, 0, 6, 1},
        {{"family=fc"}, 1, 4, 1},
        {{"batch=4", "mode=infer"}, 2, 2, 0},
        {{"id=fc/nodes=8,batch=4,mode=infer"}, 1, 1, 0},
        {{"nodes="}, 1, 2, 0},
        {{"batch=16,4"}, 1, 4, 1},
        {{"batch=16,4,mode=infer"}, 1, 3, 0},
        {{"mode=infer,nodes=16,8,batch=4"}, 1, 2, 0},
        {{"fc/mode=infer,batch=4"}, 1, 2, 0},
        {{"fc/nodes=8,batch=16"}, 1, 1, 0},
        {{"fc"}, 1, 4, 1},
        {{"paper-min"}, 1, 1, 0},
        {{"paper-min,paper-max"}, 1, 1, 0},
        {{"fc,cnn"}, 1, 4, 1},
        {{"cnn,fc,nodes=8,batch=16"}, 1, 1, 0},
        {{"paper-min,mode=infer"}, 1, 1, 0},
        {{"preset=paper-min"}, 1, 1, 0},
        {{"nodes>=16", "batch<16"}, 2, 2, 0},
        {{"batch<=16.0"}, 1, 4, 1},
        {{"batch=1.6e1,100"}, 1, 2, 1},
        {{"mode!=train"}, 1, 5, 0},
        {{"batch!=16,250,4"}, 1, 1, 0},
        {{"time_ns_median=100"}, 1, 6, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_selection selection;
        open_selection(&selection, rows[i].only, rows[i].n_only);
        assert_int_equal(selection.count, rows[i].count);
        assert_int_equal(selection.left_out, rows[i].left_out);
        assert_true(pdnn_selection_step_ns(&selection, 0) == 100);
        assert_int_equal(pdnn_selection_extrapolated(&selection, 0), selection.row[0] == 0);
        pdnn_selection_close(&selection);
    }
}

static void test_selection_open_refuses(void **state) {
    (void)state;
    static const struct {
        const char *only, *message;
    } rows[] = {
        {"batch", "--only: 'batch' is not KEY=VALUE; a family or a preset comes first"},
        {"4,batch=4", "--only: '4,batch=4' is not KEY=VALUE; a family or a preset comes first"},
        {"=4", "--only: '=4' is not KEY=VALUE; a family or a preset comes first"},
        {"paper-min,", "--only: '' is not KEY=VALUE; a family or a preset comes first"},
        {"paper-min,fc", "--only: 'fc' is not KEY=VALUE; a family or a preset comes first"},
        {"papermin,mode=infer",
         "--only: 'papermin,mode=infer' is not KEY=VALUE; a family or a preset comes first"},
        {"fc/", "--only: '' is not KEY=VALUE; a family or a preset comes first"},
        {"", "--only: '' is not KEY=VALUE; a family or a preset comes first"},
        {"mode=train,", "--only: a value is missing after the comma of 'mode=train,'"},
        {"batch=4,,8", "--only: a value is missing after the comma of 'batch=4,,8'"},
        {"bach=4", "results.csv has no column 'bach', did you mean 'batch'?"},
        {"mode=train,bach=4", "results.csv has no column 'bach', did you mean 'batch'?"},
        {"nodes>many", "--only: 'many' is not a number to compare nodes with"},
        {"nodes>8,16", "--only: 'nodes>8,16' compares with more than one number; a list goes with = and !=, "
                       "and decimals have a point"},
        {"nodes<=8,many,batch=4",
         "--only: 'nodes<=8,many,batch=4' compares with more than one number; a list goes "
         "with = and !=, and decimals have a point"},
        {"nodes>8,mode!=train,infer", "no instance that ended ok has all the values asked for"},
        {"batch=5", "no instance that ended ok has all the values asked for"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_selection selection;
        struct pdnn_err err = {0};
        assert_int_equal(
            pdnn_selection_open_all(&selection, &(const char *){directory}, 1, &rows[i].only, 1, &err),
            PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
}

/* A second directory with columns of its own, other settings, and software in environment.yaml. */
static const char second_text[] = "id,model,family,cell,batch,threads,backend,status,time_ns_median,new\n"
                                  "a,big,rnn,gru,4,2,onednn,ok,50,9\n"
                                  "b,,rnn,gru,16,2,openblas,oom,,\n"
                                  "c,small,rnn,lstm,4,2,reference,ok,70,8\n";

static const char environment_text[] =
    "backend_onednn: \"oneDNN 2.6.3 (avx2)\" # identity\n"
    "backend_openblas: \"OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH\"\nbackend_reference: \"reference (double)\"\n";

static void write_second(char second[PATH_ROOM], const char *results, const char *environment) {
    struct pdnn_err err = {0};
    char file[PATH_ROOM + 32];
    snprintf(second, PATH_ROOM, "%s/second", directory);
    mkdir(second, 0777);
    snprintf(file, sizeof file, "%s/results.csv", second);
    assert_int_equal(pdnn_file_replace(file, results, strlen(results), &err), PDNN_OK);
    snprintf(file, sizeof file, "%s/environment.yaml", second);
    assert_int_equal(pdnn_file_replace(file, environment, strlen(environment), &err), PDNN_OK);
}

static void remove_second(const char *second) {
    static const char *const names[] = {"results.csv", "environment.yaml"};
    char file[PATH_ROOM + 32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(file, sizeof file, "%s/%s", second, names[i]);
        unlink(file);
    }
    assert_int_equal(rmdir(second), 0);
}

static const char *field(const struct pdnn_selection *selection, size_t at, const char *name) {
    return pdnn_selection_get(selection, at, pdnn_results_named(&selection->results, name));
}

static const struct pdnn_selection_key *key_of(const struct pdnn_selection *selection, const char *name) {
    return pdnn_selection_key(selection, pdnn_results_named(&selection->results, name));
}

static void test_selection_of_several_directories(void **state) {
    (void)state;
    char second[PATH_ROOM], own[PATH_ROOM];
    const char *const both[] = {directory, second};
    const char *const filters[] = {"results=second"};
    struct pdnn_selection selection;
    struct pdnn_err err = {0};
    struct pdnn_str where = {0};
    const struct pdnn_axes none = {.count = 0};
    write_second(second, second_text, environment_text);
    assert_int_equal(pdnn_selection_open_all(&selection, both, 2, NULL, 0, &err), PDNN_OK);
    assert_int_equal(selection.count, 8);
    assert_int_equal(selection.left_out, 2);
    snprintf(own, sizeof own, "%s", strrchr(directory, '/') + 1);
    assert_string_equal(field(&selection, 5, "results"), own);
    assert_string_equal(field(&selection, 5, "version"), "");
    assert_string_equal(field(&selection, 5, "threads"), "");
    assert_string_equal(field(&selection, 6, "results"), "second");
    assert_string_equal(field(&selection, 6, "version"), "oneDNN 2.6.3");
    assert_string_equal(field(&selection, 7, "version"), "reference");
    assert_string_equal(field(&selection, 7, "new"), "8");
    assert_string_equal(field(&selection, 7, "mode"), "");
    assert_int_equal(pdnn_selection_source(&selection, 5), 0);
    assert_int_equal(pdnn_selection_source(&selection, 6), 1);
    assert_true(key_of(&selection, "threads")->follows);
    assert_false(key_of(&selection, "batch")->follows);
    assert_false(key_of(&selection, "results")->follows);
    pdnn_selection_where(&selection, 6, &none, &where);
    assert_string_equal(pdnn_str_text(&where), "family=rnn, cell=gru, backend=onednn, results=second");
    pdnn_str_finish(&where);
    struct pdnn_arena arena = {0}; /* no version of paradnn prints such ids */
    assert_string_equal(pdnn_selection_names(&selection, &arena)[selection.row[7]],
                        "family=rnn,batch=4,cell=lstm");
    pdnn_arena_finish(&arena);
    pdnn_selection_close(&selection);
    assert_int_equal(pdnn_selection_open_all(&selection, both, 2, filters, 1, &err), PDNN_OK);
    assert_int_equal(selection.count, 2);
    pdnn_selection_close(&selection);
    remove_second(second);
}

static void test_selection_of_several_directories_refuses(void **state) {
    (void)state;
    char second[PATH_ROOM], message[2 * PATH_ROOM];
    const char *const both[] = {directory, second}, *const twice[] = {directory, directory};
    struct pdnn_selection selection;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_selection_open_all(&selection, twice, 2, NULL, 0, &err), PDNN_INVALID);
    snprintf(message, sizeof message, "%s: named twice; name it once", directory);
    assert_string_equal(err.text, message);
    write_second(second, "id,family,time_ns_median\na,fc,10\n", "");
    assert_int_equal(pdnn_selection_open_all(&selection, both, 2, NULL, 0, &err), PDNN_INVALID);
    snprintf(message, sizeof message, "%s/results.csv:1: there is no column 'status'", second);
    assert_string_equal(err.text, message);
    remove_second(second);
}

/* The two directories differ in threads too, which must not keep their models apart. */
static void test_selection_series_across_directories(void **state) {
    (void)state;
    char second[PATH_ROOM];
    const char *const both[] = {directory, second};
    struct pdnn_selection selection;
    struct pdnn_axes axes;
    struct pdnn_series *series;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    size_t n_series;
    write_second(second,
                 "id,family,nodes,batch,mode,threads,status,time_ns_median\n"
                 "x,fc,8,4,infer,2,ok,50\ny,fc,8,16,infer,2,ok,50\nz,rnn,8,16,infer,2,ok,50\n",
                 "");
    assert_int_equal(pdnn_selection_open_all(&selection, both, 2, NULL, 0, &err), PDNN_OK);
    assert_int_equal(pdnn_axes_parse(&selection, "results", &axes, &err), PDNN_OK);
    pdnn_selection_series(&selection, &axes, &arena, &series, &n_series);
    assert_int_equal(n_series, 7);
    assert_int_equal(series[0].count, 2);
    assert_int_equal(series[0].at[0], 0);
    assert_int_equal(series[0].at[1], 7);
    assert_int_equal(series[1].count, 2);
    assert_int_equal(series[6].count, 1);
    pdnn_arena_finish(&arena);
    pdnn_selection_close(&selection);
    remove_second(second);
}

static void assert_series(const char *across, const char *expected) {
    struct pdnn_selection selection;
    struct pdnn_axes axes;
    struct pdnn_series *series;
    struct pdnn_arena arena = {0};
    struct pdnn_err err = {0};
    struct pdnn_str found = {0};
    size_t n_series;
    open_selection(&selection, NULL, 0);
    assert_int_equal(pdnn_axes_parse(&selection, across, &axes, &err), PDNN_OK);
    pdnn_selection_series(&selection, &axes, &arena, &series, &n_series);
    for (size_t i = 0; i < n_series; i++)
        for (size_t k = 0; k < series[i].count; k++)
            pdnn_str_printf(&found, "%s%s", k ? "" : " ",
                            pdnn_selection_get(&selection, series[i].at[k], selection.id));
    assert_string_equal(pdnn_str_text(&found), expected);
    pdnn_str_finish(&found);
    pdnn_arena_finish(&arena);
    pdnn_selection_close(&selection);
}

/* A key that one mode has not keeps no two modes apart; one that some rows of a mode lack does. */
static void test_selection_series_without_a_key(void **state) {
    (void)state;
    static const char rows[] = "id,family,batch,mode,optimizer,cell,status,time_ns_median\n"
                               "a,fc,4,infer,,,ok,10\nb,fc,8,infer,,,ok,10\nc,fc,4,train,sgd,,ok,10\n"
                               "d,fc,4,train,adam,,ok,10\ne,fc,8,train,sgd,,ok,10\nf,rnn,8,infer,,gru,ok,10\n"
                               "g,rnn,8,train,sgd,gru,ok,10\nh,rnn,8,train,sgd,lstm,ok,10\n";
    static const char unsaid[] = "id,family,batch,mode,optimizer,cell,status,time_ns_median\n"
                                 "a,fc,4,infer,,,ok,10\nb,fc,4,train,,,ok,10\nc,fc,4,train,sgd,,ok,10\n";
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_replace(path, rows, strlen(rows), &err), PDNN_OK);
    assert_series("mode", " ac be d fg h");
    assert_series("batch", " ab ce d f g h"); /* modes stay apart where they are no axis */
    assert_series("mode,batch", " acbe d fg h");
    assert_series("optimizer", " a b cd e f g h");
    assert_int_equal(pdnn_file_replace(path, unsaid, strlen(unsaid), &err), PDNN_OK);
    assert_series("mode", " ab c");
}

/* A family that this program does not know comes first, as in a table of somebody else. */
static void test_minibatch_of_each_family(void **state) {
    (void)state;
    static const char rows[] = "id,family,size,batch,status,time_ns_median\n"
                               "x,theirs,8,,ok,10\ny,fc,,4,ok,10\nz,rnn,,16,ok,10\n";
    struct pdnn_selection selection;
    struct pdnn_axes axes = {.count = 0};
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_file_replace(path, rows, strlen(rows), &err), PDNN_OK);
    open_selection(&selection, NULL, 0);
    assert_true(isnan(pdnn_selection_examples(&selection, 0)));
    assert_true(pdnn_selection_examples(&selection, 1) == 4);
    assert_true(pdnn_selection_examples(&selection, 2) == 16);
    pdnn_axes_add_minibatch(&selection, &axes);
    assert_int_equal(axes.count, 1);
    assert_int_equal(axes.column[0], pdnn_results_named(&selection.results, "batch"));
    assert_int_equal(pdnn_grid_choose_axis(&selection, -1), axes.column[0]);
    pdnn_selection_close(&selection);
}

/* What is said of keys is of the chosen rows, whichever are left out. */
static void test_selection_keys_follow_the_rows(void **state) {
    (void)state;
    struct pdnn_selection all, part, ok;
    struct pdnn_err err = {0};
    assert_int_equal(pdnn_selection_read(&all, &(const char *){directory}, 1, NULL, 0, &err), PDNN_OK);
    pdnn_selection_part(&all, all.family, "fc", true, &part);
    assert_true(key_of(&all, "family")->varies && !key_of(&part, "family")->varies);
    assert_string_equal(key_of(&part, "nodes")->usual, "16");
    pdnn_selection_part(&part, -1, "", false, &ok);
    assert_null(key_of(&ok, "nodes")->usual);
    assert_true(ok.count + ok.left_out == part.count && ok.count < part.count);
    pdnn_selection_close(&ok);
    pdnn_selection_close(&part);
    pdnn_selection_close(&all);
}

static bool same_mode(const struct pdnn_selection *selection, size_t a, size_t b) {
    int mode = pdnn_results_named(&selection->results, "mode");
    return strcmp(pdnn_selection_get(selection, a, mode), pdnn_selection_get(selection, b, mode)) == 0;
}

/* Chosen rows 0 to 5 are the rows above except the crashed one. */
static void test_selection_series(void **state) {
    (void)state;
    static const struct {
        const char *axes;
        bool same_mode;
        const char *series; /* members joined by commas, series separated by blanks */
    } rows[] = {
        {"batch", false, "1,0 2 3 5,4"},       {"nodes", false, "0 1,2 3 4 5"},
        {"batch,nodes", false, "1,2,0 3 5,4"}, {"nodes,batch", false, "1,0,2 3 5,4"},
        {"mode", false, "0 1 2,3 4 5"},        {"batch,nodes,mode", true, "1,2,0 3 5,4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_selection selection;
        struct pdnn_axes axes;
        struct pdnn_series *series;
        struct pdnn_arena arena = {0};
        struct pdnn_str got = {0};
        struct pdnn_err err = {0};
        size_t n_series;
        open_selection(&selection, NULL, 0);
        assert_int_equal(pdnn_axes_parse(&selection, rows[i].axes, &axes, &err), PDNN_OK);
        axes.alike = rows[i].same_mode ? same_mode : NULL;
        pdnn_selection_series(&selection, &axes, &arena, &series, &n_series);
        for (size_t s = 0; s < n_series; s++) {
            for (size_t k = 0; k < series[s].count; k++)
                pdnn_str_printf(&got, "%s%zu", k ? "," : s ? " " : "", series[s].at[k]);
        }
        assert_string_equal(pdnn_str_text(&got), rows[i].series);
        pdnn_str_finish(&got);
        pdnn_arena_finish(&arena);
        pdnn_selection_close(&selection);
    }
}

static void test_axes_parse_refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"batch,node", "results.csv has no hyper-parameter or run setting 'node', did you mean 'nodes'?"},
        {"", "results.csv has no hyper-parameter or run setting ''"},
        {"batch,nodes,batch", "'batch,nodes,batch' names batch twice"},
        {"batch,batch,batch,batch,batch,batch,batch,batch,batch",
         "'batch,batch,batch,batch,batch,batch,batch,batch,batch' has more than 8 keys"},
    };
    struct pdnn_selection selection;
    open_selection(&selection, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_axes axes;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_axes_parse(&selection, rows[i].text, &axes, &err), PDNN_INVALID);
        assert_string_equal(err.text, rows[i].message);
    }
    pdnn_selection_close(&selection);
}

/* Among the six, fc and mode=infer are usual, and no value of any other key is. Ids in the table leave out
 * more than today's do. */
static void test_selection_texts(void **state) {
    (void)state;
    static const struct {
        const char *axes;
        size_t at;
        const char *pattern, *names, *values, *where, *usual;
    } rows[] = {
        {"batch", 0, "fc/layers=4,nodes=8,input=2000,output=1000,batch=*,activation=relu,mode=infer", "batch",
         "16", "nodes=8", "family=fc, mode=infer"},
        {"nodes,mode", 2, "fc/layers=4,nodes=*,input=2000,output=1000,batch=4,activation=relu,mode=*",
         "nodes, mode", "16, infer", "batch=4", "family=fc"},
        {"nodes,mode", 3, "fc/layers=4,nodes=*,input=2000,output=1000,batch=4,activation=relu,mode=*",
         "nodes, mode", "16, train", "batch=4", "family=fc"},
        {"nodes", 3, "fc/layers=4,nodes=*,input=2000,output=1000,batch=4,activation=relu", "nodes", "16",
         "batch=4, mode=train", "family=fc, mode=infer"},
        {"nodes", 5,
         "rnn/cell=lstm,layers=1,embedding=512,hidden=512,length=50,vocabulary=1024,batch=100,"
         "bidirectional=no,output_at=every-step,dropout=0,ids=uniform,mode=infer",
         "nodes", "-", "family=rnn, batch=100", "family=fc, mode=infer"},
    };
    struct pdnn_selection selection;
    open_selection(&selection, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_axes axes;
        struct pdnn_err err = {0};
        struct pdnn_str got[5] = {{0}};
        const char *const expected[] = {rows[i].pattern, rows[i].names, rows[i].values, rows[i].where,
                                        rows[i].usual};
        assert_int_equal(pdnn_axes_parse(&selection, rows[i].axes, &axes, &err), PDNN_OK);
        pdnn_selection_pattern(&selection, rows[i].at, &axes, true, &got[0]);
        pdnn_selection_values(&selection, SIZE_MAX, &axes, &got[1]);
        pdnn_selection_values(&selection, rows[i].at, &axes, &got[2]);
        pdnn_selection_where(&selection, rows[i].at, &axes, &got[3]);
        pdnn_selection_where(&selection, SIZE_MAX, &axes, &got[4]);
        for (size_t k = 0; k < 5; k++) {
            assert_string_equal(pdnn_str_text(&got[k]), expected[k]);
            pdnn_str_finish(&got[k]);
        }
    }
    pdnn_selection_close(&selection);
}

/* Counts have 64 bits, which neither doubles nor signed integers hold; of flags, one is enough. */
static void test_results_select_compares_cells(void **state) {
    (void)state;
    char counts[] = "id,family,flop_count,status,time_ns_median,row_flags\n"
                    "a,fc,5,ok,100,\n"
                    "b,fc,9007199254740992,ok,100,noisy|unusable\n"
                    "c,fc,9007199254740993,ok,100,short|noisy|ref\n"
                    "d,fc,18446744073709551614,ok,100,noisy\n";
    static const struct {
        const char *only;
        size_t count;
    } rows[] = {{"flop_count>1", 4},
                {"flop_count=9007199254740993", 1},
                {"flop_count>9007199254740992", 2},
                {"flop_count<=9007199254740992", 2},
                {"flop_count<-1", 0},
                {"flop_count>1e18", 1},
                {"row_flags=noisy", 3},
                {"row_flags!=noisy", 1},
                {"row_flags=unusable,ref", 2},
                {"row_flags=nois", 0},
                {"row_flags=", 1}};
    struct pdnn_str file = {.text = counts, .length = strlen(counts)};
    struct pdnn_results results;
    struct pdnn_err err = {0};
    if (pdnn_results_open(&results, &(const char *){"results.csv"}, 1, &file, &err) != PDNN_OK)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pdnn_row_list chosen = {0};
        assert_int_equal(pdnn_results_select(&results, &rows[i].only, 1, &chosen, &err), PDNN_OK);
        if (chosen.count != rows[i].count)
            fail_msg("%s: %zu rows", rows[i].only, chosen.count);
        pdnn_rows_finish(&chosen);
    }
    pdnn_results_close(&results);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_selection_open_chooses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_open_refuses, setup, teardown),
        cmocka_unit_test(test_results_select_compares_cells),
        cmocka_unit_test_setup_teardown(test_selection_of_several_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_of_several_directories_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_series_across_directories, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_series_without_a_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_minibatch_of_each_family, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_keys_follow_the_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_series, setup, teardown),
        cmocka_unit_test_setup_teardown(test_axes_parse_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_selection_texts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
