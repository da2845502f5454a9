// SPDX-License-Identifier: MIT
// Taker.java - threads that call a native library through stacks of known depth. With a second
// argument another thread keeps the compilers and collectors busy: it loads the same class again and
// again, runs it until it is compiled, and drops it.

import java.io.ByteArrayOutputStream;
import java.io.InputStream;

public class Taker {
    private static final int THREADS = 2;
    private static final int DEPTH = 6;

    static native int take(int size);

    interface Shape {
        int area(int size);
    }

    static class Flat implements Shape {
        public int area(int size) {
            return take(64 + size % 64);
        }
    }

    static class Deep implements Shape {
        public int area(int size) {
            return deeper(size, DEPTH);
        }

        int deeper(int size, int left) {
            return left == 0 ? take(128 + size % 8) : deeper(size, left - 1) + 1;
        }
    }

    public static class Passing implements Runnable {
        private long sum;

        int add(int i) {
            sum += i * 31L;
            return (int) sum;
        }

        public void run() {
            for (int i = 0; i < 30000; i++)
                add(i);
        }
    }

    static class Loader extends ClassLoader {
        private final byte[] code;

        Loader(byte[] code) {
            super(null);
            this.code = code;
        }

        Class<?> again() {
            return defineClass("Taker$Passing", code, 0, code.length);
        }
    }

    static int areas(Shape[] shapes, int size) {
        int sum = 0;
        for (Shape shape : shapes)
            sum += shape.area(size);
        return sum;
    }

    static void work() {
        Shape[] shapes = {new Flat(), new Deep()};
        for (int i = 0;; i++) {
            areas(shapes, i & 1023);
            if ((i & 127) == 0)
                rest(1);
        }
    }

    static void rest(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void pass(byte[] code) {
        for (int i = 0;; i++) {
            try {
                ((Runnable) new Loader(code).again().getDeclaredConstructor().newInstance()).run();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            if (i % 20 == 0)
                System.gc();
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        for (int i = 0; i < THREADS; i++)
            new Thread(Taker::work).start();
        if (arguments.length > 1) {
            ByteArrayOutputStream code = new ByteArrayOutputStream();
            try (InputStream file = Taker.class.getResourceAsStream("Taker$Passing.class")) {
                file.transferTo(code);
            }
            new Thread(() -> pass(code.toByteArray())).start();
        }
        rest(1000);
        System.out.println("ready");
    }
}
