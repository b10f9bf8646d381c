/* crypto: lets hand-written assembly of libcrypto run off the end of its input (-DCIPHER or -DDIGEST). */
#include "truth.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define SIZE 0x4000

/* The part of OpenSSL 3's interface that is used: its headers need not be installed. */
typedef const void *(*find_fn)(const char *);
typedef void *(*new_fn)(void);
typedef int (*cipher_init_fn)(void *, const void *, void *, const unsigned char *, const unsigned char *);
typedef int (*cipher_update_fn)(void *, unsigned char *, int *, const unsigned char *, int);
typedef int (*digest_fn)(const void *, unsigned long, unsigned char *, unsigned *, const void *, void *);

static unsigned char output[2 * SIZE];

static void *function(const char *name)
{
	void *library = dlopen("libcrypto.so.3", RTLD_NOW);
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "no %s in libcrypto.so.3\n", name);
		exit(1);
	}
	return found;
}

#ifdef CIPHER
FN static int transform(const unsigned char *input, unsigned long size)
{
	static const unsigned char key[64];
	const void *cipher = ((find_fn)function("EVP_get_cipherbyname"))(CIPHER);
	void *context = ((new_fn)function("EVP_CIPHER_CTX_new"))();
	cipher_init_fn init = (cipher_init_fn)function("EVP_EncryptInit_ex");
	cipher_update_fn update = (cipher_update_fn)function("EVP_EncryptUpdate");
	int done = init(context, cipher, NULL, key, key);

	DIE_IN("libcrypto", done += update(context, output, &done, input, (int)size));
	return done;
}
#else
FN static int transform(const unsigned char *input, unsigned long size)
{
	const void *digest = ((find_fn)function("EVP_get_digestbyname"))(DIGEST);
	digest_fn run = (digest_fn)function("EVP_Digest");
	int done = 0;

	DIE_IN("libcrypto", done += run(input, size, output, NULL, digest, NULL));
	return done;
}
#endif

FN static int encode(const unsigned char *input, unsigned long size)
{
	return CALL(transform(input, size)) + 1;
}

int main(void)
{
	/* Twice as much is asked for as may be read. */
	unsigned char *input = mmap(NULL, 2 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(input, SIZE, PROT_READ | PROT_WRITE);
	return CALL(encode(input, 2 * SIZE));
}
