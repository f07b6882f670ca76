/* Cuts text into tokens (skip/condition/token.h), many bytes at a time.
 *
 * 64 bytes at a time become a word, which has a bit for each byte of a token. The edges of its runs
 * of bits are where tokens begin and end. Every form finds the same tokens.
 *
 * Pure functions; any thread.
 */
#ifndef BB_SKIP_MEMBER_TOKENIZER_H
#define BB_SKIP_MEMBER_TOKENIZER_H

#include "bloomblock/cpu.h"
#include "skip/condition/token.h"
#include "skip/member/edge_list.h"

/* ASCII letters in lower case, other bytes unchanged. */
static inline uint8_t bb_token_lower(uint8_t byte)
{
    return (uint8_t)(byte - 'A') < 26 ? byte | 0x20 : byte;
}

/* The same for the eight bytes of a word. */
static inline uint64_t bb_token_lower_word(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t low = word & ones * 0x7f;
    uint64_t from_a = low + ones * (0x80 - 'A');
    uint64_t after_z = low + ones * (0x80 - 'Z' - 1);
    uint64_t is_upper = from_a & ~after_z & ~word & ones * 0x80;
    return word | is_upper >> 2;
}

#define BB_TOKENIZER_PIECE_SIZE (16 * 1024)
#define BB_TOKENIZER_STEP       64

/* Finds the edges of runs: begin, end, begin, end and so on. A run that reaches the end of the
 * bytes ends there. size: at most BB_TOKENIZER_PIECE_SIZE. ret_edges: space for size + 2 +
 * BB_EDGE_LIST_SLACK. Returns the number of edges, which is even. */
typedef size_t bb_token_edges(const uint8_t *data, size_t size, uint32_t *ret_edges);

/* For a processor that has the instruction set. */
bb_token_edges *bb_tokenizer_edges_of(enum bb_cpu cpu);

#if BB_CPU_X86
bb_token_edges bb_tokenizer_edges_avx2;
bb_token_edges bb_tokenizer_edges_avx512;
#endif

#endif
