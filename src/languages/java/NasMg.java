// SPDX-License-Identifier: BSD-3-Clause
// NAS MG in Java, by threads and by ranks: each rank has planes of the finer grids, and all of the
// coarser ones.

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import mpi.Collective;
import mpi.Comm;
import mpi.Datatype;
import mpi.PTP;

/** V cycles of multigrid on a periodic cube, verified by the norm of the last residual. */
final class NasMg extends Iterated {
    private static final int COARSE = 8; // points per edge of the finest grid that every rank has
    private static final int CHARGES = 10;
    private static final double CENTRE = -8.0 / 3;
    private static final double EDGE = 1.0 / 6;
    private static final double CORNER = 1.0 / 12;
    private static final int[] SIDES = {32, 128, 256, 256, 512};
    private static final int[] ITERATIONS = {4, 4, 4, 20, 20};
    private static final double[] NORMS = {0.5307707005734e-4, 0.6467329375339e-5,
        0.2433365309069e-5, 0.1800564401355e-5, 0.5706732285740e-6};
    private static final double[] SMALL = {-3.0 / 8, 1.0 / 32, -1.0 / 64};
    private static final double[] LARGE = {-3.0 / 17, 1.0 / 33, -1.0 / 61};

    /** A cubic grid with one more plane, line and point at each end; of `planes` from `first`. */
    private static final class Grid {
        private final int n;
        private final int planes;
        private final int first;
        private final int line;
        private final int plane;
        private final boolean coarse; // this rank has all of it, and all grids below
        private final double[] u;
        private final double[] r;
        private final DoubleBuffer out; // a plane on its way; of a grid that is shared out
        private final DoubleBuffer in;
        private Grid down;

        Grid(int n, boolean coarse) {
            this.n = n;
            this.coarse = coarse;
            planes = coarse ? n : n / Samples.size;
            first = coarse ? 0 : planes * Samples.rank;
            line = n + 2;
            plane = line * line;
            u = new double[plane * (planes + 2)];
            r = new double[plane * (planes + 2)];
            out = coarse ? null : room(plane);
            in = coarse ? null : room(plane);
        }

        private static DoubleBuffer room(int doubles) {
            return ByteBuffer.allocateDirect(8 * doubles).order(ByteOrder.nativeOrder())
                    .asDoubleBuffer();
        }
    }

    private final int index;
    private final Grid top;
    private final double[] v; // the right-hand vector, on the first grid
    private final double[][] near; // of a line, by thread
    private final double[][] next;
    private double norm;

    NasMg(int index, int threads) {
        super(threads, ITERATIONS[index]);
        this.index = index;
        int n = SIDES[index];
        int size = Samples.size;
        if ((size & (size - 1)) != 0 || size > n / 2) {
            throw new IllegalArgumentException("ranks must be a power of 2 up to " + n / 2);
        }
        boolean coarse = size == 1;
        Grid above = null;
        Grid made = null;
        for (int side = n; side >= 2; side /= 2) {
            Grid grid = new Grid(side, coarse);
            if (above == null) {
                made = grid;
            } else {
                above.down = grid;
            }
            above = grid;
            if (!coarse && (side / 2 < size || side <= COARSE)) {
                coarse = true;
                above.down = new Grid(side, true);
                above = above.down;
            }
        }
        top = made;
        v = new double[top.u.length];
        near = new double[threads][n + 2];
        next = new double[threads][n + 2];
        charge();
    }

    public static void main(String[] words) throws Exception {
        Samples.measure("mg", words, NasMg::new);
    }

    @Override
    public double mop() {
        return 58e-6 * iterations * Math.pow(SIDES[index], 3);
    }

    private static void borderPlane(Grid g, double[] x, int at) {
        for (int j = 1; j <= g.n; j++) {
            x[at + j * g.line] = x[at + j * g.line + g.n];
            x[at + j * g.line + g.n + 1] = x[at + j * g.line + 1];
        }
        System.arraycopy(x, at + g.n * g.line, x, at, g.line);
        System.arraycopy(x, at + g.line, x, at + (g.n + 1) * g.line, g.line);
    }

    private static void pass(Grid g, double[] x, int from, int to, int rank, int other, int tag) {
        g.out.clear();
        g.out.put(x, from, g.plane);
        g.out.rewind();
        g.in.clear();
        try {
            PTP.sendRecv(g.out, g.plane, Datatype.DOUBLE, rank, tag, g.in, g.plane,
                    Datatype.DOUBLE, other, tag, Comm.WORLD);
        } catch (mpi.MPIException error) {
            throw new IllegalStateException(error);
        }
        g.in.rewind();
        g.in.get(x, to, g.plane);
    }

    /** The planes below and above this rank's. */
    private static void borderEnds(Grid g, double[] x) {
        int last = g.planes * g.plane;
        if (g.coarse) {
            System.arraycopy(x, last, x, 0, g.plane);
            System.arraycopy(x, g.plane, x, last + g.plane, g.plane);
            return;
        }
        int below = (Samples.rank + Samples.size - 1) % Samples.size;
        int above = (Samples.rank + 1) % Samples.size;
        pass(g, x, last, 0, above, below, 0);
        pass(g, x, g.plane, last + g.plane, below, above, 1);
    }

    /** Sums over the four nearest and the four next points of the cross-section of a line. */
    private static void crossSums(Grid g, double[] x, int at, double[] near, double[] next) {
        int line = g.line;
        int plane = g.plane;
        for (int i = 0; i < line; i++) {
            int p = at + i;
            near[i] = x[p - line] + x[p + line] + x[p - plane] + x[p + plane];
            next[i] = x[p - plane - line] + x[p - plane + line] + x[p + plane - line]
                    + x[p + plane + line];
        }
    }

    /** r = right - A u; `right` may be r. */
    private void residual(Grid g, double[] right) {
        each(1, g.planes + 1, (t, k) -> {
            double[] a = near[t];
            double[] b = next[t];
            for (int j = 1; j <= g.n; j++) {
                int at = k * g.plane + j * g.line;
                crossSums(g, g.u, at, a, b);
                for (int i = 1; i <= g.n; i++) {
                    g.r[at + i] = right[at + i] - CENTRE * g.u[at + i]
                            - EDGE * (b[i] + a[i - 1] + a[i + 1])
                            - CORNER * (b[i - 1] + b[i + 1]);
                }
            }
            borderPlane(g, g.r, k * g.plane);
        });
        borderEnds(g, g.r);
    }

    /** u += S r. */
    private void smooth(Grid g) {
        double[] s = index < 3 ? SMALL : LARGE;
        each(1, g.planes + 1, (t, k) -> {
            double[] a = near[t];
            double[] b = next[t];
            for (int j = 1; j <= g.n; j++) {
                int at = k * g.plane + j * g.line;
                crossSums(g, g.r, at, a, b);
                for (int i = 1; i <= g.n; i++) {
                    g.u[at + i] += s[0] * g.r[at + i]
                            + s[1] * (g.r[at + i - 1] + g.r[at + i + 1] + a[i])
                            + s[2] * (b[i] + a[i - 1] + a[i + 1]);
                }
            }
            borderPlane(g, g.u, k * g.plane);
        });
        borderEnds(g, g.u);
    }

    /** The residual of the next coarser grid from this one's. */
    private void restrict(Grid g) {
        Grid down = g.down;
        each(1, down.planes + 1, (t, k) -> {
            double[] a = near[t];
            double[] b = next[t];
            for (int j = 1; j <= down.n; j++) {
                int at = 2 * k * g.plane + 2 * j * g.line;
                int to = k * down.plane + j * down.line;
                crossSums(g, g.r, at, a, b);
                for (int i = 1, f = 2; i <= down.n; i++, f += 2) {
                    down.r[to + i] = 0.5 * g.r[at + f]
                            + 0.25 * (g.r[at + f - 1] + g.r[at + f + 1] + a[f])
                            + 0.125 * (b[f] + a[f - 1] + a[f + 1])
                            + 0.0625 * (b[f - 1] + b[f + 1]);
                }
            }
            borderPlane(down, down.r, k * down.plane);
        });
        borderEnds(down, down.r);
    }

    /** Adds the next coarser grid's u to this one's, by linear interpolation. */
    private void prolong(Grid g) {
        Grid down = g.down;
        // Fine planes and lines 2 k lie on the coarse ones, 2 k + 1 between k and k + 1.
        each(0, g.planes + 2, (t, fk) -> {
            double[] sum = near[t];
            int up = fk % 2 == 1 ? down.plane : 0;
            for (int fj = 0; fj <= g.n + 1; fj++) {
                int at = fk / 2 * down.plane + fj / 2 * down.line;
                int over = fj % 2 == 1 ? down.line : 0;
                int to = fk * g.plane + fj * g.line;
                for (int i = 0; i <= down.n + 1; i++) {
                    // Without a neighbour over or up, points are added to themselves.
                    sum[i] = 0.25 * (down.u[at + i] + down.u[at + i + over]
                            + down.u[at + i + up] + down.u[at + i + over + up]);
                }
                for (int i = 0; i <= down.n; i++) {
                    g.u[to + 2 * i] += sum[i];
                    g.u[to + 2 * i + 1] += 0.5 * (sum[i] + sum[i + 1]);
                }
            }
        });
    }

    /** Gives every rank the complete residual. */
    private static void gather(Grid g) {
        Grid whole = g.down;
        int mine = g.planes * g.plane;
        double[] all = new double[mine * Samples.size];
        try {
            Collective.allGather(Arrays.copyOfRange(g.r, g.plane, g.plane + mine), mine,
                    Datatype.DOUBLE, all, mine, Datatype.DOUBLE, Comm.WORLD);
        } catch (mpi.MPIException error) {
            throw new IllegalStateException(error);
        }
        System.arraycopy(all, 0, whole.r, g.plane, all.length);
        borderEnds(whole, whole.r);
    }

    /** For A u = r from u = 0; the first grid improves its u for A u = v. */
    private void cycle(Grid g) {
        boolean first = g == top;
        if (!first) {
            Arrays.fill(g.u, 0);
        }
        if (g.down != null && g.down.n == g.n) {
            gather(g);
            cycle(g.down);
            System.arraycopy(g.down.u, g.first * g.plane, g.u, 0, g.u.length);
            return;
        }
        if (g.down != null) {
            restrict(g);
            cycle(g.down);
            prolong(g);
            residual(g, first ? v : g.r);
        }
        smooth(g);
    }

    @Override
    void iterate(int count) {
        Arrays.fill(top.u, 0);
        residual(top, v);
        for (int i = 0; i < count; i++) {
            cycle(top);
            residual(top, v);
        }
        double[] sums = new double[threads];
        each(1, top.planes + 1, (t, k) -> {
            double sum = 0;
            for (int j = 1; j <= top.n; j++) {
                int at = k * top.plane + j * top.line;
                for (int i = 1; i <= top.n; i++) {
                    sum += top.r[at + i] * top.r[at + i];
                }
            }
            sums[t] += sum;
        });
        double all = Samples.sum(new double[] {Arrays.stream(sums).sum()})[0];
        norm = Math.sqrt(all / Math.pow(top.n, 3));
    }

    /** Values and places of the largest random numbers, in falling order: pairs. */
    private static void keep(double[] best, double value, double at) {
        if (value <= best[2 * CHARGES - 2]) {
            return;
        }
        int i = CHARGES - 1;
        for (; i > 0 && best[2 * i - 2] < value; i--) {
            best[2 * i] = best[2 * i - 2];
            best[2 * i + 1] = best[2 * i - 1];
        }
        best[2 * i] = value;
        best[2 * i + 1] = at;
    }

    private static double[] none() {
        double[] best = new double[2 * CHARGES];
        Arrays.fill(best, -2);
        return best;
    }

    /** The right-hand vector: 1 at the ten largest random numbers, -1 at the ten smallest. */
    private void charge() {
        long n = top.n;
        for (int sign = 1; sign >= -1; sign -= 2) {
            long first = top.first * n * n;
            long x = Samples.step(314159265L, Samples.power(Samples.MULTIPLIER, first));
            double[] mine = none();
            for (long at = first; at < first + top.planes * n * n; at++) {
                x = Samples.step(x, Samples.MULTIPLIER);
                keep(mine, sign * Samples.real(x), at);
            }
            double[] best = none();
            for (int rank = 0; rank < Samples.size; rank++) {
                double[] theirs = mine.clone();
                try {
                    Collective.bcast(theirs, 2 * CHARGES, Datatype.DOUBLE, rank, Comm.WORLD);
                } catch (mpi.MPIException error) {
                    throw new IllegalStateException(error);
                }
                for (int i = 0; i < CHARGES; i++) {
                    keep(best, theirs[2 * i], theirs[2 * i + 1]);
                }
            }
            for (int i = 0; i < CHARGES; i++) {
                long at = (long) best[2 * i + 1];
                int k = (int) (at / (n * n)) - top.first + 1;
                if (k >= 1 && k <= top.planes) {
                    int j = (int) (at / n % n) + 1;
                    v[k * top.plane + j * top.line + (int) (at % n) + 1] = sign;
                }
            }
        }
        for (int k = 1; k <= top.planes; k++) {
            borderPlane(top, v, k * top.plane);
        }
        borderEnds(top, v);
    }

    @Override
    public double departure() {
        return Math.abs((norm - NORMS[index]) / NORMS[index]) / 1e-8;
    }
}
