/* main.c - the program that each project of test/consumers builds: a product, compiled for the CPU.
 */
#include <lazuli/lazuli.h>
#include <stdio.h>

int main(void)
{
    lz_tensor *x = lz_from_host(LZ_F32, LZ_SHAPE(2, 2), (float[]){1, 2, 3, 4});
    lz_tensor *sum = lz_sum(lz_matmul(x, x));
    printf("%s %g\n", lz_version(), lz_item(sum)); /* 7 + 10 + 15 + 22 */
    return lz_status_of(sum) != LZ_OK;
}
