// SPDX-License-Identifier: BSD-3-Clause
// NAS IS in Java, by threads and by ranks: keys go to the rank of their bucket and are counted.

import java.util.Arrays;
import mpi.Collective;
import mpi.Comm;
import mpi.Datatype;

/** Ten rankings, verified by the ranks of test keys and by the keys in order. */
final class NasIs implements Samples.Kernel {
    private static final int ITERATIONS = 10;
    private static final int BUCKETS = 1 << 10;
    private static final int[] LOG2_KEYS = {16, 20, 23, 25, 27};
    private static final int[] LOG2_RANGE = {11, 16, 19, 21, 23};
    private static final int[][] PLACES = {
        {48427, 17148, 23627, 62548, 4431}, {357773, 934767, 875723, 898999, 404505},
        {2112377, 662041, 5336171, 3642833, 4250760},
        {41869, 812306, 5102857, 18232239, 26860214},
        {44172927, 72999161, 74326391, 129606274, 21736814}};
    private static final int[][] RANKS = {
        {0, 18, 346, 64917, 65463}, {1249, 11698, 1039987, 1043896, 1048018},
        {104, 17523, 123928, 8288932, 8388264}, {33422937, 10244, 59149, 33135281, 99},
        {61147, 882988, 266290, 133997595, 133525895}};
    // The rank moves by sign * (iteration + shift).
    private static final int[][] SIGNS = {
        {1, 1, 1, -1, -1}, {1, 1, -1, -1, -1}, {1, 1, 1, -1, -1}, {-1, 1, 1, -1, 1},
        {1, 1, 1, -1, -1}};
    private static final int[][] SHIFTS = {
        {0, 0, 0, 0, 0}, {-2, -2, 0, 0, 0}, {-1, -1, -1, -1, -1}, {0, 0, 0, 0, 0},
        {0, 0, 0, 0, 0}};

    private final int index;
    private final int threads;
    private final long total;
    private final long first;
    private final int range;
    private final int shift;
    private final int[] keys;
    private final int[] made; // the first keys, before iterations change them
    private final int[] sorted;
    private final int[][] perThread;
    private int[] got; // keys of this rank's buckets
    private int received;
    private int[] upTo; // keys up to each value, from the first of this rank's on
    private int low;
    private int values;
    private long before; // keys in lower buckets
    private double passed;

    NasIs(int index, int threads) {
        this.index = index;
        this.threads = threads;
        total = 1L << LOG2_KEYS[index];
        range = 1 << LOG2_RANGE[index];
        shift = Math.max(0, LOG2_RANGE[index] - 10);
        first = Samples.begin(total, Samples.rank, Samples.size);
        keys = new int[(int) (Samples.begin(total, Samples.rank + 1, Samples.size) - first)];
        sorted = new int[keys.length];
        perThread = new int[threads][BUCKETS];
        Samples.parallel(threads, this::makeKeys);
        made = Arrays.copyOf(keys, Math.min(keys.length, 1 + 2 * ITERATIONS));
    }

    public static void main(String[] words) throws Exception {
        Samples.measure("is", words, NasIs::new);
    }

    @Override
    public double mop() {
        return 1e-6 * total * ITERATIONS;
    }

    private int part(int t) {
        return (int) Samples.begin(keys.length, t, threads);
    }

    private void makeKeys(int t) {
        long x = Samples.step(314159265L,
                Samples.power(Samples.MULTIPLIER, 4 * (first + part(t))));
        for (int i = part(t); i < part(t + 1); i++) {
            double sum = 0;
            for (int j = 0; j < 4; j++) {
                x = Samples.step(x, Samples.MULTIPLIER);
                sum += Samples.real(x);
            }
            keys[i] = (int) (sum * (range / 4));
        }
    }

    private void change(int iteration) {
        long at = iteration - first;
        if (at >= 0 && at < keys.length) {
            keys[(int) at] = iteration;
        }
        at += ITERATIONS;
        if (at >= 0 && at < keys.length) {
            keys[(int) at] = range - iteration;
        }
    }

    /** Sorts this rank's keys by bucket; returns how many are in each, and the test keys. */
    private double[] sortBuckets() {
        Samples.parallel(threads, t -> {
            int[] mine = perThread[t];
            Arrays.fill(mine, 0);
            for (int i = part(t); i < part(t + 1); i++) {
                mine[keys[i] >> shift]++;
            }
        });
        double[] counts = new double[BUCKETS + 5];
        int at = 0;
        for (int b = 0; b < BUCKETS; b++) {
            for (int t = 0; t < threads; t++) {
                int here = perThread[t][b];
                counts[b] += here;
                perThread[t][b] = at;
                at += here;
            }
        }
        Samples.parallel(threads, t -> {
            int[] mine = perThread[t];
            for (int i = part(t); i < part(t + 1); i++) {
                sorted[mine[keys[i] >> shift]++] = keys[i];
            }
        });
        for (int i = 0; i < 5; i++) {
            long place = PLACES[index][i] - first;
            if (place >= 0 && place < keys.length) {
                counts[BUCKETS + i] = keys[(int) place];
            }
        }
        return counts;
    }

    /** Gets the keys of this rank's buckets; bucket b is of the rank owner[b]. */
    private void exchange(double[] mine, int[] owner) throws Exception {
        int[] counts = new int[Samples.size];
        int[] at = new int[Samples.size];
        int[] coming = new int[Samples.size];
        int[] comingAt = new int[Samples.size];
        for (int b = 0; b < BUCKETS; b++) {
            counts[owner[b]] += (int) mine[b];
        }
        Collective.allToAll(counts, 1, Datatype.INT, coming, 1, Datatype.INT, Comm.WORLD);
        for (int r = 1; r < Samples.size; r++) {
            at[r] = at[r - 1] + counts[r - 1];
            comingAt[r] = comingAt[r - 1] + coming[r - 1];
        }
        received = comingAt[Samples.size - 1] + coming[Samples.size - 1];
        if (got == null || got.length < received) {
            got = new int[received + received / 8];
        }
        Collective.allToAllv(sorted, counts, at, Datatype.INT, got, coming, comingAt, Datatype.INT,
                Comm.WORLD);
    }

    /** Counts the values: each thread those of a part of the keys, and one adds them up. */
    private void countValues() {
        if (upTo == null || upTo.length != values) {
            upTo = new int[values];
        }
        int[][] counts = new int[threads][];
        Samples.parallel(threads, t -> {
            int[] mine = t == 0 ? upTo : new int[values];
            Arrays.fill(mine, 0);
            int end = (int) Samples.begin(received, t + 1, threads);
            for (int i = (int) Samples.begin(received, t, threads); i < end; i++) {
                mine[got[i] - low]++;
            }
            counts[t] = mine;
        });
        int sum = 0;
        for (int v = 0; v < values; v++) {
            for (int t = 0; t < threads; t++) {
                sum += counts[t][v];
            }
            upTo[v] = sum;
        }
    }

    private void rankKeys(int iteration) throws Exception {
        change(iteration);
        double[] mine = sortBuckets();
        double[] all = Samples.sum(mine);
        int[] owner = new int[BUCKETS];
        int own = 0;
        long below = 0;
        low = 0;
        before = 0;
        for (int b = 0; b < BUCKETS; b++) {
            owner[b] = (int) Math.min(Samples.size - 1, below * Samples.size / total);
            if (owner[b] == Samples.rank && own++ == 0) {
                low = b << shift;
                before = below;
            }
            below += (long) all[b];
        }
        values = own << shift;
        if (Samples.size > 1) {
            exchange(mine, owner);
        } else {
            got = sorted;
            received = sorted.length;
        }
        countValues();
        for (int i = 0; i < 5; i++) {
            int at = (int) all[BUCKETS + i] - low;
            if (at >= 0 && at < values && all[BUCKETS + i] > 0) {
                long less = before + (at > 0 ? upTo[at - 1] : 0);
                passed += less == RANKS[index][i]
                        + SIGNS[index][i] * (iteration + SHIFTS[index][i]) ? 1 : 0;
            }
        }
    }

    private void iterate(int iterations) {
        passed = 0;
        System.arraycopy(made, 0, keys, 0, made.length);
        try {
            for (int i = 1; i <= iterations; i++) {
                rankKeys(i);
            }
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void warm() {
        iterate(ITERATIONS); // enough for the compiler to have seen it
    }

    @Override
    public void run() {
        iterate(ITERATIONS);
    }

    @Override
    public double departure() {
        int[] list = Arrays.copyOf(got, received);
        Arrays.sort(list);
        double wrong = 0;
        for (int i = 0, v = 0; i < received; i++) {
            while (v < values && upTo[v] <= i) {
                v++;
            }
            wrong += list[i] - low == v ? 0 : 1;
        }
        double[] all = Samples.sum(new double[] {wrong, received, passed});
        return all[1] == total && all[2] == 5 * ITERATIONS ? all[0] : Double.POSITIVE_INFINITY;
    }
}
