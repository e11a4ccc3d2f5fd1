/* Digests of FIPS 180-4's examples, and of lengths around the ends of chunks. */
#include "base/sha256.h"
#include "tests/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

/* `count` times the text. */
static void check(const char *text, size_t count, const char *digest) {
    const size_t length = strlen(text);
    char hex[PDNN_SHA256_TEXT], *whole = malloc(count * length + 1);
    assert_non_null(whole);
    for (size_t i = 0; i < count; i++)
        memcpy(whole + i * length, text, length);
    assert_string_equal(pdnn_sha256(whole, count * length, hex), digest);
    free(whole);
}

static void test_sha256_published(void **state) {
    (void)state;
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrs"
          "mnopqrstnopqrstu",
          1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    check("a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* So many x, as sha256sum says. */
static void test_sha256_lengths(void **state) {
    (void)state;
    static const struct {
        size_t length;
        const char *digest;
    } rows[] = {
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {119, "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c"},
        {120, "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98"},
        {128, "24da1b81d0b16df6428eee73c69fcb2a93c76bc6df706f0c6670fe6bfe800464"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check("x", rows[i].length, rows[i].digest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256_published),
        cmocka_unit_test(test_sha256_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
