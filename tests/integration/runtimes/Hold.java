// SPDX-License-Identifier: MIT
// Holds 94 MB of its own heap, and 12 MB outside of it.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public class Hold {
	static final List<Object> kept = new ArrayList<>();

	public static void main(String[] arguments) throws Exception {
		BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
		System.out.println("ready");
		in.readLine();
		for (int i = 0; i < 96; i++) {
			byte[] own = new byte[1000 << 10];
			Arrays.fill(own, (byte)1);
			kept.add(own);
			kept.add(ByteBuffer.allocateDirect(125 << 10));
		}
		System.out.println("done");
		in.readLine();
	}
}
