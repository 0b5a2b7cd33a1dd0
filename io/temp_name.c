/* SPDX-License-Identifier: Apache-2.0 */
#include "temp_name.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tamis/io.h>

static uint32_t add_bytes(uint32_t hash, const void *data, size_t size)
{
    for (const unsigned char *p = data; size > 0; size--)
        hash = (hash ^ *p++) * 16777619; /* FNV-1a */
    return hash;
}

/* Where a process number means something: this machine, and in it this container. Folders may be
 * shared with others. */
static uint32_t place(void)
{
    char host[256] = "";
    struct stat st;
    gethostname(host, sizeof host - 1);
    uint32_t hash = add_bytes(2166136261, host, strlen(host));
    if (stat("/proc/self/ns/pid", &st) == 0)
        hash = add_bytes(hash, &st.st_ino, sizeof st.st_ino);
    return hash;
}

void tamis_priv_temp_name(char *buf, size_t size, const char *folder, unsigned long stamp)
{
    snprintf(buf, size, "%s.tamis-%08" PRIx32 "-%ld-%lx.tmp", folder, place(), (long)getpid(),
             stamp);
}

/* Whether a process is no more. One that its parent has not yet waited for still has its number. */
static int is_gone(pid_t pid)
{
    char path[64], text[512];
    if (kill(pid, 0) != 0)
        return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end && (strncmp(name_end, ") Z", 3) == 0 || strncmp(name_end, ") X", 3) == 0);
}

/* Whether it is a name of ours whose process is no more. */
static int is_left_over(const char *name, uint32_t here)
{
    uint32_t where;
    long pid;
    unsigned long stamp;
    int end = 0;
    return sscanf(name, ".tamis-%8" SCNx32 "-%ld-%lx.tmp%n", &where, &pid, &stamp, &end) == 3 &&
           end > 0 && name[end] == '\0' && where == here && pid > 0 && is_gone((pid_t)pid);
}

int tamis_folder_sweep(const char *folder)
{
    int count = 0;
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir)
        return 0;
    uint32_t here = place();
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        if (is_left_over(entry->d_name, here))
            count += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
    }
    closedir(dir);
    return count;
}
