// SPDX-License-Identifier: BSD-3-Clause
// cotejo-start: starts ranks that have no launcher of a library, on this host or on others.
//
// cotejo-start -np N [-cpus LIST] [-hosts LIST -agent PROGRAM] PROGRAM ARGUMENT...
// Rank i is bound to the i-th core of -cpus, or runs on the i-th of -hosts. There the agent starts
// it, which is called like ssh and passes the environment on. The first rank that fails ends the
// others; cotejo-start exits with its status.
#include "core/cores.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS_MOST = 16, WORDS_MOST = 256, USAGE = 2, PATIENCE = 50 };

struct start {
    int ranks, port;
    char cookie[33]; // by which the ranks of a launch know each other
    char *cpus, *hosts, *agent;
    char **program;
};

static int refuse(const char *what, const char *word) {
    fprintf(stderr,
            "cotejo-start: %s '%s'; cotejo-start -np N [-cpus LIST] [-hosts LIST -agent "
            "PROGRAM] PROGRAM ARGUMENT...\n",
            what, word);
    return USAGE;
}

static int read_words(struct start *start, int count, char **words) {
    int i = 1;
    for (; i < count && words[i][0] == '-'; i += 2) {
        char *value = i + 1 < count ? words[i + 1] : NULL;
        if (!value)
            return refuse("no value after", words[i]);
        if (strcmp(words[i], "-np") == 0)
            start->ranks = atoi(value);
        else if (strcmp(words[i], "-cpus") == 0)
            start->cpus = value;
        else if (strcmp(words[i], "-hosts") == 0)
            start->hosts = value;
        else if (strcmp(words[i], "-agent") == 0)
            start->agent = value;
        else
            return refuse("unknown option", words[i]);
    }
    start->program = words + i;
    if (start->ranks < 1 || start->ranks > RANKS_MOST)
        return refuse("-np from 1 to 16, not", count > 2 ? words[2] : "");
    if (i >= count)
        return refuse("no program after", words[count - 1]);
    if (!start->hosts != !start->agent)
        return refuse("-hosts and -agent go together:",
                      start->hosts ? start->hosts : start->agent);
    return 0;
}

// The i-th word of a list with commas, the lists' words in turn.
static void nth(const char *list, int i, char *word, size_t room) {
    int words = 1;
    for (const char *c = list; *c; c++)
        words += *c == ',';
    for (i %= words; i > 0; i--)
        list = strchr(list, ',') + 1;
    snprintf(word, room, "%.*s", (int)strcspn(list, ","), list);
}

static bool make_cookie(char *cookie) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(cookie + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

// Returns a port that is free now; ranks that find it in use report that.
static int free_port(void) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof here;
    int made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0 || bind(made, (struct sockaddr *)&here, length) != 0 ||
        getsockname(made, (struct sockaddr *)&here, &length) != 0)
        return 0;
    close(made);
    return ntohs(here.sin_port);
}

static void become_rank(const struct start *start, int rank) {
    char word[64], host[64] = "127.0.0.1", *words[WORDS_MOST];
    static char world[200];
    int n = 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (start->hosts)
        nth(start->hosts, 0, host, sizeof host);
    snprintf(world, sizeof world, "COTEJO_WORLD=%d %d %s %d %s", rank, start->ranks, host,
             start->port, start->cookie);
    // Not on a command line, which every user of the machine sees.
    putenv(world);
    if (start->cpus) {
        nth(start->cpus, rank, word, sizeof word);
        const int core = atoi(word);
        if (!cores_bind(&core, 1)) {
            fprintf(stderr, "cotejo-start: core %s: %s\n", word, strerror(errno));
            _exit(USAGE);
        }
    }
    if (start->hosts) {
        nth(start->hosts, rank, word, sizeof word);
        words[n++] = start->agent;
        words[n++] = word;
    }
    for (char **p = start->program; *p && n < WORDS_MOST - 1; p++)
        words[n++] = *p;
    words[n] = NULL;
    execvp(words[0], words);
    fprintf(stderr, "cotejo-start: %s: %s\n", words[0], strerror(errno));
    _exit(USAGE);
}

int main(int count, char **words) {
    struct start start = {0};
    pid_t pids[RANKS_MOST];
    int bad = read_words(&start, count, words);
    if (bad)
        return bad;
    start.port = free_port();
    if (!make_cookie(start.cookie)) {
        fprintf(stderr, "cotejo-start: no random numbers: %s\n", strerror(errno));
        return 1;
    }
    for (int i = 0; i < start.ranks; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            become_rank(&start, i);
        if (pids[i] < 0)
            bad = 1;
    }
    // Ranks that lose a connection report that and end by themselves; others are ended.
    for (int left = start.ranks, looks = 0; left > 0;) {
        int status;
        pid_t ended = waitpid(-1, &status, bad ? WNOHANG : 0);
        if (ended == 0) {
            usleep(20000);
            looks++;
            for (int i = 0; looks == PATIENCE && i < start.ranks; i++)
                if (pids[i] > 0)
                    kill(pids[i], SIGTERM);
            continue;
        }
        left--;
        for (int i = 0; i < start.ranks; i++)
            if (pids[i] == ended)
                pids[i] = -1;
        if (status != 0 && !bad)
            bad = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return bad;
}
