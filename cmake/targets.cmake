find_package(ZLIB REQUIRED)
find_package(zstd CONFIG REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(pugixml REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(Threads REQUIRED)
find_library(MUSTER_UTF8PROC utf8proc REQUIRED)
find_package(Boost 1.74 REQUIRED)

# Core: no thread, no clock. Header-only libraries are needed to build it, not to link it, hence BUILD_INTERFACE.
muster_sources(sources src/text src/topology src/workload src/engine src/model src/metrics src/data)
list(FILTER sources EXCLUDE REGEX "/topology/import/|/text/yaml_")
add_library(muster_core STATIC ${sources})
add_library(muster::core ALIAS muster_core)
target_compile_features(muster_core PUBLIC cxx_std_20)
target_include_directories(muster_core PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(muster_core PRIVATE ZLIB::ZLIB zstd::libzstd_shared $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>
                                          $<BUILD_INTERFACE:Boost::headers>)
muster_flags(muster_core)
file(GLOB topologies CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/topologies/*.json)
muster_embed(muster_core topologies ${topologies})
file(GLOB traces CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/traces/*.csv)
muster_embed(muster_core traces ${traces})

# Policies see include/ and each other's parts, never src/: what is built here could as well live in another project.
muster_sources(sources policies)
add_library(muster_policies STATIC ${sources})
add_library(muster::policies ALIAS muster_policies)
target_include_directories(muster_policies PRIVATE ${PROJECT_SOURCE_DIR}/policies)
target_link_libraries(muster_policies PUBLIC muster_core)
muster_flags(muster_policies)

# The importers are in the app, since the core has no use for XML and YAML.
muster_sources(sources src/files src/report src/cli src/topology/import src/reproduce src/explain)
list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
if(NOT sources)
  muster_sources(sources)
endif()
list(APPEND sources ${PROJECT_SOURCE_DIR}/src/text/yaml_config.cpp)
add_library(muster_app STATIC ${sources})
target_include_directories(muster_app PUBLIC ${PROJECT_SOURCE_DIR}/src PRIVATE ${PROJECT_SOURCE_DIR}/policies)
target_compile_definitions(muster_app PRIVATE MUSTER_VERSION="${PROJECT_VERSION}")
target_link_libraries(muster_app PUBLIC muster_core muster_policies PRIVATE nlohmann_json::nlohmann_json CLI11::CLI11 fmt::fmt
                                                                           pugixml::pugixml yaml-cpp ${MUSTER_UTF8PROC}
                                                                           Threads::Threads)
muster_flags(muster_app)

if(EXISTS ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  add_executable(muster ${PROJECT_SOURCE_DIR}/src/cli/main.cpp)
  target_link_libraries(muster PRIVATE muster_app ${CMAKE_DL_LIBS})
  # A policy in a shared library finds all of the public headers in the program that loads it.
  set_target_properties(muster PROPERTIES ENABLE_EXPORTS ON LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,muster_core,muster_policies")
  muster_flags(muster)
else()
  message(STATUS "muster: no src/cli/main.cpp yet, so no muster binary")
endif()
