// SPDX-License-Identifier: BSD-3-Clause
// NAS CG in Java, by threads and by ranks: each rank has a block of rows, and a product gathers a
// complete vector.

import java.util.Arrays;
import java.util.stream.IntStream;
import mpi.Collective;
import mpi.Comm;
import mpi.Datatype;

/** The smallest eigenvalue of a sparse matrix by inverse iteration, verified by its estimate. */
final class NasCg implements Samples.Kernel {
    private static final int STEPS = 25; // of conjugate gradients in an iteration
    private static final double CONDITION = 0.1; // ratio of the last weight to the first
    private static final int[] ROWS = {1400, 7000, 14000, 75000, 150000};
    private static final int[] NONZEROS = {7, 8, 11, 13, 15};
    private static final int[] ITERATIONS = {15, 15, 15, 75, 75};
    private static final double[] SHIFTS = {10, 12, 20, 60, 110};
    private static final double[] ZETAS = {8.5971775078648, 10.362595087124, 17.130235054029,
        22.712745482631, 28.973605592845};

    private final int index;
    private final int threads;
    private final int rows;
    private final int first;
    private final int count;
    private final int[] counts; // rows of each rank, and where they begin
    private final int[] firsts;
    private final int[] begins; // of each row here
    private final int[] columns;
    private final double[] values;
    private final double[] whole;
    private final double[] x;
    private final double[] z;
    private final double[] p;
    private final double[] q;
    private final double[] r;
    private double zeta;
    private double residual;

    /** The work of a thread on its rows, [begin, end); returns its part of a sum. */
    private interface Rows {
        double of(int begin, int end);
    }

    NasCg(int index, int threads) {
        this.index = index;
        this.threads = threads;
        rows = ROWS[index];
        firsts = new int[Samples.size];
        counts = new int[Samples.size];
        for (int i = 0; i < Samples.size; i++) {
            firsts[i] = (int) Samples.begin(rows, i, Samples.size);
            counts[i] = (int) Samples.begin(rows, i + 1, Samples.size) - firsts[i];
        }
        first = firsts[Samples.rank];
        count = counts[Samples.rank];
        whole = new double[rows];
        x = new double[count];
        z = new double[count];
        p = new double[count];
        q = new double[count];
        r = new double[count];
        int[][] places = new int[rows][];
        double[][] weights = new double[rows][];
        makeVectors(places, weights);
        int[][] rowColumns = new int[count][];
        double[][] rowValues = new double[count][];
        makeRows(places, weights, rowColumns, rowValues);
        begins = new int[count + 1];
        for (int i = 0; i < count; i++) {
            begins[i + 1] = begins[i] + rowColumns[i].length;
        }
        columns = new int[begins[count]];
        values = new double[begins[count]];
        for (int i = 0; i < count; i++) {
            System.arraycopy(rowColumns[i], 0, columns, begins[i], rowColumns[i].length);
            System.arraycopy(rowValues[i], 0, values, begins[i], rowColumns[i].length);
        }
    }

    public static void main(String[] words) throws Exception {
        Samples.measure("cg", words, NasCg::new);
    }

    @Override
    public double mop() {
        double each = NONZEROS[index] * (NONZEROS[index] + 1);
        return 2e-6 * ITERATIONS[index] * rows * (3 + each + STEPS * (5 + each) + 3);
    }

    /** For each row a sparse random vector, with 1/2 at the row's own place. */
    private void makeVectors(int[][] places, double[][] weights) {
        int range = 1;
        while (range < rows) {
            range *= 2;
        }
        long state = Samples.step(314159265L, Samples.MULTIPLIER); // the first one is skipped
        int[] place = new int[NONZEROS[index] + 1];
        double[] value = new double[NONZEROS[index] + 1];
        for (int v = 0; v < rows; v++) {
            int found = 0;
            while (found < NONZEROS[index]) {
                state = Samples.step(state, Samples.MULTIPLIER);
                double some = Samples.real(state);
                state = Samples.step(state, Samples.MULTIPLIER);
                int at = (int) (range * Samples.real(state));
                if (at < rows && indexOf(place, found, at) < 0) {
                    place[found] = at;
                    value[found++] = some;
                }
            }
            int own = indexOf(place, found, v);
            if (own < 0) {
                own = found++;
                place[own] = v;
            }
            value[own] = 0.5;
            places[v] = Arrays.copyOf(place, found);
            weights[v] = Arrays.copyOf(value, found);
        }
    }

    private static int indexOf(int[] list, int length, int wanted) {
        for (int i = 0; i < length; i++) {
            if (list[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** The rows here of the weighted sum of the vectors' outer products. */
    private void makeRows(int[][] places, double[][] weights, int[][] rowColumns,
            double[][] rowValues) {
        int[] lengths = new int[count];
        for (int i = 0; i < count; i++) {
            rowColumns[i] = new int[] {first + i};
            rowValues[i] = new double[] {CONDITION - SHIFTS[index]};
            lengths[i] = 1;
        }
        double weight = 1;
        double ratio = Math.pow(CONDITION, 1.0 / rows);
        for (int v = 0; v < rows; v++, weight *= ratio) {
            for (int i = 0; i < places[v].length; i++) {
                int row = places[v][i] - first;
                if (row < 0 || row >= count) {
                    continue;
                }
                int room = lengths[row] + places[v].length;
                if (room > rowColumns[row].length) {
                    rowColumns[row] = Arrays.copyOf(rowColumns[row], 2 * room);
                    rowValues[row] = Arrays.copyOf(rowValues[row], 2 * room);
                }
                for (int j = 0; j < places[v].length; j++) {
                    rowColumns[row][lengths[row]] = places[v][j];
                    rowValues[row][lengths[row]++] = weight * weights[v][i] * weights[v][j];
                }
            }
        }
        for (int i = 0; i < count; i++) {
            merge(i, lengths[i], rowColumns, rowValues);
        }
    }

    /** Sorts a row by column and adds up what is of one column. */
    private static void merge(int row, int length, int[][] rowColumns, double[][] rowValues) {
        int[] column = rowColumns[row];
        double[] value = rowValues[row];
        int[] order = IntStream.range(0, length).boxed()
                .sorted((a, b) -> Integer.compare(column[a], column[b]))
                .mapToInt(Integer::intValue).toArray();
        int[] newColumns = new int[length];
        double[] newValues = new double[length];
        int kept = 0;
        for (int at : order) {
            if (kept == 0 || newColumns[kept - 1] != column[at]) {
                newColumns[kept++] = column[at];
            }
            newValues[kept - 1] += value[at];
        }
        rowColumns[row] = Arrays.copyOf(newColumns, kept);
        rowValues[row] = Arrays.copyOf(newValues, kept);
    }

    /** Runs `work` on all rows by threads; the sum over ranks of what it returns. */
    private double sum(Rows work) {
        return Samples.sum(new double[] {each(work)})[0];
    }

    private double each(Rows work) {
        double[] parts = new double[threads];
        Samples.parallel(threads, t -> parts[t] = work.of(
                (int) Samples.begin(count, t, threads), (int) Samples.begin(count, t + 1, threads)));
        return Arrays.stream(parts).sum();
    }

    /** to = A from, of the rows here. */
    private void multiply(double[] from, double[] to) {
        if (Samples.size == 1) {
            System.arraycopy(from, 0, whole, 0, rows);
        } else {
            try {
                Collective.allGatherv(from, count, Datatype.DOUBLE, whole, counts, firsts,
                        Datatype.DOUBLE, Comm.WORLD);
            } catch (mpi.MPIException error) {
                throw new IllegalStateException(error);
            }
        }
        each((begin, end) -> {
            for (int i = begin; i < end; i++) {
                double total = 0;
                for (int k = begins[i]; k < begins[i + 1]; k++) {
                    total += values[k] * whole[columns[k]];
                }
                to[i] = total;
            }
            return 0;
        });
    }

    private double dot(double[] a, double[] b) {
        return sum((begin, end) -> {
            double total = 0;
            for (int i = begin; i < end; i++) {
                total += a[i] * b[i];
            }
            return total;
        });
    }

    /** z = about the inverse of A times x. */
    private void solve() {
        Arrays.fill(z, 0);
        System.arraycopy(x, 0, r, 0, count);
        System.arraycopy(x, 0, p, 0, count);
        double rho = dot(r, r);
        for (int step = 0; step < STEPS; step++) {
            multiply(p, q);
            double alpha = rho / dot(p, q);
            double before = rho;
            rho = sum((begin, end) -> {
                double total = 0;
                for (int i = begin; i < end; i++) {
                    z[i] += alpha * p[i];
                    r[i] -= alpha * q[i];
                    total += r[i] * r[i];
                }
                return total;
            });
            double beta = rho / before;
            each((begin, end) -> {
                for (int i = begin; i < end; i++) {
                    p[i] = r[i] + beta * p[i];
                }
                return 0;
            });
        }
        multiply(z, r);
        residual = Math.sqrt(sum((begin, end) -> {
            double total = 0;
            for (int i = begin; i < end; i++) {
                total += (x[i] - r[i]) * (x[i] - r[i]);
            }
            return total;
        }));
    }

    private void iterate(int iterations) {
        Arrays.fill(x, 1);
        for (int iteration = 0; iteration < iterations; iteration++) {
            solve();
            zeta = SHIFTS[index] + 1 / dot(x, z);
            double scale = 1 / Math.sqrt(dot(z, z));
            each((begin, end) -> {
                for (int i = begin; i < end; i++) {
                    x[i] = scale * z[i];
                }
                return 0;
            });
        }
    }

    @Override
    public void warm() {
        iterate(ITERATIONS[index]); // enough for the compiler to have seen it
    }

    @Override
    public void run() {
        iterate(ITERATIONS[index]);
    }

    @Override
    public double departure() {
        boolean solved = !Double.isNaN(residual);
        return solved ? Math.abs((zeta - ZETAS[index]) / ZETAS[index]) / 1e-10
                : Double.POSITIVE_INFINITY;
    }
}
