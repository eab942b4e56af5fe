// SPDX-License-Identifier: BSD-3-Clause
// NAS FT in Java, by threads and by ranks: each rank has planes in space, and lines in frequency.

import java.util.function.BiConsumer;
import mpi.Collective;
import mpi.Comm;
import mpi.Datatype;

/** Three-dimensional Fourier transforms, verified by the checksum of each iteration. */
final class NasFt extends Iterated {
    private static final int LANES = 8; // lines that are transformed together
    private static final int SUMMED = 1024; // points of a checksum
    private static final double ALPHA = 1e-6;
    private static final int[][] POINTS = {
        {64, 64, 64}, {128, 128, 32}, {256, 256, 128}, {512, 256, 256}, {512, 512, 512}};
    private static final int[] ITERATIONS = {6, 6, 6, 20, 20};
    /** Real and imaginary parts interleaved, by class. */
    private static final double[][] CHECKSUMS = {
        {554.6087004964, 484.5363331978, 554.6385409189, 486.5304269511, 554.6148406171,
            488.3910722336, 554.5423607415, 490.1273169046, 554.4255039624, 491.7475857993,
            554.2683411902, 493.2597244941},
        {567.3612178944, 529.3246849175, 563.1436885271, 528.2149986629, 559.4024089970,
            527.0996558037, 556.0698047020, 526.0027904925, 553.0898991250, 524.9400845633,
            550.4159734538, 523.9212247086},
        {504.6735008193, 511.4047905510, 505.9412319734, 509.8809666433, 506.9376896287,
            509.8144042213, 507.7892868474, 510.1336130759, 508.5233095391, 510.4914655194,
            509.1487099959, 510.7917842803},
        {517.7643571579, 507.7803458597, 515.4521291263, 508.8249431599, 514.6409228649,
            509.6208912659, 514.2378756213, 510.1023387619, 513.9626667737, 510.3976610617,
            513.7423460082, 510.5948019802, 513.5547056878, 510.7404165783, 513.3910925466,
            510.8576573661, 513.2470705390, 510.9577278523, 513.1197729984, 511.0460304483,
            513.0070319283, 511.1252433800, 512.9070537032, 511.1968077718, 512.8182883502,
            511.2616233064, 512.7393733383, 511.3203605551, 512.6691062020, 511.3735928093,
            512.6064276004, 511.4218460548, 512.5504076570, 511.4656139760, 512.5002331720,
            511.5053595966, 512.4551951846, 511.5415130407, 512.4146770029, 511.5744692211},
        {519.5078707457, 514.9019699238, 515.5422171134, 512.7578201997, 514.4678022222,
            512.2251847514, 514.0150594328, 512.1090289018, 513.7550426810, 512.1143685824,
            513.5811056728, 512.1496764568, 513.4569343165, 512.1870921893, 513.3651975661,
            512.2193250322, 513.2955192805, 512.2454735794, 513.2410471738, 512.2663649603,
            513.1971141679, 512.2830879827, 513.1605205716, 512.2965869718, 513.1290734194,
            512.3075927445, 513.1012720314, 512.3166486553, 513.0760908195, 512.3241541685,
            513.0528295923, 512.3304037599, 513.0310107773, 512.3356167976, 513.0103090133,
            512.3399592211, 512.9905029333, 512.3435588985, 512.9714421109, 512.3465164008}};

    private final int index;
    private final int nx;
    private final int ny;
    private final int nz;
    private final int planes; // of this rank in space
    private final int lines; // of y of this rank in frequency
    private final int slab;
    private final double[][] re = new double[3][]; // roots of one of each dimension
    private final double[][] im = new double[3][];
    private final double[][] decay = new double[3][];
    private final int[][] at = new int[3][]; // places of a line's points
    private final int[] packed; // of y, before they are sent
    private final double[] space; // parts interleaved
    private final double[] frequency;
    private final double[] sent; // `space` where nothing is
    private final Block[] blocks;
    private final double[] sums;
    private int done;

    NasFt(int index, int threads) {
        super(threads, ITERATIONS[index]);
        this.index = index;
        int[] n = POINTS[index];
        nx = n[0];
        ny = n[1];
        nz = n[2];
        if (ny % Samples.size != 0 || nz % Samples.size != 0) {
            throw new IllegalArgumentException("ranks must divide " + ny + " and " + nz);
        }
        planes = nz / Samples.size;
        lines = ny / Samples.size;
        slab = nx * lines;
        for (int d = 0; d < 3; d++) {
            makeTables(d, n[d]);
        }
        packed = new int[ny];
        for (int y = 0; y < ny; y++) {
            packed[y] = y / lines * (planes * slab) + y % lines * nx;
        }
        int points = nx * ny * planes;
        space = new double[2 * points];
        frequency = new double[2 * points];
        sent = Samples.size > 1 ? new double[2 * points] : space;
        blocks = new Block[threads];
        for (int t = 0; t < threads; t++) {
            blocks[t] = new Block(Math.max(nx, Math.max(ny, nz)));
        }
        sums = new double[2 * iterations];
    }

    public static void main(String[] words) throws Exception {
        Samples.measure("ft", words, NasFt::new);
    }

    private void makeTables(int d, int n) {
        re[d] = new double[n];
        im[d] = new double[n];
        decay[d] = new double[n];
        at[d] = new int[n];
        for (int i = 0; i < n; i++) {
            double angle = 2 * Math.PI * i / n;
            double k = i < n / 2 ? i : i - n;
            re[d][i] = Math.cos(angle);
            im[d][i] = -Math.sin(angle);
            decay[d][i] = Math.exp(-4 * ALPHA * Math.PI * Math.PI * k * k);
            at[d][i] = d == 0 ? i : d == 1 ? i * nx : i * slab;
        }
    }

    @Override
    public double mop() {
        double points = (double) nx * ny * nz;
        double size = Math.log(points);
        return 1e-6 * points * (14.8157 + 7.19641 * size
                + (5.23518 + 7.21113 * size) * iterations);
    }

    /** Points of LANES adjacent lines, and room for as many; of one thread. */
    private static final class Block {
        private double[] re;
        private double[] im;
        private double[] otherRe;
        private double[] otherIm;

        Block(int points) {
            re = new double[points * LANES];
            im = new double[points * LANES];
            otherRe = new double[points * LANES];
            otherIm = new double[points * LANES];
        }

        /** Point i of lane l is at 2 * (base + at[i] + l * lane). */
        void load(double[] from, int base, int[] at, int lane) {
            for (int i = 0; i < at.length; i++) {
                for (int l = 0; l < LANES; l++) {
                    int place = 2 * (base + at[i] + l * lane);
                    re[i * LANES + l] = from[place];
                    im[i * LANES + l] = from[place + 1];
                }
            }
        }

        void store(double[] to, int base, int[] at, int lane) {
            for (int i = 0; i < at.length; i++) {
                for (int l = 0; l < LANES; l++) {
                    int place = 2 * (base + at[i] + l * lane);
                    to[place] = re[i * LANES + l];
                    to[place + 1] = im[i * LANES + l];
                }
            }
        }

        /** All lines, by Stockham's way, which needs no reordering; not normalised. */
        void transform(double[] rootRe, double[] rootIm, boolean backwards) {
            int points = rootRe.length;
            int run = LANES;
            for (int n = points; n > 1; n /= 2, run *= 2) {
                for (int p = 0; p < n / 2; p++) {
                    double c = rootRe[p * (points / n)];
                    double s = backwards ? -rootIm[p * (points / n)] : rootIm[p * (points / n)];
                    int from = p * run;
                    int half = from + n / 2 * run;
                    int to = 2 * p * run;
                    for (int q = 0; q < run; q++) {
                        double r = re[from + q] - re[half + q];
                        double i = im[from + q] - im[half + q];
                        otherRe[to + q] = re[from + q] + re[half + q];
                        otherIm[to + q] = im[from + q] + im[half + q];
                        otherRe[to + run + q] = c * r - s * i;
                        otherIm[to + run + q] = c * i + s * r;
                    }
                }
                double[] was = re;
                re = otherRe;
                otherRe = was;
                was = im;
                im = otherIm;
                otherIm = was;
            }
        }
    }

    private void start(int line) {
        long before = 2L * nx * ((long) planes * ny * Samples.rank + line);
        long x = Samples.step(314159265L, Samples.power(Samples.MULTIPLIER, before));
        for (int i = 0; i < 2 * nx; i++) {
            x = Samples.step(x, Samples.MULTIPLIER);
            space[2 * nx * line + i] = Samples.real(x);
        }
    }

    private void along(Block block, int d, double[] from, int base, int[] fromAt, double[] to,
            int toBase, int[] toAt, int lane, boolean backwards) {
        block.load(from, base, fromAt, lane);
        block.transform(re[d], im[d], backwards);
        block.store(to, toBase, toAt, lane);
    }

    /** Calls `work` for every `step`th of `count` things. */
    private void share(int count, int step, BiConsumer<Block, Integer> work) {
        each(0, count / step, (t, i) -> work.accept(blocks[t], i * step));
    }

    /** Along x and y, from space to what is sent, or back; each plane by itself. */
    private void transformPlanes(boolean backwards) {
        share(planes, 1, (block, z) -> {
            int plane = z * nx * ny;
            boolean apart = sent != space;
            for (int turn = 0; turn < 2; turn++) {
                if ((turn == 0) != backwards) {
                    for (int y = 0; y < ny; y += LANES) {
                        int line = plane + y * nx;
                        along(block, 0, space, line, at[0], space, line, at[0], nx, backwards);
                    }
                    continue;
                }
                for (int i = 0; i < nx; i += LANES) {
                    int here = plane + i;
                    int there = apart ? z * slab + i : here;
                    int[] places = apart ? packed : at[1];
                    if (backwards) {
                        along(block, 1, sent, there, places, space, here, at[1], 1, true);
                    } else {
                        along(block, 1, space, here, at[1], sent, there, places, 1, false);
                    }
                }
            }
        });
    }

    private void exchange(double[] from, double[] to) {
        if (Samples.size == 1) {
            return;
        }
        int block = 2 * slab * planes;
        try {
            Collective.allToAll(from, block, Datatype.DOUBLE, to, block, Datatype.DOUBLE,
                    Comm.WORLD);
        } catch (mpi.MPIException error) {
            throw new IllegalStateException(error);
        }
    }

    private void forwards() {
        transformPlanes(false);
        exchange(sent, space);
        share(slab, LANES, (block, i) ->
                along(block, 2, space, i, at[2], frequency, i, at[2], 1, false));
    }

    /** The frequencies decay by one iteration, and are transformed into space. */
    private void backwards() {
        share(slab, LANES, (block, i) -> {
            for (int l = 0; l < LANES; l++) {
                double factor = decay[0][i % nx + l] * decay[1][Samples.rank * lines + i / nx];
                for (int z = 0; z < nz; z++) {
                    int place = 2 * (z * slab + i + l);
                    frequency[place] *= factor * decay[2][z];
                    frequency[place + 1] *= factor * decay[2][z];
                }
            }
            along(block, 2, frequency, i, at[2], space, i, at[2], 1, true);
        });
        exchange(space, sent);
        transformPlanes(true);
    }

    private void checksum() {
        double[] sum = new double[2];
        int first = Samples.rank * planes;
        for (int j = 1; j <= SUMMED; j++) {
            int z = 5 * j % nz - first;
            if (z >= 0 && z < planes) {
                int place = 2 * ((z * ny + 3 * j % ny) * nx + j % nx);
                sum[0] += space[place];
                sum[1] += space[place + 1];
            }
        }
        double[] all = Samples.sum(sum);
        double points = (double) nx * ny * nz;
        sums[2 * done] = all[0] / points;
        sums[2 * done + 1] = all[1] / points;
    }

    @Override
    void iterate(int count) {
        each(0, planes * ny, (t, line) -> start(line));
        forwards();
        for (done = 0; done < count; done++) {
            backwards();
            checksum();
        }
    }

    @Override
    public double departure() {
        double most = 0;
        for (int i = 0; i < done; i++) {
            double wantedRe = CHECKSUMS[index][2 * i];
            double wantedIm = CHECKSUMS[index][2 * i + 1];
            double off = Math.hypot(sums[2 * i] - wantedRe, sums[2 * i + 1] - wantedIm)
                    / Math.hypot(wantedRe, wantedIm) / 1e-12;
            if (!(off <= most)) { // keeps what is not a number
                most = off;
            }
        }
        return most;
    }
}
