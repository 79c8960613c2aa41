set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# A fused multiply-add rounds once where two operations round twice; without this the digits of a report would depend on the
# compiler. For the same reason there is no -march=native.
add_compile_options(-ffp-contract=off)
# Counting bits is one instruction on every x86-64 processor since 2008; without this flag it is a call.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-mpopcnt)
endif()
add_compile_options("$<$<CONFIG:Debug>:-D_GLIBCXX_ASSERTIONS>")

if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(MUSTER_CCACHE ccache)
  if(MUSTER_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${MUSTER_CCACHE})
  endif()
endif()

# For our own targets only, so that nothing leaks to those who link the libraries.
function(muster_flags target)
  # Aggregates carry default member initialisers, so a field left out is not a field forgotten.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 reports these inside the standard library at -O3 with no fault in the caller.
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds -Wno-maybe-uninitialized
                                             -Wno-dangling-pointer)
  endif()
  if(MUSTER_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(MUSTER_IPO)
    set_target_properties(${target} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
    # Installed archives must stay usable by a linker without the plugin of this compiler.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-ffat-lto-objects>)
  endif()
endfunction()

# The sources below some folders; a folder with no file yet is fine, and so is none at all (add_library wants one source).
function(muster_sources out)
  set(found)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND found ${files})
  endforeach()
  if(NOT found)
    set(empty ${PROJECT_BINARY_DIR}/empty.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "// No source yet.\n")
    list(APPEND found ${empty})
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
