# Writes the manual pages and the completions into FOLDER: man1/, man3/, man5/, bash/, zsh/, fish/.
#
#   cmake -DCOMMAND=... -DFOLDER=... -DPAGES=... -DVERSION=... -P write_reference.cmake
function(reference ret)
    execute_process(COMMAND ${COMMAND} reference ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    set(${ret} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
reference(names names)
string(REGEX REPLACE "\n$" "" names "${names}")
string(REPLACE "\n" ";" names "${names}")

reference(page man)
file(WRITE ${FOLDER}/man1/bloomblock.1 "${page}")
foreach(name IN LISTS names)
    reference(page man ${name})
    string(REPLACE " " "-" file ${name})
    file(WRITE ${FOLDER}/man1/bloomblock-${file}.1 "${page}")
endforeach()

# The pages about the library and the files have the same version and date.
string(REGEX MATCH "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]" DATE "${page}")
foreach(section 3 5)
    configure_file(${PAGES}/bloomblock.${section} ${FOLDER}/man${section}/bloomblock.${section} @ONLY)
endforeach()

foreach(shell bash zsh fish)
    reference(${shell} ${shell})
endforeach()
file(WRITE ${FOLDER}/bash/bloomblock "${bash}")
file(WRITE ${FOLDER}/zsh/_bloomblock "${zsh}")
file(WRITE ${FOLDER}/fish/bloomblock.fish "${fish}")
file(TOUCH ${FOLDER}/complete)
