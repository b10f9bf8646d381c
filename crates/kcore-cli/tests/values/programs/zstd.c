/* Compresses with three threads, and stops while they do. */
#include <stdlib.h>
#include "zstd.h"

int main(void)
{
    size_t size = 1 << 24, room = ZSTD_compressBound(size);
    unsigned char *from = malloc(size), *to = malloc(room);
    unsigned state = 12345;
    for (size_t i = 0; i < size; i++) {
        state = state * 1103515245 + 12345;
        from[i] = (state >> 16) % 7 * (i % 61);
    }
    ZSTD_CCtx *context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 7);
    ZSTD_CCtx_setParameter(context, ZSTD_c_nbWorkers, 3);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    ZSTD_inBuffer in = {from, size, 0};
    ZSTD_outBuffer out = {to, room, 0};
    while (in.pos < size / 2)
        ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
    abort();
}
