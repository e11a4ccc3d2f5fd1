#define _POSIX_C_SOURCE 200809L
#include "base/fill.h"
#include "cli/args/help.h"
#include "cli/args/registry.h"
#include "tests/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

static const char *const colors[] = {"red", "green", NULL};
static const char description[] = "Paints what it is given.\n\nOr not.";

static const struct pdnn_option_def options[] = {
    {"output", 'o', "FILE", .help = "write to FILE"},
    {"set", 0, "KEY=VALUE", .repeats = true, .help = "override a key"},
    {"color", 'c', "COLOR", .choices = colors, .help = "paint in COLOR"},
    {"dry", 'n', .help = "only say what would be done"},
    {"gloss", 'g', .needs = "color", .excludes = "set,output", .help = "let it shine"},
    {"coats", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = 9, .help = "how many"},
    {"share", 0, "X", .kind = PDNN_OPTION_NUMBER, .most = 0.5, .help = "of water"},
    {"wait", 0, "TIME", .kind = PDNN_OPTION_TIME, .help = "between two"},
};

static const struct pdnn_help_row examples[] = {{"paradnn paint wall", "paints the wall"}};

static PDNN_COMMAND(paint, PDNN_COMMANDS_FIRST, "THING [THING] [THING]", "Paints.", .run = NULL);
static const struct pdnn_command_def *const paint = &pdnn_command_paint;

/* Nothing but this command is asked for its help. */
const struct pdnn_command_def *const pdnn_commands[] = {NULL};
const struct pdnn_table_def *const pdnn_table_defs[PDNN_TABLE_DEFS] = {NULL};

enum { WORDS_MAX = 8 };

/* The parsed arguments as text: operands, then option=value. */
static void describe(const struct pdnn_arguments *arguments, struct pdnn_str *out) {
    for (size_t i = 0; i < arguments->n_operands; i++)
        pdnn_str_printf(out, "%s ", arguments->operands[i]);
    for (size_t i = 0; i < arguments->n_values; i++)
        pdnn_str_printf(out, "%s=%s ", arguments->given[i]->name, arguments->values[i]);
    if (arguments->help)
        pdnn_str_printf(out, "help ");
}

struct row {
    const char *words[WORDS_MAX];
    const char *expected; /* the text of describe, or the message */
};

static const struct row right[] = {
    {{"wall"}, "wall "},
    {{"wall", "-o", "x"}, "wall output=x "},
    {{"-ox", "wall"}, "wall output=x "},
    {{"wall", "--output", "x"}, "wall output=x "},
    {{"wall", "--output=x=y"}, "wall output=x=y "},
    {{"--set", "a=1", "wall", "--set=b=2"}, "wall set=a=1 set=b=2 "},
    {{"--set", "-1", "wall"}, "wall set=-1 "},
    {{"wall", "-c", "green", "-n"}, "wall color=green dry= "},
    {{"-n", "--", "--output", "-x"}, "--output -x dry= "},
    {{"-g", "-cred", "wall"}, "wall gloss= color=red "},
    {{"-", "wall"}, "- wall "},
    {{"--help"}, "help "},
    {{"wall", "-h", "--nonsense"}, "wall help "},
};

static const struct row wrong[] = {
    {{NULL}, "paint: needs THING [THING] [THING], see 'paradnn paint --help'"},
    {{"a", "b", "c", "d"}, "paint: unexpected argument 'd'"},
    {{"wall", "--outptu=x"}, "paint: unknown option '--outptu=x', did you mean '--output'?"},
    {{"wall", "--out", "x"}, "paint: unknown option '--out', did you mean '--output'?"},
    {{"wall", "--threads=1"},
     "paint: unknown option '--threads=1', it belongs under run: --set run.threads=VALUE"},
    {{"wall", "--nodes", "2"},
     "paint: unknown option '--nodes', it is a hyper-parameter of fc: write MODEL,nodes=VALUE for an ID, --set models.0.MODEL.nodes=VALUE for a SPEC"},
    {{"wall", "--hepl"}, "paint: unknown option '--hepl', did you mean '--help'?"},
    {{"wall", "--quite-another"}, "paint: unknown option '--quite-another', see 'paradnn paint --help'"},
    {{"wall", "-z"}, "paint: unknown option '-z', see 'paradnn paint --help'"},
    {{"wall", "-set"}, "paint: unknown option '-set', did you mean '--set'?"},
    {{"wall", "--output"}, "paint: --output needs a FILE"},
    {{"wall", "--output="}, "paint: --output needs a FILE, but it is empty"},
    {{"wall", "-o", "x", "-o", "y"}, "paint: --output is given twice"},
    {{"wall", "--dry=yes"}, "paint: --dry takes no value"},
    {{"wall", "-g"}, "paint: --gloss needs --color"},
    {{"wall", "-g", "-c", "red", "-o", "x"}, "paint: --gloss and --output cannot be combined"},
    {{"wall", "-nx"}, "paint: --dry takes no value"},
    {{"wall", "--coats", "1x"}, "paint: --coats is '1x', expected a whole number from 1 to 9"},
    {{"wall", "--coats", "10"}, "paint: --coats is '10', expected a whole number from 1 to 9"},
    {{"wall", "--share", "nan"}, "paint: --share is 'nan', expected a number from 0 to 0.5"},
    {{"wall", "--share", "1"}, "paint: --share is '1', expected a number from 0 to 0.5"},
    {{"wall", "--wait", "5"}, "paint: --wait is '5', expected a time such as 90s or 10m"},
    {{"wall", "--wait", "0s"}, "paint: --wait is '0s', expected a time such as 90s or 10m"},
    {{"wall", "-c", "gren"}, "paint: --color cannot be 'gren', did you mean 'green'?"},
    {{"wall", "-c", "chartreuse"}, "paint: --color cannot be 'chartreuse', expected one of: red, green"},
};

/* argv as main receives it. */
static int copy_words(const struct row *row, char *words[WORDS_MAX]) {
    int count = 0;
    for (; count < WORDS_MAX && row->words[count]; count++) {
        words[count] = strdup(row->words[count]);
        assert_non_null(words[count]);
    }
    return count;
}

static void free_words(char *words[WORDS_MAX], int count) {
    for (int i = 0; i < count; i++)
        free(words[i]);
}

static void test_arguments_parse_right(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        char *words[WORDS_MAX];
        int count = copy_words(&right[i], words);
        struct pdnn_arguments arguments;
        struct pdnn_err err = {0};
        struct pdnn_str text = {0};
        assert_int_equal(pdnn_arguments_parse(paint, count, words, &arguments, &err), PDNN_OK);
        describe(&arguments, &text);
        assert_string_equal(pdnn_str_text(&text), right[i].expected);
        pdnn_str_finish(&text);
        pdnn_arguments_finish(&arguments);
        free_words(words, count);
    }
}

static void test_arguments_parse_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char *words[WORDS_MAX];
        int count = copy_words(&wrong[i], words);
        struct pdnn_arguments arguments;
        struct pdnn_err err = {0};
        assert_int_equal(pdnn_arguments_parse(paint, count, words, &arguments, &err), PDNN_INVALID);
        assert_string_equal(err.text, wrong[i].expected);
        pdnn_arguments_finish(&arguments);
        free_words(words, count);
    }
}

static void test_argument_values(void **state) {
    (void)state;
    char wall[] = "wall", set[] = "--set", first[] = "a=1", second[] = "b=2", dry[] = "--dry",
         coats[] = "--coats=3", share[] = "--share=.25", wait[] = "--wait=2ms";
    char *words[] = {wall, set, first, dry, set, second, coats, share, wait};
    struct pdnn_arguments arguments;
    struct pdnn_err err = {0};
    const char *const *texts;
    size_t count;
    assert_int_equal(pdnn_arguments_parse(paint, 6, words, &arguments, &err), PDNN_OK);
    assert_null(pdnn_argument(&arguments, "output"));
    assert_string_equal(pdnn_argument(&arguments, "dry"), "");
    assert_string_equal(pdnn_argument(&arguments, "set"), "b=2");
    texts = pdnn_argument_all(&arguments, "set", &count);
    assert_int_equal(count, 2);
    assert_string_equal(texts[0], "a=1");
    assert_string_equal(texts[1], "b=2");
    pdnn_argument_all(&arguments, "color", &count);
    assert_int_equal(count, 0);
    assert_int_equal(pdnn_argument_whole(&arguments, "coats", 7), 7);
    assert_true(pdnn_argument_number(&arguments, "share", 7) == 7 &&
                pdnn_argument_time(&arguments, "wait", 7) == 7);
    pdnn_arguments_finish(&arguments);
    assert_int_equal(pdnn_arguments_parse(paint, 9, words, &arguments, &err), PDNN_OK);
    assert_int_equal(pdnn_argument_whole(&arguments, "coats", 7), 3);
    assert_true(pdnn_argument_number(&arguments, "share", 7) == 0.25 &&
                pdnn_argument_time(&arguments, "wait", 7) == 2000000);
    assert_int_equal(pdnn_arguments_only(&arguments, "WALL", "set,dry,coats,share,wait", &err), PDNN_OK);
    assert_int_equal(pdnn_arguments_only(&arguments, "WALL", "set,dry,wait", &err), PDNN_INVALID);
    assert_string_equal(err.text, "paint WALL has no option --coats; it takes --set, --dry and --wait");
    pdnn_arguments_finish(&arguments);
}

static void test_command_help_says_every_row(void **state) {
    (void)state;
    struct pdnn_str help = {0};
    pdnn_help_format(&help, paint, false);
    assert_string_equal(pdnn_str_text(&help), "Usage: paradnn paint THING [THING] [THING] [OPTION]...\n"
                                              "Paints.\n"
                                              "\n"
                                              "Paints what it is given.\n"
                                              "\n"
                                              "Or not.\n"
                                              "\n"
                                              "Options:\n"
                                              "  -o, --output FILE     write to FILE\n"
                                              "  --set KEY=VALUE       override a key\n"
                                              "  -c, --color COLOR     paint in COLOR\n"
                                              "  -n, --dry             only say what would be done\n"
                                              "  -g, --gloss           let it shine\n"
                                              "  --coats N             how many\n"
                                              "  --share X             of water\n"
                                              "  --wait TIME           between two\n"
                                              "  -h, --help            show this help and exit\n"
                                              "\n"
                                              "Examples:\n"
                                              "  paradnn paint wall\n"
                                              "      paints the wall\n");
    pdnn_str_finish(&help);
}

static void test_fill_text_breaks(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t indent, width;
        const char *expected;
    } rows[] = {
        {"", 0, 10, "\n"},
        {"one two", 0, 7, "one two\n"},
        {"one two", 0, 6, "one\ntwo\n"},
        {"one  two", 2, 8, "one\n  two\n"},
        {"a incompressible", 0, 5, "a\nincom\npress\nible\n"},
        {"fc/layers=4,nodes=16,batch=2", 2, 18, "fc/layers=4,\n  nodes=16,batch=2\n"},
        {"forward|backward-data", 0, 12, "forward|\nbackward-\ndata\n"},
        {"of it 0.5 %, and", 0, 9, "of it\n0.5 %,\nand\n"},
        {"12345\xc3\xa9", 0, 6, "12345\n\xc3\xa9\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct pdnn_str out = {0};
        pdnn_fill_text(&out, rows[i].text, rows[i].indent, rows[i].width);
        assert_string_equal(pdnn_str_text(&out), rows[i].expected);
        pdnn_str_finish(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments_parse_right), cmocka_unit_test(test_arguments_parse_wrong),
        cmocka_unit_test(test_argument_values),       cmocka_unit_test(test_command_help_says_every_row),
        cmocka_unit_test(test_fill_text_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
