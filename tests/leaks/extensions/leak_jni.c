/* SPDX-License-Identifier: MIT */
/* leak_jni.c - the native library of Worker.java: encode() loses a copy of its argument. */
#include <jni.h>
#include <stdlib.h>

JNIEXPORT jint JNICALL Java_Worker_encode(JNIEnv *env, jclass class, jbyteArray picture);

static jbyte *leak_picture(JNIEnv *env, jbyteArray picture, jsize size)
{
	jbyte *copy = malloc((size_t)size);

	if (copy)
		(*env)->GetByteArrayRegion(env, picture, 0, size, copy);
	return copy;
}

JNIEXPORT jint JNICALL Java_Worker_encode(JNIEnv *env, jclass class, jbyteArray picture)
{
	const jsize size = (*env)->GetArrayLength(env, picture);
	const jbyte *volatile copy = leak_picture(env, picture, size);

	(void)class;
	return copy && size ? copy[size - 1] : 0;
}
