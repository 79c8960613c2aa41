include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(muster_core PROPERTIES EXPORT_NAME core)
set_target_properties(muster_policies PROPERTIES EXPORT_NAME policies)
install(TARGETS muster_core muster_policies EXPORT muster ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET muster)
  install(TARGETS muster RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/include/muster)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/muster DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

set(place ${CMAKE_INSTALL_LIBDIR}/cmake/muster)
install(EXPORT muster NAMESPACE muster:: FILE musterTargets.cmake DESTINATION ${place})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/musterConfig.cmake.in ${PROJECT_BINARY_DIR}/musterConfig.cmake
                              INSTALL_DESTINATION ${place})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/musterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/musterConfig.cmake ${PROJECT_BINARY_DIR}/musterConfigVersion.cmake DESTINATION ${place})
