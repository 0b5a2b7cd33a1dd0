/* SPDX-License-Identifier: Apache-2.0 */
#include "core/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* uselocale() concerns the calling thread alone, unlike setlocale(); and the C libraries hand out
 * their built-in "C" locale without allocating. Should one fail to, the program's locale stays. */
struct locales {
    locale_t c, before;
};

static struct locales enter(void)
{
    struct locales l = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    if (l.c)
        l.before = uselocale(l.c);
    return l;
}

static void leave(struct locales l)
{
    if (!l.c)
        return;
    uselocale(l.before);
    freelocale(l.c);
}

double tamis_priv_number_read(const char *text, char **end)
{
    struct locales l = enter();
    double value = strtod(text, end);
    leave(l);
    return value;
}

int tamis_priv_number_vprint(char *buf, size_t size, const char *format, va_list args)
{
    struct locales l = enter();
    int n = vsnprintf(buf, size, format, args);
    leave(l);
    return n;
}

int tamis_priv_number_print(char *buf, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = tamis_priv_number_vprint(buf, size, format, args);
    va_end(args);
    return n;
}

const char *tamis_priv_bytes_print(size_t bytes, char buf[TAMIS_BYTES_TEXT])
{
    static const char units[] = "KMGTPE";
    if (bytes < 1024) {
        tamis_priv_number_print(buf, TAMIS_BYTES_TEXT, "%zu byte%s", bytes, bytes == 1 ? "" : "s");
        return buf;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1023.95 && units[unit + 1]) { /* what would be printed as 1024.0 */
        value /= 1024;
        unit++;
    }
    tamis_priv_number_print(buf, TAMIS_BYTES_TEXT, "%.1f %ciB", value, units[unit]);
    return buf;
}
