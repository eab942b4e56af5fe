// SPDX-License-Identifier: BSD-3-Clause
// The common parts of kernels that repeat one iteration over a grid.

/** A kernel of a number of iterations, whose loops are shared out over threads. */
abstract class Iterated implements Samples.Kernel {
    /** The work of thread t on the i-th item. */
    interface Work {
        void of(int t, int i);
    }

    final int threads;
    final int iterations;

    Iterated(int threads, int iterations) {
        this.threads = threads;
        this.iterations = iterations;
    }

    abstract void iterate(int count);

    @Override
    public final void warm() {
        iterate(1);
    }

    @Override
    public final void run() {
        iterate(iterations);
    }

    /** Does `work` with all from `from` up to `end`, each thread with a part of them. */
    final void each(int from, int end, Work work) {
        Samples.parallel(threads, t -> {
            int last = from + (int) Samples.begin(end - from, t + 1, threads);
            for (int i = from + (int) Samples.begin(end - from, t, threads); i < last; i++) {
                work.of(t, i);
            }
        });
    }
}
