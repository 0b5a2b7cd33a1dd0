/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"
#include "rows.h"

/* A new file like path with a random ending, open for writing. mkstemp() makes it private; the page
 * gets the permissions that any new file would have. */
static FILE *create_beside(const char *path, char **name)
{
    *name = tool_print_text("%s.XXXXXX", path);
    int fd = mkstemp(*name);
    if (fd < 0)
        return NULL;
    mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return fdopen(fd, "wb");
}

int tool_html_open(tool_html *html, tool *t, const char *path)
{
    *html = (tool_html){.tool = t, .path = path};
    struct stat st;
    if (!t->options.overwrite && stat(path, &st) == 0) {
        tool_error(t, "%s: exists; give --overwrite", path);
        return TOOL_WRITE;
    }
    html->file = create_beside(path, &html->temporary);
    if (html->file)
        return TOOL_OK;
    tool_error(t, "%s: cannot write: %s", path, strerror(errno));
    free(html->temporary);
    return TOOL_WRITE;
}

void tool_html_text(tool_html *html, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", html->file);
            break;
        case '<':
            fputs("&lt;", html->file);
            break;
        case '"':
            fputs("&quot;", html->file);
            break;
        default:
            fputc(*text, html->file);
        }
    }
}

static void put_base64(FILE *to, FILE *from)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char bytes[3];
    size_t n;
    while ((n = fread(bytes, 1, 3, from)) > 0) {
        for (size_t i = n; i < 3; i++)
            bytes[i] = 0;
        unsigned bits = (unsigned)bytes[0] << 16 | (unsigned)bytes[1] << 8 | bytes[2];
        for (size_t i = 0; i < 4; i++)
            fputc(i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=', to);
    }
}

static int put_file(tool_html *html, const char *path, const char *mime)
{
    FILE *from = fopen(path, "rb");
    if (!from) {
        tool_error(html->tool, "%s: cannot read: %s", path, strerror(errno));
        return TOOL_READ;
    }
    fprintf(html->file, "data:%s;base64,", mime);
    put_base64(html->file, from);
    fclose(from);
    return TOOL_OK;
}

/* The image in a type that PNG has. */
static tamis_status to_png_type(tool *t, tamis_image *image)
{
    tamis_type type = image->format.type;
    if (type == TAMIS_U8 || type == TAMIS_U16)
        return TAMIS_OK;
    tamis_image wide = {0}, out = {0};
    tamis_format format = image->format;
    double scale = type == TAMIS_S16 ? 1 : 65535, offset = type == TAMIS_S16 ? 32768 : 0;
    format.type = TAMIS_F32;
    tamis_status status = tamis_image_create(t->ctx, format, image->w, image->h, &wide);
    format.type = TAMIS_U16;
    if (!status)
        status = tamis_image_create(t->ctx, format, image->w, image->h, &out);
    if (!status)
        status = tamis_image_copy(t->ctx, image, &wide);
    double *row = tool_alloc((size_t)image->w * sizeof(*row));
    for (int c = 0; !status && c < format.channels; c++) {
        for (int32_t y = 0; y < image->h; y++) {
            tool_row_read(&wide, c, y, row);
            for (int32_t x = 0; x < image->w; x++)
                row[x] = scale * row[x] + offset;
            tool_row_write(&out, c, y, row);
        }
    }
    free(row);
    tamis_image_unref(&wide);
    tamis_image_unref(image);
    *image = out;
    return status;
}

static int put_converted(tool_html *html, tamis_reader *reader)
{
    tool *t = html->tool;
    tamis_image image = {0};
    char *name = tool_print_text("%s.png", html->temporary);
    tamis_write_options options = {.format = "png"};
    tamis_writer *writer = NULL;
    tamis_status status = tamis_reader_read(reader, 0, &image, NULL);
    if (!status)
        status = to_png_type(t, &image);
    if (!status)
        status = tamis_writer_open(t->ctx, name, &options, &writer);
    if (!status)
        status = tamis_writer_write(writer, &image, NULL);
    if (!status)
        status = tamis_writer_finish(writer);
    tamis_writer_close(&writer);
    tamis_image_unref(&image);
    int code = status ? tool_fail(t, status) : put_file(html, name, "image/png");
    if (!status)
        unlink(name);
    free(name);
    return code;
}

int tool_html_picture(tool_html *html, const char *path)
{
    tool *t = html->tool;
    tamis_reader *reader = NULL;
    tamis_file_info info;
    tamis_status status = tamis_reader_open(t->ctx, path, NULL, &reader);
    if (!status)
        status = tamis_reader_info(reader, 0, &info);
    int code;
    if (status)
        code = tool_fail(t, status);
    else if (strcmp(info.format, "png") == 0)
        code = put_file(html, path, "image/png");
    else if (strcmp(info.format, "jpeg") == 0)
        code = put_file(html, path, "image/jpeg");
    else
        code = put_converted(html, reader);
    tamis_reader_close(&reader);
    return code;
}

int tool_html_close(tool_html *html, int code)
{
    int bad = ferror(html->file);
    bad |= fclose(html->file);
    if (!code && (bad || rename(html->temporary, html->path) != 0)) {
        tool_error(html->tool, "%s: cannot write: %s", html->path, strerror(errno));
        code = TOOL_WRITE;
    }
    if (code)
        unlink(html->temporary);
    free(html->temporary);
    return code;
}
