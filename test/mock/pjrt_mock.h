/* pjrt_mock.h - how many ways there are in which test/mock/pjrt_mock.c can be wrong: kinds 0, which
 * is right, to KINDS. Read by the Makefile, too. */
#ifndef LZ_TEST_PJRT_MOCK_H
#define LZ_TEST_PJRT_MOCK_H
enum { KINDS = 47 };
#endif
