/* SPDX-License-Identifier: Apache-2.0 */
#include "journal.h"

#include <libavutil/crc.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "tamis journal 1\n"
/* Larger packets and texts are none of ours. */
#define MOST_BYTES ((uint32_t)1 << 30)

/* Before each packet; behind a segment with kind END, where pts counts frames and size is a check
 * sum. The machine's own byte order: a journal goes nowhere. */
enum { PACKET = 0x544b4350, SIDE = 0x45444953, END = 0x53444e45 };
typedef struct record {
    uint32_t kind, size;
    int64_t pts, dts, duration;
    int32_t flags, sides; /* of side data: its type, 0 */
} record;

/* ---- bytes */

/* av_crc() looks 3 bytes before the end. */
uint32_t tamis_priv_av_journal_check(uint32_t check, const void *data, size_t size)
{
    return size > 0 ? av_crc(av_crc_get_table(AV_CRC_32_IEEE_LE), check, data, size) : check;
}

static void put(tamis_av_journal *j, const void *data, size_t size)
{
    const uint8_t *p = data;
    j->check = tamis_priv_av_journal_check(j->check, data, size);
    while (size > 0 && !j->error) {
        ssize_t n = write(j->fd, p, size);
        if (n < 0 && errno != EINTR)
            j->error = errno;
        if (n > 0) {
            p += n;
            size -= (size_t)n;
        }
    }
}

static int get(const tamis_av_journal *j, int64_t at, void *data, size_t size)
{
    uint8_t *p = data;
    while (size > 0) {
        ssize_t n = pread(j->fd, p, size, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR))
            return 0;
        if (n > 0) {
            p += n;
            at += n;
            size -= (size_t)n;
        }
    }
    return 1;
}

/* ---- what is there */

static int starts_with(const tamis_av_journal *j, const char *text, int64_t size)
{
    size_t length = strlen(MAGIC) + strlen(text) + 1;
    char *there = malloc(length);
    int same = there && size >= (int64_t)length && get(j, 0, there, length) &&
               memcmp(there, MAGIC, strlen(MAGIC)) == 0 && strcmp(there + strlen(MAGIC), text) == 0;
    free(there);
    return same;
}

/* Adds what lies behind a record to a check sum. */
static int check_data(const tamis_av_journal *j, int64_t at, uint32_t size, uint32_t *check)
{
    uint8_t part[4096];
    while (size > 0) {
        uint32_t n = size < sizeof part ? size : (uint32_t)sizeof part;
        if (!get(j, at, part, n))
            return 0;
        *check = tamis_priv_av_journal_check(*check, part, n);
        at += n;
        size -= n;
    }
    return 1;
}

/* Goes through whole segments; returns where they end. */
static int64_t find_end(tamis_av_journal *j, int64_t at)
{
    uint32_t check = 0;
    int64_t good = at;
    record r;
    while (get(j, at, &r, sizeof r)) {
        at += (int64_t)sizeof r;
        if (r.kind == END) {
            if (r.size != check || r.pts <= j->kept)
                break;
            j->kept = r.pts;
            good = at;
            check = 0;
            continue;
        }
        check = tamis_priv_av_journal_check(check, &r, sizeof r);
        if ((r.kind != PACKET && r.kind != SIDE) || r.size > MOST_BYTES ||
            !check_data(j, at, r.size, &check))
            break;
        at += r.size;
    }
    return good;
}

/* The end of the segment whose packets begin at j->at. */
static void find_segment(tamis_av_journal *j)
{
    record r;
    int64_t at = j->at;
    j->end = INT64_MAX;
    while (at < j->size && get(j, at, &r, sizeof r)) {
        at += (int64_t)sizeof r;
        if (r.kind == END) {
            j->end = r.pts;
            return;
        }
        at += r.size;
    }
}

static int begin(tamis_av_journal *j, const char *text)
{
    if (ftruncate(j->fd, 0) != 0)
        return errno;
    put(j, MAGIC, strlen(MAGIC));
    put(j, text, strlen(text) + 1);
    j->check = 0;
    return j->error;
}

int tamis_priv_av_journal_open(tamis_av_journal *j, const char *path, const char *text)
{
    struct stat st;
    *j = (tamis_av_journal){.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)};
    j->path = strdup(path);
    if (j->fd < 0 || fstat(j->fd, &st) != 0)
        return errno;
    if (!j->path)
        return ENOMEM;
    if (!S_ISREG(st.st_mode))
        return EINVAL;
    /* Another run is at it; file systems without locks have to do without. */
    if (flock(j->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return errno;
    j->locked = 1;
    if (!starts_with(j, text, st.st_size))
        return begin(j, text);
    j->at = (int64_t)(strlen(MAGIC) + strlen(text) + 1);
    j->size = find_end(j, j->at);
    find_segment(j);
    j->whole = j->kept;
    return ftruncate(j->fd, (off_t)j->size) == 0 ? 0 : errno;
}

/* ---- packets */

void tamis_priv_av_journal_put(tamis_av_journal *j, const AVPacket *packet)
{
    record r = {PACKET,        (uint32_t)packet->size, packet->pts, packet->dts, packet->duration,
                packet->flags, packet->side_data_elems};
    put(j, &r, sizeof r);
    put(j, packet->data, (size_t)packet->size);
    for (int i = 0; i < packet->side_data_elems; i++) {
        const AVPacketSideData *side = &packet->side_data[i];
        r = (record){.kind = SIDE, .size = (uint32_t)side->size, .flags = (int32_t)side->type};
        put(j, &r, sizeof r);
        put(j, side->data, side->size);
    }
}

void tamis_priv_av_journal_end(tamis_av_journal *j, int64_t frames)
{
    record r = {.kind = END, .size = j->check, .pts = frames};
    put(j, &r, sizeof r);
    j->check = 0;
    if (!j->error && fdatasync(j->fd) != 0 && errno != EINVAL)
        j->error = errno;
    j->whole = j->error ? j->whole : frames;
}

static int get_side(tamis_av_journal *j, AVPacket *packet)
{
    record r;
    if (!get(j, j->at, &r, sizeof r) || r.kind != SIDE)
        return 0;
    uint8_t *data =
        av_packet_new_side_data(packet, (enum AVPacketSideDataType)r.flags, (size_t)r.size);
    if (!data || !get(j, j->at + (int64_t)sizeof r, data, r.size))
        return 0;
    j->at += (int64_t)sizeof r + r.size;
    return 1;
}

int tamis_priv_av_journal_next(tamis_av_journal *j, AVPacket *packet)
{
    record r;
    if (!get(j, j->at, &r, sizeof r))
        return -1;
    j->at += (int64_t)sizeof r;
    if (r.kind == END) {
        find_segment(j);
        return 0;
    }
    if (r.kind != PACKET || av_new_packet(packet, (int)r.size) < 0)
        return -1;
    if (!get(j, j->at, packet->data, r.size))
        return -1;
    j->at += r.size;
    packet->pts = r.pts;
    packet->dts = r.dts;
    packet->duration = r.duration;
    packet->flags = r.flags;
    for (int i = 0; i < r.sides; i++)
        if (!get_side(j, packet))
            return -1;
    return 1;
}

void tamis_priv_av_journal_close(tamis_av_journal *j, int remove)
{
    if (j->locked && (remove || j->whole == 0))
        unlink(j->path);
    if (j->fd >= 0)
        close(j->fd);
    free(j->path);
    *j = (tamis_av_journal){.fd = -1};
}
