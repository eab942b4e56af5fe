// SPDX-License-Identifier: BSD-3-Clause
// NAS EP in Java, by threads and by ranks: Gaussian deviates.

/** Pairs counted by square annuli, verified by the sums of their coordinates. */
final class NasEp implements Samples.Kernel {
    private static final int CHUNK = 1 << 10;
    private static final int SUMS = 12; // of x, of y, pairs in each of ten annuli
    private static final int[] LOG2 = {24, 25, 28, 30, 32};
    private static final double[] X = {-3.247834652034740e3, -2.863319731645753e3,
        -4.295875165629892e3, 4.033815542441498e4, 4.764367927995374e4};
    private static final double[] Y = {-6.958407078382297e3, -6.320053679109499e3,
        -1.580732573678431e4, -2.660669192809235e4, -8.084072988043731e4};

    private final int index;
    private final int threads;
    private double[] sums;

    NasEp(int index, int threads) {
        this.index = index;
        this.threads = threads;
    }

    public static void main(String[] words) throws Exception {
        Samples.measure("ep", words, NasEp::new);
    }

    @Override
    public double mop() {
        return 2e-6 * (1L << LOG2[index]);
    }

    private static void addChunk(long chunk, double[] numbers, double[] sums) {
        long x = Samples.step(271828183L, Samples.power(Samples.MULTIPLIER, 2 * chunk * CHUNK));
        for (int i = 0; i < 2 * CHUNK; i++) {
            x = Samples.step(x, Samples.MULTIPLIER);
            numbers[i] = 2 * Samples.real(x) - 1;
        }
        for (int i = 0; i < 2 * CHUNK; i += 2) {
            double square = numbers[i] * numbers[i] + numbers[i + 1] * numbers[i + 1];
            if (square <= 1) {
                double scale = Math.sqrt(-2 * Math.log(square) / square);
                double u = numbers[i] * scale;
                double v = numbers[i + 1] * scale;
                sums[0] += u;
                sums[1] += v;
                sums[2 + (int) Math.max(Math.abs(u), Math.abs(v))]++;
            }
        }
    }

    private void count(long chunks) {
        long first = Samples.begin(chunks, Samples.rank, Samples.size);
        long mine = Samples.begin(chunks, Samples.rank + 1, Samples.size) - first;
        double[] all = new double[SUMS];
        Samples.parallel(threads, t -> {
            double[] part = new double[SUMS];
            double[] numbers = new double[2 * CHUNK];
            long end = first + Samples.begin(mine, t + 1, threads);
            for (long chunk = first + Samples.begin(mine, t, threads); chunk < end; chunk++) {
                addChunk(chunk, numbers, part);
            }
            synchronized (all) {
                for (int i = 0; i < SUMS; i++) {
                    all[i] += part[i];
                }
            }
        });
        sums = Samples.sum(all);
    }

    @Override
    public void warm() {
        count(2048L * Samples.size * threads); // enough for the compiler to have seen it
    }

    @Override
    public void run() {
        count((1L << LOG2[index]) / CHUNK);
    }

    @Override
    public double departure() {
        double pairs = 0;
        for (int i = 2; i < SUMS; i++) {
            pairs += sums[i];
        }
        double n = 1L << LOG2[index];
        double circle = Math.PI / 4;
        double lost = Math.abs(pairs - n * circle) / (6 * Math.sqrt(n * circle * (1 - circle)));
        return Math.max(lost, Math.max(Math.abs(sums[0] / X[index] - 1),
                Math.abs(sums[1] / Y[index] - 1)) / 1e-8);
    }
}
