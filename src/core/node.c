// SPDX-License-Identifier: BSD-3-Clause
// What the operating system tells of this host: memory, processor, load, bytes on the wire.
#include "node.h"

#include <dirent.h>
#include <linux/tcp.h> // the C library's tcp_info ends before the bytes
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

// The first line of a file, without its end; "" when it cannot be read.
static void first_line(const char *path, char *line, size_t room) {
    FILE *file = fopen(path, "r");
    if (!file || !fgets(line, (int)room, file))
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

// The value behind `key` and a colon in a file of such lines; "" when it is not there.
static void value_of(const char *path, const char *key, char *value, size_t room) {
    char line[512];
    FILE *file = fopen(path, "r");
    value[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (!colon || strncmp(line, key, strlen(key)) != 0)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = '\0';
        snprintf(value, room, "%s", colon);
        break;
    }
    if (file)
        fclose(file);
}

double node_memory_available(void) {
    char value[64];
    value_of("/proc/meminfo", "MemAvailable", value, sizeof value);
    return strtod(value, NULL) * 1024;
}

size_t node_cache(void) {
    for (int level = 9; level >= 0; level--) {
        char path[80], value[32], *unit;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", level);
        first_line(path, value, sizeof value);
        unsigned long size = strtoul(value, &unit, 10);
        if (size)
            return *unit == 'K' ? size << 10 : *unit == 'M' ? size << 20 : size;
    }
    return (size_t)32 << 20;
}

double node_load(void) {
    double load;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

void node_describe(struct json *json) {
    struct utsname system;
    char cpu[256], governor[64], control[64];
    uname(&system);
    value_of("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    json_name(json, "kernel");
    json_string(json, system.release);
    json_name(json, "cpu_model");
    json_string(json, *cpu ? cpu : system.machine);
    json_name(json, "governor");
    json_string(json, *governor ? governor : "unknown");
    first_line("/proc/sys/net/ipv4/tcp_congestion_control", control, sizeof control);
    json_name(json, "congestion_control");
    json_string(json, *control ? control : "unknown");
    json_name(json, "cores");
    json_integer(json, sysconf(_SC_NPROCESSORS_ONLN));
    json_name(json, "memory_bytes");
    json_integer(json, (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    json_name(json, "cache_bytes");
    json_integer(json, (long long)node_cache());
}

void interfaces_read(struct interfaces *interfaces) {
    char line[512];
    interfaces->count = 0;
    FILE *file = fopen("/proc/net/dev", "r");
    while (file && fgets(line, sizeof line, file) && interfaces->count < INTERFACES_MOST) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue; // the two lines of headings
        *colon = '\0';
        const char *name = line + strspn(line, " ");
        int at = interfaces->count++;
        snprintf(interfaces->at[at].name, sizeof interfaces->at[at].name, "%.31s", name);
        interfaces->at[at].bytes = strtoll(colon + 1, NULL, 10);
    }
    if (file)
        fclose(file);
}

void interfaces_describe(const struct interfaces *before, const struct interfaces *after,
                         struct json *json) {
    json_open(json, '{');
    for (int i = 0; i < after->count; i++) {
        long long start = 0;
        for (int j = 0; j < before->count; j++)
            if (strcmp(before->at[j].name, after->at[i].name) == 0)
                start = before->at[j].bytes;
        json_name(json, after->at[i].name);
        json_integer(json, after->at[i].bytes - start);
    }
    json_close(json, '}');
}

double node_tcp_bytes(void) {
    double bytes = 0;
    DIR *descriptors = opendir("/proc/self/fd");
    for (struct dirent *entry; descriptors && (entry = readdir(descriptors));) {
        struct tcp_info info = {0};
        socklen_t length = sizeof info;
        char *end;
        int descriptor = (int)strtol(entry->d_name, &end, 10);
        if (end == entry->d_name) // "." and ".."
            continue;
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
            length > offsetof(struct tcp_info, tcpi_bytes_received))
            bytes += (double)info.tcpi_bytes_received;
    }
    if (descriptors)
        closedir(descriptors);
    return bytes;
}
