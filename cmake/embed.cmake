# muster_embed(target symbol files...): compiles text files into `target` as muster::embedded::<symbol>, a span of (stem, text) in the
# order given; declared in src/data/embedded.hpp. Run as a script (cmake -P) it writes the source.
if(CMAKE_SCRIPT_MODE_FILE)
  string(REPLACE "|" ";" FILES "${FILES}")
  set(rows)
  set(i 0)
  foreach(file IN LISTS FILES)
    cmake_path(GET file STEM LAST_ONLY stem)
    file(READ "${file}" text)
    string(APPEND texts "constexpr std::string_view k${i} = R\"~embed~(${text})~embed~\";\n")
    string(APPEND rows "    {\"${stem}\", k${i}},\n")
    math(EXPR i "${i} + 1")
  endforeach()
  # An array has at least one element; the span leaves the last one out.
  string(CONCAT source "// Written by cmake/embed.cmake.\n#include \"data/embedded.hpp\"\n\nnamespace muster::embedded {\nnamespace {\n\n"
         "${texts}\nconstexpr File kFiles[] = {\n${rows}    {\"\", \"\"},\n};\n\n}  // namespace\n\n"
         "std::span<const File> ${SYMBOL}() { return std::span<const File>(kFiles).first(${i}); }\n\n}  // namespace muster::embedded\n")
  file(WRITE "${OUT}" "${source}")
  return()
endif()

set(MUSTER_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(muster_embed target symbol)
  set(out ${PROJECT_BINARY_DIR}/embedded/${symbol}.cpp)
  list(JOIN ARGN "|" files)  # a list would fall apart on the command line
  add_custom_command(OUTPUT ${out} DEPENDS ${MUSTER_EMBED_SCRIPT} ${ARGN} VERBATIM
                     COMMAND ${CMAKE_COMMAND} "-DOUT=${out}" "-DSYMBOL=${symbol}" "-DFILES=${files}" -P ${MUSTER_EMBED_SCRIPT})
  target_sources(${target} PRIVATE ${out})
endfunction()
