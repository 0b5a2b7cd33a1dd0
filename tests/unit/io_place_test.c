/* SPDX-License-Identifier: Apache-2.0 */
/* Where output goes: names, folders, existing files, full devices. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io_support.h"

static const tamis_format gray8 = {TAMIS_U8, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE};

static tamis_status try_open(const char *path, const tamis_write_options *options)
{
    tamis_writer *writer;
    tamis_status status = tamis_writer_open(io_ctx, path, options, &writer);
    if (status != TAMIS_OK)
        assert_null(writer);
    tamis_writer_close(&writer);
    return status;
}

static void trouble_is_found_at_open(void **state)
{
    (void)state;
    io_remove_all();
    tamis_write_options options = {0};
    assert_int_equal(try_open(io_path("no/such/folder.png"), NULL), TAMIS_ERR_WRITE);
    assert_message_has("No such file");
    assert_message_has("no/such/folder.png");
    assert_int_equal(try_open(io_path("picture.xyz"), NULL), TAMIS_ERR_UNSUPPORTED);
    assert_message_has(".xyz");
    assert_message_has("png");
    assert_int_equal(try_open(io_path("picture"), NULL), TAMIS_ERR_UNSUPPORTED);
    assert_int_equal(try_open("-", NULL), TAMIS_ERR_UNSUPPORTED);
    options.format = "bmp";
    assert_int_equal(try_open(io_path("picture"), &options), TAMIS_ERR_ARGUMENT);
    assert_message_has("format = bmp is none of png, jpeg, tiff, pnm, pam, pfm, npy, raw");
    assert_int_equal(tamis_write_options_check(io_ctx, &options), TAMIS_ERR_ARGUMENT);
    assert_message_has("format = bmp");
    options.format = "pgm";
    assert_int_equal(tamis_write_options_check(io_ctx, &options), TAMIS_OK);
    assert_int_equal(try_open("/tmp", &(tamis_write_options){.format = "png", .overwrite = 1}),
                     TAMIS_ERR_WRITE);
    assert_message_has("directory");
    io_store(io_path("there.png"), "old", 3);
    assert_int_equal(try_open(io_path("there.png"), NULL), TAMIS_ERR_WRITE);
    assert_message_has("exists");
    assert_int_equal(try_open(io_path("there.png/x.png"), NULL), TAMIS_ERR_WRITE);
    options = (tamis_write_options){.quality = 101};
    assert_int_equal(try_open(io_path("a.png"), &options), TAMIS_ERR_ARGUMENT);
    options = (tamis_write_options){.level = 10};
    assert_int_equal(try_open(io_path("a.png"), &options), TAMIS_ERR_ARGUMENT);
    options = (tamis_write_options){.tile = 17};
    assert_int_equal(try_open(io_path("a.png"), &options), TAMIS_ERR_ARGUMENT);
    options = (tamis_write_options){.compression = "zip"};
    assert_int_equal(try_open(io_path("a.png"), &options), TAMIS_ERR_ARGUMENT);
    assert_int_equal(io_file_count(), 1);
}

static void closing_unfinished_leaves_nothing(void **state)
{
    (void)state;
    io_remove_all();
    tamis_image image = io_picture(gray8, 20, 10, 1);
    tamis_writer *writer;
    for (int i = 0; i < io_format_count; i++) {
        if (!(io_formats[i].types & 1u << TAMIS_U8))
            continue;
        char name[32];
        snprintf(name, sizeof name, "x%s", io_formats[i].extension);
        assert_ok(tamis_writer_open(io_ctx, io_path(name), NULL, &writer));
        assert_ok(tamis_writer_write(writer, &image, NULL));
        tamis_writer_close(&writer);
        assert_null(writer);
        assert_int_equal(io_file_count(), 0);
    }
    assert_ok(tamis_writer_open(io_ctx, io_path("x.png"), NULL, &writer));
    assert_int_equal(tamis_writer_finish(writer), TAMIS_ERR_WRITE);
    tamis_writer_close(&writer);
    assert_int_equal(io_file_count(), 0);
    tamis_image_unref(&image);
}

static void an_old_file_survives_failure(void **state)
{
    (void)state;
    io_remove_all();
    tamis_image good = io_picture(gray8, 5, 5, 1);
    tamis_image bad =
        io_picture((tamis_format){TAMIS_F32, 1, TAMIS_PACKED, TAMIS_ALPHA_NONE}, 5, 5, 1);
    const char *path = io_path("old.png");
    assert_ok(tamis_image_save(io_ctx, path, &good, NULL));
    io_bytes before = io_load(path);
    tamis_writer *writer;
    tamis_write_options options = {.overwrite = 1};
    assert_ok(tamis_writer_open(io_ctx, path, &options, &writer));
    assert_int_equal(tamis_writer_write(writer, &bad, NULL), TAMIS_ERR_UNSUPPORTED);
    assert_int_equal(io_file_count(), 1); /* even before the writer is closed */
    assert_int_equal(tamis_writer_write(writer, &good, NULL), TAMIS_ERR_WRITE);
    assert_int_equal(tamis_writer_finish(writer), TAMIS_ERR_WRITE);
    tamis_writer_close(&writer);
    io_bytes after = io_load(path);
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.data, after.data, before.size);
    assert_int_equal(io_file_count(), 1);
    free(before.data);
    free(after.data);
    tamis_image_unref(&good);
    tamis_image_unref(&bad);
}

/* Without overwrite, a file that appears while ours is written is not replaced. */
static void a_late_rival_is_not_replaced(void **state)
{
    (void)state;
    io_remove_all();
    tamis_image image = io_picture(gray8, 5, 5, 1);
    tamis_writer *writer;
    const char *path = io_path("late.png");
    assert_ok(tamis_writer_open(io_ctx, path, NULL, &writer));
    assert_ok(tamis_writer_write(writer, &image, NULL));
    io_store(path, "rival", 5);
    assert_int_equal(tamis_writer_finish(writer), TAMIS_ERR_WRITE);
    tamis_writer_close(&writer);
    io_bytes bytes = io_load(path);
    assert_int_equal(bytes.size, 5);
    free(bytes.data);
    assert_int_equal(io_file_count(), 1);
    tamis_image_unref(&image);
}

static void output_may_be_the_input(void **state)
{
    (void)state;
    io_remove_all();
    tamis_image image = io_picture(gray8, 50, 40, 3), back;
    const char *path = io_path("self.png");
    assert_ok(tamis_image_save(io_ctx, path, &image, NULL));
    tamis_reader *reader;
    tamis_writer *writer;
    tamis_write_options options = {.overwrite = 1};
    assert_ok(tamis_reader_open(io_ctx, path, NULL, &reader));
    assert_ok(tamis_writer_open(io_ctx, path, &options, &writer));
    assert_ok(tamis_reader_read(reader, 0, &back, NULL));
    assert_ok(tamis_writer_write(writer, &back, NULL));
    tamis_image_unref(&back);
    assert_ok(tamis_writer_finish(writer));
    tamis_writer_close(&writer);
    assert_ok(tamis_reader_read(reader, 0, &back, NULL));
    tamis_reader_close(&reader);
    tamis_image_unref(&back);
    assert_ok(tamis_image_load(io_ctx, path, &back, NULL));
    io_assert_same(&image, &back);
    tamis_image_unref(&back);
    tamis_image_unref(&image);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static void modes_and_links(void **state)
{
    (void)state;
    io_remove_all();
    tamis_image image = io_picture(gray8, 5, 5, 1);
    mode_t old = umask(027);
    assert_ok(tamis_image_save(io_ctx, io_path("new.png"), &image, NULL));
    umask(old);
    assert_int_equal(mode_of(io_path("new.png")) & 07777, 0640);
    assert_int_equal(chmod(io_path("new.png"), 0604), 0);
    assert_ok(tamis_image_save(io_ctx, io_path("new.png"), &image, NULL));
    assert_int_equal(mode_of(io_path("new.png")) & 07777, 0604);
    assert_int_equal(symlink("new.png", io_path("link.png")), 0);
    assert_ok(tamis_image_save(io_ctx, io_path("link.png"), &image, NULL));
    assert_true(S_ISLNK(mode_of(io_path("link.png"))));
    assert_int_equal(io_file_count(), 2);
    tamis_image_unref(&image);
}

static void odd_names_work(void **state)
{
    (void)state;
    io_remove_all();
    char longest[256];
    memset(longest, 'n', 251);
    strcpy(longest + 251, ".png");
    const char *const names[] = {"-blur.png", "--help.png", "two words.png",
                                 "gr\xc3\xbc\xc3\x9f"
                                 "e-\xe6\x97\xa5.PNG",
                                 longest};
    tamis_image image = io_picture(gray8, 5, 5, 1), back;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ok(tamis_image_save(io_ctx, io_path(names[i]), &image, NULL));
        assert_ok(tamis_image_load(io_ctx, io_path(names[i]), &back, NULL));
        tamis_image_unref(&back);
    }
    assert_int_equal(io_file_count(), 5);
    assert_int_equal(tamis_image_load(io_ctx, io_path("-missing one.png"), &back, NULL),
                     TAMIS_ERR_READ);
    assert_message_has("-missing one.png");
    assert_message_has("No such file");
    tamis_image_unref(&image);
}

static void a_full_device_is_an_error(void **state)
{
    (void)state;
    for (int i = 0; i < io_format_count; i++)
        for (int32_t side = 2; side <= 700; side += 698) {
            const io_format *f = &io_formats[i];
            tamis_format format = gray8;
            while (!(f->types & 1u << format.type))
                format.type++;
            tamis_image image = io_picture(format, side, side, 1);
            tamis_write_options options = {.format = f->name, .overwrite = 1};
            assert_int_equal(io_write("/dev/full", &options, &image, NULL), TAMIS_ERR_WRITE);
            assert_message_has("No space left");
            assert_message_has("/dev/full");
            tamis_image_unref(&image);
        }
}

/* A limit on file size fails writes in the middle of a file, as a full disk does. */
static void a_file_that_cannot_grow_is_an_error(void **state)
{
    (void)state;
    io_remove_all();
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = 3000;
    for (int i = 0; i < io_format_count; i++) {
        const io_format *f = &io_formats[i];
        tamis_format format = gray8;
        while (!(f->types & 1u << format.type))
            format.type++;
        tamis_image image = io_picture(format, 700, 500, 1);
        char name[32];
        snprintf(name, sizeof name, "x%s", f->extension);
        void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &tight);
        tamis_status status = tamis_image_save(io_ctx, io_path(name), &image, NULL);
        setrlimit(RLIMIT_FSIZE, &old);
        signal(SIGXFSZ, handler);
        assert_int_equal(status, TAMIS_ERR_WRITE);
        assert_message_has("File too large");
        assert_int_equal(io_file_count(), 0);
        tamis_image_unref(&image);
    }
}

static void pipes_carry_the_same_bytes(void **state)
{
    (void)state;
    io_remove_all();
    tamis_image image = io_picture(gray8, 300, 200, 1), back;
    for (int i = 0; i < io_format_count; i++) {
        const io_format *f = &io_formats[i];
        if (!(f->types & 1u << TAMIS_U8))
            continue;
        const char *path = io_path("piped");
        int saved = dup(STDOUT_FILENO);
        int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        fflush(stdout);
        dup2(fd, STDOUT_FILENO);
        tamis_write_options options = {.format = f->name};
        tamis_status status = io_write("-", &options, &image, NULL);
        dup2(saved, STDOUT_FILENO);
        assert_ok(status);
        options.overwrite = 1;
        assert_ok(io_write(io_path("direct"), &options, &image, NULL));
        io_bytes a = io_load(path), b = io_load(io_path("direct"));
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        free(a.data);
        free(b.data);
        lseek(fd, 0, SEEK_SET);
        int saved_in = dup(STDIN_FILENO);
        dup2(fd, STDIN_FILENO);
        status = tamis_image_load(io_ctx, "-", &back, NULL);
        dup2(saved_in, STDIN_FILENO);
        assert_ok(status);
        if (!f->lossy)
            io_assert_same(&image, &back);
        tamis_image_unref(&back);
        close(saved_in);
        close(saved);
        close(fd);
    }
    tamis_image_unref(&image);
}

/* A process that ends in the middle leaves its temporary file, which a sweep finds. */
static void what_the_dead_left_is_swept(void **state)
{
    (void)state;
    io_remove_all();
    io_store(io_path(".tamis-00000000-1-1.tmp"), "other machine", 13);
    io_store(io_path(".tamis-x.tmp"), "no name of ours", 15);
    tamis_writer *mine = NULL;
    assert_int_equal(tamis_writer_open(io_ctx, io_path("a.png"), NULL, &mine), TAMIS_OK);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        tamis_writer *writer;
        _exit(tamis_writer_open(io_ctx, io_path("b.png"), NULL, &writer) != TAMIS_OK);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(tamis_folder_sweep(io_path(".")), 1);
    assert_int_equal(tamis_folder_sweep(io_path(".")), 0);
    assert_int_equal(tamis_folder_sweep(io_path("no")), 0);
    assert_int_equal(tamis_folder_sweep(NULL), 0);
    assert_int_equal(access(io_path(".tamis-00000000-1-1.tmp"), F_OK), 0);
    assert_int_equal(access(io_path(".tamis-x.tmp"), F_OK), 0);
    tamis_writer_close(&mine);
    io_remove_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trouble_is_found_at_open),
        cmocka_unit_test(closing_unfinished_leaves_nothing),
        cmocka_unit_test(an_old_file_survives_failure),
        cmocka_unit_test(a_late_rival_is_not_replaced),
        cmocka_unit_test(output_may_be_the_input),
        cmocka_unit_test(modes_and_links),
        cmocka_unit_test(odd_names_work),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(a_file_that_cannot_grow_is_an_error),
        cmocka_unit_test(what_the_dead_left_is_swept),
        cmocka_unit_test(pipes_carry_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, io_setup, io_teardown);
}
