/* `bloomblock reference FORM`: the help in other forms, made from the tables of the commands.
 *
 *   names        the pages of the manual, one per line
 *   man [PAGE]   a page of the manual in man(7): bloomblock, or "filter create"
 *   bash, zsh, fish   completions
 *
 * The build calls it (cmake/reference.cmake). It is not in the list of commands. */
#ifndef BB_TOOLS_REFERENCE_REFERENCE_H
#define BB_TOOLS_REFERENCE_REFERENCE_H

#include "tools/command/exit_code.h"

/* argv: the words after "reference". */
enum exit_code reference_run(int argc, char **argv);

#endif
