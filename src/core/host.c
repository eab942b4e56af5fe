// SPDX-License-Identifier: BSD-3-Clause
// Reads the properties of a machine that can distort a comparison.
#include "host.h"

#include "cores.h"
#include "moments.h"

#include <dirent.h>
#include <glob.h>
#include <linux/tcp.h> // the C library's tcp_info ends before the bytes
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { PATH_ROOM = 1024, LINE_ROOM = 512 };

static FILE *open_below(const char *root, const char *path) {
    char whole[PATH_ROOM];
    int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    return length < PATH_ROOM ? fopen(whole, "r") : NULL;
}

// The first line, without its end; "" when it cannot be read.
static void line_below(const char *root, const char *path, char *line, size_t room) {
    FILE *file = open_below(root, path);
    if (!file || !fgets(line, (int)room, file))
        *line = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
}

// The text behind the word `name` in a file of such lines; "" when it is not there.
static void text_behind(const char *root, const char *path, const char *name, char *text,
                        size_t room) {
    char line[LINE_ROOM];
    FILE *file = open_below(root, path);
    size_t length = strlen(name);
    *text = '\0';
    while (file && !*text && fgets(line, sizeof line, file))
        if (strncmp(line, name, length) == 0 && strchr(" \t:", line[length])) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(text, room, "%s", line + length + strspn(line + length, " \t:"));
        }
    if (file)
        fclose(file);
}

// The number that a text begins with; NaN: it begins with none.
static double number_in(const char *text) {
    char *end;
    double value = strtod(text, &end);
    return end == text ? NAN : value;
}

double machine_number(const char *root, const char *path, const char *name) {
    char text[64];
    text_behind(root, path, name, text, sizeof text);
    return number_in(text);
}

// Calls `visit` with the folder of each control group that this process is in and that may limit
// its cores, and of those above it: a limit of any holds.
static void each_group(const char *root, void (*visit)(const char *, const char *, bool, void *),
                       void *state) {
    char line[LINE_ROOM];
    FILE *groups = open_below(root, "/proc/self/cgroup");
    while (groups && fgets(line, sizeof line, groups)) {
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        path[strcspn(path, "\n")] = '\0';
        bool second = !*controllers; // version 2 has no names of controllers
        bool cpu = strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", 4) == 0 ||
                   strstr(controllers, ",cpu,") || strcmp(controllers, "cpuacct,cpu") == 0;
        if (!second && !cpu)
            continue;
        for (char *end = path + strlen(path);; *end = '\0') {
            char folder[PATH_ROOM];
            snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s%s", second ? "" : "/",
                     second ? "" : controllers, path);
            visit(root, folder, second, state);
            end = strrchr(path, '/');
            if (!end || !*path)
                break;
        }
    }
    if (groups)
        fclose(groups);
}

static double number_of(const char *root, const char *folder, const char *file, const char *name) {
    char path[PATH_ROOM + 64], line[64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (*name)
        return machine_number(root, path, name);
    line_below(root, path, line, sizeof line);
    return number_in(line);
}

static void least_quota(const char *root, const char *folder, bool second, void *state) {
    double *least = state, quota, period;
    if (second) {
        char path[PATH_ROOM + 64], line[64];
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        line_below(root, path, line, sizeof line);
        if (sscanf(line, "%lf %lf", &quota, &period) != 2)
            return; // "max", or no such file
    } else {
        quota = number_of(root, folder, "cpu.cfs_quota_us", "");
        period = number_of(root, folder, "cpu.cfs_period_us", "");
    }
    if (quota > 0 && period > 0)
        *least = fmin(*least, quota / period);
}

double machine_quota(const char *root) {
    double least = INFINITY;
    each_group(root, least_quota, &least);
    return least;
}

static void most_throttled(const char *root, const char *folder, bool second, void *state) {
    double *most = state;
    double s = second ? 1e-6 * number_of(root, folder, "cpu.stat", "throttled_usec")
                      : 1e-9 * number_of(root, folder, "cpu.stat", "throttled_time");
    if (!isnan(s))
        *most = isnan(*most) ? s : fmax(*most, s);
}

struct machine_counts machine_counts_read(const char *root) {
    struct machine_counts counts = {NAN, NAN};
    char line[LINE_ROOM];
    double ticks;
    line_below(root, "/proc/stat", line, sizeof line);
    if (sscanf(line, "cpu %*f %*f %*f %*f %*f %*f %*f %lf", &ticks) == 1)
        counts.steal_s = ticks / (double)sysconf(_SC_CLK_TCK);
    each_group(root, most_throttled, &counts.throttled_s);
    return counts;
}

void machine_huge_pages(const char *root, char *setting, size_t room) {
    char line[128];
    line_below(root, "/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line);
    char *begin = strchr(line, '['), *end = begin ? strchr(begin, ']') : NULL;
    snprintf(setting, room, "%.*s", end ? (int)(end - begin - 1) : 7, end ? begin + 1 : "unknown");
}

struct disturbance disturbance_read(void) {
    struct rusage usage;
    struct disturbance found = {NAN, machine_number("", "/proc/self/sched", "se.nr_migrations"),
                                NAN, NAN};
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        found.involuntary_switches = (double)usage.ru_nivcsw;
        found.minor_faults = (double)usage.ru_minflt;
        found.major_faults = (double)usage.ru_majflt;
    }
    return found;
}

// Copies at relative addresses.
enum { PAGE = 4096, LOOKS = 5, COPIED_BYTES = 128 << 10, CONFIRMATIONS = 4, BRIEF = 64 };

// The minimum time of a copy in some looks at several in a row.
static double copy_time(copy_function *copy, char *to, const char *from, size_t size) {
    long calls = COPIED_BYTES / (long)size + 1;
    double least = INFINITY;
    for (int look = 0; look < LOOKS; look++) {
        double begin = monotonic_s();
        for (long i = 0; i < calls; i++) {
            copy(to, from, size);
            __asm__ volatile("" ::: "memory");
        }
        least = fmin(least, (monotonic_s() - begin) / (double)calls);
    }
    return least;
}

static struct pit worst_of(copy_function *copy, char *to, const char *from, size_t size,
                           size_t step, bool brief) {
    double times[PAGE], sorted[PAGE];
    size_t offsets[PAGE], count = 0, worst = 0, middle = 0;
    for (size_t offset = 0; offset < PAGE; offset += step)
        if (!brief || offset <= BRIEF || offset >= PAGE - BRIEF || offset == PAGE / 2)
            offsets[count++] = offset;
    for (size_t i = 0; i < count; i++) {
        times[i] = copy_time(copy, to + offsets[i], from, size);
        worst = times[i] > times[worst] ? i : worst;
    }
    memcpy(sorted, times, count * sizeof *times);
    values_sort(sorted, count);
    while (times[middle] != sorted[count / 2])
        middle++;
    // Both once more in turns: what was an interruption does not come back.
    struct pit pit = {size, offsets[worst], times[worst] / times[middle]};
    for (int i = 0; i < CONFIRMATIONS && pit.ratio >= PIT_RATIO; i++) {
        double slow = copy_time(copy, to + offsets[worst], from, size);
        pit.ratio = fmin(pit.ratio, slow / copy_time(copy, to + offsets[middle], from, size));
    }
    return pit;
}

struct pit pit_find(copy_function *copy, const size_t *sizes, size_t count, size_t step,
                    bool brief) {
    struct pit worst = {0};
    size_t most = 0;
    for (size_t i = 0; i < count; i++)
        most = sizes[i] > most ? sizes[i] : most;
    size_t room = (most / PAGE + 2) * PAGE;
    char *from = aligned_alloc(PAGE, room), *to = aligned_alloc(PAGE, room);
    if (from && to) {
        memset(from, 1, room); // pages of their own, in memory
        memset(to, 2, room);
        for (size_t i = 0; i < count; i++) {
            struct pit pit = worst_of(copy, to, from, sizes[i], step, brief);
            worst = pit.ratio > worst.ratio ? pit : worst;
        }
    }
    free(from);
    free(to);
    return worst;
}

double node_memory_available(void) {
    double kib = machine_number("", "/proc/meminfo", "MemAvailable");
    return isnan(kib) ? 0 : kib * 1024;
}

void node_cpu(const char *cpuinfo, char *text, size_t room) {
    char maker[32], part[32], variant[32];
    text_behind("", cpuinfo, "model name", text, room);
    if (*text)
        return;
    // Linux on ARM has numbers in place of a name.
    text_behind("", cpuinfo, "CPU implementer", maker, sizeof maker);
    text_behind("", cpuinfo, "CPU part", part, sizeof part);
    text_behind("", cpuinfo, "CPU variant", variant, sizeof variant);
    if (*part)
        snprintf(text, room, "ARM implementer %s part %s variant %s", maker, part, variant);
}

size_t node_cache(void) {
    static size_t most; // all ranks of a node must have the same value
    glob_t found;
    if (most)
        return most;
    if (glob("/sys/devices/system/cpu/cpu[0-9]*/cache/index*/size", 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            char value[32], *unit;
            line_below("", found.gl_pathv[i], value, sizeof value);
            size_t size = strtoul(value, &unit, 10);
            size <<= *unit == 'K' ? 10 : *unit == 'M' ? 20 : 0;
            most = size > most ? size : most;
        }
        globfree(&found);
    }
    most = most ? most : (size_t)32 << 20;
    return most;
}

double node_load(void) {
    double load;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

void node_describe(struct json *json) {
    struct utsname system;
    char cpu[256], governor[64], control[64], path[80];
    int count, *cores = cores_own(&count); // the governor of the first one: kinds of core differ
    uname(&system);
    node_cpu("/proc/cpuinfo", cpu, sizeof cpu);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor",
             count ? cores[0] : 0);
    free(cores);
    line_below("", path, governor, sizeof governor);
    json_member(json, "kernel", string, system.release);
    json_member(json, "cpu_model", string, *cpu ? cpu : system.machine);
    json_member(json, "governor", string, *governor ? governor : "unknown");
    line_below("", "/proc/sys/net/ipv4/tcp_congestion_control", control, sizeof control);
    json_member(json, "congestion_control", string, *control ? control : "unknown");
    json_member(json, "cores", integer, sysconf(_SC_NPROCESSORS_ONLN));
    json_member(json, "memory_bytes", integer,
                (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    json_member(json, "cache_bytes", integer, (long long)node_cache());
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
        json_member(json, after->at[i].name, integer, after->at[i].bytes - start);
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

struct usage usage_read(void) {
    static const char file[] = "/proc/self/smaps_rollup";
    return (struct usage){1024 * machine_number("", file, "Rss"),
                          1024 * (machine_number("", file, "Shared_Clean") +
                                  machine_number("", file, "Shared_Dirty")),
                          1024 * machine_number("", file, "Pss")};
}
