// SPDX-License-Identifier: MIT
// Taker.java - threads that call a native library through stacks of known depth. With "busy" as second
// argument another thread keeps the compilers and collectors busy: it loads the same class again and
// again, runs it until it is compiled, and drops it. With "brief" it loads classes of many names,
// and each calls the library a few times, with sizes by which it can be recognized.

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

public class Taker {
    private static final int THREADS = 2;
    private static final int DEPTH = 6;

    public static native int take(int size);

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

    // Is renamed to Taker$B0000 .. Taker$B0999.
    public static class Brief implements Runnable {
        public void run() {
            int number = Integer.parseInt(getClass().getName().substring(7));
            for (int i = 0; i < 5; i++)
                Taker.take(1000 + 16 * number);
        }
    }

    static class Loader extends ClassLoader {
        private final byte[] code;

        Loader(ClassLoader parent, byte[] code) {
            super(parent);
            this.code = code;
        }

        Object again(String name) throws ReflectiveOperationException {
            return defineClass(name, code, 0, code.length).getDeclaredConstructor().newInstance();
        }
    }

    static byte[] codeOf(String name) throws IOException {
        ByteArrayOutputStream code = new ByteArrayOutputStream();
        try (InputStream file = Taker.class.getResourceAsStream(name + ".class")) {
            file.transferTo(code);
        }
        return code.toByteArray();
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
                ((Runnable) new Loader(null, code).again("Taker$Passing")).run();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            if (i % 20 == 0)
                System.gc();
        }
    }

    static void comeAndGo(byte[] code) {
        String text = new String(code, StandardCharsets.ISO_8859_1);
        for (int i = 0;; i++) {
            String name = String.format("Taker$B%04d", i % 1000);
            byte[] renamed =
                text.replace("Taker$Brief", name).getBytes(StandardCharsets.ISO_8859_1);
            try {
                ((Runnable) new Loader(Taker.class.getClassLoader(), renamed).again(name)).run();
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            if (i % 400 == 0)
                System.gc();
            if (i % 10 == 0)
                rest(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.load(arguments[0]);
        for (int i = 0; i < THREADS; i++)
            new Thread(Taker::work).start();
        String word = arguments.length > 1 ? arguments[1] : "";
        byte[] code = codeOf(word.equals("brief") ? "Taker$Brief" : "Taker$Passing");
        if (word.equals("busy"))
            new Thread(() -> pass(code)).start();
        if (word.equals("brief"))
            new Thread(() -> comeAndGo(code)).start();
        rest(1000);
        System.out.println("ready");
    }
}
