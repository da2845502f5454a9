// SPDX-License-Identifier: MIT
// Worker.java - a program in Java that answers each line of its standard input with one of its own,
// and passes the line's number of bytes through a native library, which loses them.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.LinkedHashMap;
import java.util.Map;

public class Worker {
    private static final int KEPT = 300;
    private final Map<String, byte[]> recent = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, byte[]> eldest) {
            return size() > KEPT;
        }
    };
    private int requests;

    private static native int encode(byte[] picture);

    private int answer(int size) {
        byte[] picture = new byte[size];
        picture[size - 1] = 1;
        recent.put("picture " + requests++, picture.clone());
        return encode(picture);
    }

    public static void main(String[] arguments) throws IOException {
        System.load(System.getenv("LEAK_JNI"));
        Worker worker = new Worker();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine())
            System.out.println(worker.answer(Integer.parseInt(line)));
    }
}
