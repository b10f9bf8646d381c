/* What is not opaque of OpenSSL's types. */
#include <string.h>
#include <openssl/asn1.h>
#include <openssl/x509.h>
#include "told.h"

ASN1_STRING *name;
ASN1_TIME *until;
ASN1_INTEGER *serial, *below;

int main(void)
{
	name = ASN1_STRING_new();
	ASN1_STRING_set(name, "kcore test", -1);
	until = ASN1_TIME_set(NULL, 1709210096);
	serial = ASN1_INTEGER_new();
	ASN1_INTEGER_set_int64(serial, 0x012345);
	told("*name", "\"%.*s\"", ASN1_STRING_length(name), (const char *)ASN1_STRING_get0_data(name));
	told("*until", "\"%s\"", (const char *)ASN1_STRING_get0_data(until));
	below = ASN1_INTEGER_new();
	ASN1_INTEGER_set_int64(below, -300);
	told("*serial", "{negative: 0, bytes: [%d, %d, %d]}", serial->data[0], serial->data[1], serial->data[2]);
	told("*below", "{negative: 1, bytes: [%d, %d]}", below->data[0], below->data[1]);
	told_all();
}
