// SPDX-License-Identifier: BSD-3-Clause
// Tests the description of a machine, from invented files, and from copies with and without a slow
// relative address.
#include "check.h"
#include "hazards.h"
#include "host.h"
#include "surroundings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "cotejo-machine-XXXXXX";

// Writes a file below the root, with the folders on the way to it.
static void put(const char *path, const char *text) {
    char whole[512];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *at = whole + strlen(root) + 1; (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void nothing_is_told(void) {
    char setting[16];
    struct machine_counts counts = machine_counts_read(root);
    CHECK(isnan(counts.steal_s) && isnan(counts.throttled_s));
    CHECK(isinf(machine_quota(root)));
    machine_huge_pages(root, setting, sizeof setting);
    CHECK(strcmp(setting, "unknown") == 0);
}

// Version 2: the limit of a group above holds, too.
static void second_groups(void) {
    put("/proc/self/cgroup", "0::/jobs/mine\n");
    put("/sys/fs/cgroup/jobs/mine/cpu.max", "max 100000\n");
    CHECK(isinf(machine_quota(root)));
    put("/sys/fs/cgroup/jobs/cpu.max", "150000 100000\n");
    CHECK(machine_quota(root) == 1.5);
    put("/sys/fs/cgroup/jobs/mine/cpu.max", "50000 100000\n");
    CHECK(machine_quota(root) == 0.5);
    put("/sys/fs/cgroup/jobs/mine/cpu.stat", "usage_usec 5\nthrottled_usec 2500000\n");
    CHECK(machine_counts_read(root).throttled_s == 2.5);
}

static void first_groups(void) {
    put("/proc/self/cgroup", "4:memory:/x\n2:cpu,cpuacct:/jobs\n");
    CHECK(isinf(machine_quota(root)));
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000\n");
    CHECK(isinf(machine_quota(root)));
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "200000\n");
    CHECK(machine_quota(root) == 2);
    put("/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.stat", "nr_throttled 3\nthrottled_time 750000000\n");
    CHECK(machine_counts_read(root).throttled_s == 0.75);
}

static void the_kernel_tells(void) {
    char setting[16];
    put("/proc/stat", "cpu  1 2 3 4 5 6 7 800 0 0\ncpu0 1 2 3 4 5 6 7 800 0 0\n");
    CHECK(machine_counts_read(root).steal_s == 800.0 / (double)sysconf(_SC_CLK_TCK));
    put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    machine_huge_pages(root, setting, sizeof setting);
    CHECK(strcmp(setting, "madvise") == 0);
}

static void steering_is_known(void) {
    static const char *const yes[] = {
        "OMPI_MCA_btl=self",   "UCX_TLS=tcp",       "LD_PRELOAD=x.so",
        "GLIBC_TUNABLES=a=b",  "PMIX_MCA_gds=hash", "FI_PROVIDER=tcp",
        "MPIR_CVAR_NOLOCAL=1", "I_MPI_FABRICS=shm", "PSM3_NIC=x"};
    static const char *const no[] = {
        "PATH=/bin", "OMPI_COMM_WORLD_RANK=3", "PMIX_RANK=3", "PMI_FD=7", "HOME=/", "FICTION=x"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        CHECK(surroundings_steers(yes[i]));
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        CHECK(!surroundings_steers(no[i]));
}

static void a_study_may_ask_for_more(void) {
    CHECK(surroundings_named("APP=1", "APP") && surroundings_named("APP=", "X,APP,Y"));
    CHECK(!surroundings_named("APP=1", "APPLE,XAPP,,AP") && !surroundings_named("=1", ",,"));
    CHECK(!surroundings_named("APP=1", "") && !surroundings_named("APP=1", NULL));
}

// As long at every address: it touches no memory, whose ways no test can know.
static void *plain(void *to, const void *from, size_t count) {
    (void)from;
    for (size_t i = 0; i < count / sizeof(long); i++)
        __asm__ volatile("" : : "r"(i));
    return to;
}

// Three times the work where the destination begins 24 B after the source.
static void *pitted(void *to, const void *from, size_t count) {
    int times = ((size_t)to - (size_t)from) % 4096 == 24 ? 3 : 1;
    for (int i = 0; i < times; i++)
        plain(to, from, count);
    return to;
}

static void pits_are_found(void) {
    static const size_t sizes[] = {1024, 16384};
    for (int brief = 0; brief < 2; brief++) {
        struct pit none = pit_find(plain, sizes, 2, brief ? 8 : 64, brief);
        struct pit planted = pit_find(pitted, sizes, 2, 8, brief);
        CHECK(none.ratio < PIT_RATIO && none.size > 0);
        CHECK(planted.ratio >= PIT_RATIO && planted.offset == 24);
    }
}

// The same judge for the command and for every launch.
static void traps_are_told(void) {
    const struct pit pit = {65536, 8, 17.25}, flat = {65536, 0, 1.1}, none = {0};
    struct json json = {0};
    json_open(&json, '[');
    struct hazard traps[] = {
        hazard_pit(&flat),         hazard_pit(&none),      hazard_huge_pages("madvise"),
        hazard_steal(0.005, 1, 2), // a tick of one core
        hazard_steal(NAN, 1, 2),   hazard_throttled(0, 1), hazard_quota(INFINITY, 2),
        hazard_load(0.5)};
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        CHECK(!traps[i].caught);
        hazard_describe(&traps[i], &json);
    }
    CHECK(strcmp(traps[0].verdict, "sound") == 0 && strcmp(traps[1].verdict, "not known") == 0);
    CHECK(strcmp(traps[4].verdict, "not known") == 0);
    struct hazard pitted = hazard_pit(&pit);
    hazard_describe(&pitted, &json);
    json_close(&json, ']');
    CHECK(strstr(json.text, "memcpy of 64 KiB") && strstr(json.text, "17.25 times as long"));
    CHECK(strstr(json.text, "GLIBC_TUNABLES") && !strstr(json.text, "sound"));
    json_free(&json);
    CHECK(hazard_huge_pages("always").caught && hazard_steal(0.1, 1, 2).caught);
    CHECK(hazard_throttled(0.1, 1).caught && hazard_quota(1.5, 2).caught && hazard_load(3).caught);
}

static void faults_are_counted(void) {
    struct disturbance before = disturbance_read();
    size_t bytes = 200 * 4096;
    volatile char *memory = malloc(bytes);
    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
    struct disturbance after = disturbance_read();
    CHECK(after.minor_faults - before.minor_faults >= 1);
    CHECK(after.involuntary_switches >= before.involuntary_switches);
    free((void *)memory);
}

// Linux on ARM reports numbers: all such machines had the model "aarch64".
static void processors_are_told_apart(void) {
    char path[64], cpu[128];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\n");
    node_cpu(path, cpu, sizeof cpu);
    CHECK(strcmp(cpu, "Some CPU @ 2 GHz") == 0);
    put("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
                         "CPU variant\t: 0x3\nCPU part\t: 0xd0c\n");
    node_cpu(path, cpu, sizeof cpu);
    CHECK(strcmp(cpu, "ARM implementer 0x41 part 0xd0c variant 0x3") == 0);
    put("/proc/cpuinfo", "processor\t: 0\n");
    node_cpu(path, cpu, sizeof cpu);
    CHECK(*cpu == '\0');
}

int main(void) {
    if (!mkdtemp(root))
        return 1;
    nothing_is_told();
    second_groups();
    first_groups();
    the_kernel_tells();
    steering_is_known();
    a_study_may_ask_for_more();
    pits_are_found();
    traps_are_told();
    faults_are_counted();
    processors_are_told_apart();
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return check_status();
}
