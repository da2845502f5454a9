// SPDX-License-Identifier: MIT
// JvmMix.java - a JVM whose compilers and collectors are busy: it loads the same class again and
// again, runs it until it is compiled, and drops it, while other threads call malloc through the
// libraries of the JVM. It checks all results, and speaks as targets/selfcheck.h does.

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

public class JvmMix {
    private static final AtomicLongArray progress = new AtomicLongArray(3);
    private static final AtomicReference<String> wrong = new AtomicReference<>();
    private static volatile boolean isStopping;

    interface Step {
        void take(int number) throws Exception;
    }

    public static class Passing implements Runnable {
        private long sum;

        int add(int i) {
            sum += i * 31L;
            return (int) sum;
        }

        public void run() {
            for (int i = 0; i < 20000; i++)
                add(i);
            if (sum != 31L * 20000 * 19999 / 2)
                throw new IllegalStateException("the sum is " + sum);
        }
    }

    static class Loader extends ClassLoader {
        Loader() {
            super(null);
        }

        Class<?> load(byte[] code) {
            return defineClass("JvmMix$Passing", code, 0, code.length);
        }
    }

    static void pack(int number) throws Exception {
        byte[] plain = new byte[1000 + number % 50000], again = new byte[plain.length];
        Arrays.fill(plain, (byte) number);
        ByteBuffer packed = ByteBuffer.allocateDirect(plain.length + 100);
        Deflater deflater = new Deflater(1);
        Inflater inflater = new Inflater();
        try {
            deflater.setInput(plain);
            deflater.finish();
            deflater.deflate(packed);
            packed.flip();
            inflater.setInput(packed);
            int size = 0;
            while (size < again.length && !inflater.finished())
                size += inflater.inflate(again, size, again.length - size);
        } finally {
            deflater.end();
            inflater.end();
        }
        if (!Arrays.equals(plain, again))
            throw new IllegalStateException("packed and unpacked, it differs");
    }

    static void pass(int number, byte[] code) throws Exception {
        ((Runnable) new Loader().load(code).getDeclaredConstructor().newInstance()).run();
        if (number % 20 == 0)
            System.gc();
    }

    static Thread start(int thread, Step step) {
        Thread started = new Thread(() -> {
            try {
                for (int number = 0; !isStopping; number++) {
                    step.take(number);
                    progress.incrementAndGet(thread);
                }
            } catch (Throwable error) {
                wrong.set(error.toString().replace(' ', '_'));
            }
        });
        started.start();
        return started;
    }

    static byte[] codeOf(String name) throws Exception {
        ByteArrayOutputStream code = new ByteArrayOutputStream();
        try (InputStream file = JvmMix.class.getResourceAsStream(name)) {
            file.transferTo(code);
        }
        return code.toByteArray();
    }

    /* The slowest thread counts: each of them has to go on. */
    static long least() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < progress.length(); i++)
            least = Math.min(least, progress.get(i));
        return least;
    }

    static void answer(String word) {
        String bad = wrong.get();
        System.out.println(bad != null ? word + " bad " + bad : word + " ok progress=" + least());
    }

    public static void main(String[] arguments) throws Exception {
        byte[] code = codeOf("JvmMix$Passing.class");
        Thread[] threads = {start(0, JvmMix::pack), start(1, JvmMix::pack),
                            start(2, number -> pass(number, code))};
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String word = in.readLine(); word != null && !word.equals("end"); word = in.readLine())
            answer(word);
        isStopping = true;
        for (Thread thread : threads)
            thread.join();
        answer("end");
    }
}
