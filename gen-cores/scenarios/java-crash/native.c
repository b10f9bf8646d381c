/* What Java calls in java-crash. */
#include <jni.h>
#include <stdlib.h>

__attribute__((noinline)) static void deep(volatile long *at)
{
	*at = 7;
	__asm__ volatile("" ::: "memory");
}

JNIEXPORT void JNICALL Java_Crash_fault(JNIEnv *env, jclass class, jlong at)
{
	deep((volatile long *)at);
	__asm__ volatile("" ::: "memory");
}

JNIEXPORT void JNICALL Java_Crash_giveUp(JNIEnv *env, jclass class, jstring why)
{
	jclass thrown = (*env)->FindClass(env, "java/lang/IllegalStateException");
	(*env)->ThrowNew(env, thrown, (*env)->GetStringUTFChars(env, why, NULL));
	abort();
}
