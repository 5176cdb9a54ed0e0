# Script: writes the op specification. Variables: TBLGEN, SOURCE (the
# repository), INCLUDES (;-list), OUTPUT, and CHECK (a file that must equal the
# output; optional).

set(flags)
foreach(directory ${SOURCE} ${INCLUDES})
  list(APPEND flags -I ${directory})
endforeach()

file(READ ${SOURCE}/ir/Introduction.md text)
foreach(entry "lm:LmOps.td" "rt:RtOps.td")
  string(REPLACE ":" ";" entry ${entry})
  list(GET entry 0 dialect)
  list(GET entry 1 file)
  execute_process(
    COMMAND ${TBLGEN} -gen-dialect-doc -dialect ${dialect} ${flags}
            ${SOURCE}/ir/${dialect}/${file}
    OUTPUT_VARIABLE generated
    COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "<!--[^\n]*-->\n\n" "" generated "${generated}")
  string(REPLACE "[TOC]\n\n" "" generated "${generated}")
  string(APPEND text "${generated}")
endforeach()
file(WRITE ${OUTPUT} "${text}")

if(CHECK)
  execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files ${OUTPUT} ${CHECK}
                  RESULT_VARIABLE differs)
  if(differs)
    message(FATAL_ERROR "${CHECK} is stale; build the target quire-docs")
  endif()
endif()
