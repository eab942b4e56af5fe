// SPDX-License-Identifier: BSD-3-Clause
// Runs a NAS kernel of this folder and writes its samples; docs/data.md has the format.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import mpi.Collective;
import mpi.Comm;
import mpi.Datatype;
import mpi.MPI;
import mpi.Op;

/** The common parts of the kernels: the command line, threads, random numbers, samples. */
final class Samples {
    static final long MULTIPLIER = 1220703125L;
    static final long MASK = (1L << 46) - 1;
    static final String CLASSES = "SWABC";

    /** A kernel of one class; `departure` is the result's, over what is allowed. */
    interface Kernel {
        double mop();

        void warm();

        void run();

        double departure();
    }

    /** Makes a kernel: the class's index in CLASSES, threads. */
    interface Maker {
        Kernel make(int index, int threads);
    }

    static int rank;
    static int size;

    private Samples() {}

    static void measure(String name, String[] words, Maker maker) throws Exception {
        MPI.Init(words);
        rank = Comm.WORLD.getRank();
        size = Comm.WORLD.getSize();
        int index = words.length == 4 && words[0].length() == 1 ? CLASSES.indexOf(words[0]) : -1;
        if (index < 0) {
            fail(2, "usage: " + name + " S|W|A|B|C THREADS RUNS FILE");
        }
        int threads = Integer.parseInt(words[1]);
        Kernel kernel = maker.make(index, threads);
        kernel.warm();
        StringBuilder rows = new StringBuilder("# cotejo-samples/1\noperation,bytes,repetition,"
                + "calls,time_s,valid,threads,mop,rate_mops\n");
        for (int i = 0; i < Integer.parseInt(words[2]); i++) {
            Collective.barrier(Comm.WORLD);
            long begin = System.nanoTime();
            kernel.run();
            double time = greatest(1e-9 * (System.nanoTime() - begin));
            double departure = kernel.departure();
            if (!(departure <= 1)) {
                fail(1, String.format(Locale.ROOT, "wrong result: %s of class %s departs from the "
                        + "published one by %.3g times what is allowed", name, words[0],
                        departure));
            }
            rows.append(String.format(Locale.ROOT, "nas-%s-%s,0,%d,1,%.10e,1,%d,%.10g,%.10g\n",
                    name, words[0], i, time, threads, kernel.mop(), kernel.mop() / time));
        }
        if (rank == 0) {
            write(words[3], rows.toString());
        }
        MPI.Finalize();
    }

    private static void write(String path, String text) throws IOException {
        Path temporary = Path.of(path + ".tmp");
        Files.writeString(temporary, text);
        Files.move(temporary, Path.of(path), StandardCopyOption.REPLACE_EXISTING);
    }

    /** Says what is wrong and ends all ranks. */
    private static void fail(int status, String text) {
        if (rank == 0) {
            System.err.println("error: " + text);
        }
        MPI.abort(Comm.WORLD, status);
    }

    static double greatest(double mine) throws Exception {
        double[] all = new double[1];
        Collective.allReduce(new double[] {mine}, all, 1, Datatype.DOUBLE, Op.MPI_MAX, Comm.WORLD);
        return all[0];
    }

    /** Sums over all ranks, element by element. */
    static double[] sum(double[] mine) {
        double[] all = new double[mine.length];
        if (size == 1) {
            return mine.clone();
        }
        try {
            Collective.allReduce(mine, all, mine.length, Datatype.DOUBLE, Op.MPI_SUM, Comm.WORLD);
        } catch (mpi.MPIException error) {
            throw new IllegalStateException(error);
        }
        return all;
    }

    /** Threads that stay, and wait on their cores as those of OpenMP do. */
    private static final class Team {
        private static final int SPINS = 1 << 14; // before others may have the core

        private final AtomicInteger running = new AtomicInteger();
        private volatile int turn;
        private volatile Throwable failed;
        private IntConsumer work;

        Team(int others) {
            for (int i = 1; i <= others; i++) {
                int number = i;
                Thread thread = new Thread(() -> serve(number));
                thread.setDaemon(true);
                thread.start();
            }
        }

        private static void await(BooleanSupplier what) {
            for (int i = 0; !what.getAsBoolean(); i++) {
                if (i < SPINS) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
        }

        private void serve(int number) {
            for (int done = 0;; done++) {
                int last = done;
                await(() -> turn != last);
                try {
                    work.accept(number);
                } catch (Throwable error) {
                    failed = error;
                }
                running.decrementAndGet();
            }
        }

        void run(int others, IntConsumer what) {
            work = what;
            running.set(others);
            turn++;
            what.accept(0);
            await(() -> running.get() == 0);
            if (failed != null) {
                throw new IllegalStateException(failed);
            }
        }
    }

    private static Team team;

    /** Runs `work` for 0 to threads - 1, each in a thread; `threads` is the same in all calls. */
    static void parallel(int threads, IntConsumer work) {
        if (threads == 1) {
            work.accept(0);
            return;
        }
        if (team == null) {
            team = new Team(threads - 1);
        }
        team.run(threads - 1, work);
    }

    static long step(long x, long multiplier) {
        return (x * multiplier) & MASK; // products mod 2^64 are right mod 2^46
    }

    static long power(long multiplier, long n) {
        long power = 1;
        for (long base = multiplier; n > 0; n >>= 1, base = step(base, base)) {
            if ((n & 1) == 1) {
                power = step(power, base);
            }
        }
        return power;
    }

    static double real(long x) {
        return x * 0x1p-46;
    }

    /** The first of `n` items in part `i` of `parts`. */
    static long begin(long n, int i, int parts) {
        return n * i / parts;
    }
}
