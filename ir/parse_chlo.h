/* parse_chlo.h - CHLO's operations that expand to several of the table. Threads: thread-compatible. */
#ifndef LZ_IR_PARSE_CHLO_H
#define LZ_IR_PARSE_CHLO_H
#include "ir/parse.h"

lz_status lz_chlo_top_k(lz_parser *p, lz_scope *s, lz_stmt *t);
/* chlo.broadcast_<elementwise operation of two or three operands> */
bool lz_chlo_is_broadcast(lz_slice name);
lz_status lz_chlo_broadcast(lz_parser *p, lz_scope *s, lz_stmt *t);
#endif
