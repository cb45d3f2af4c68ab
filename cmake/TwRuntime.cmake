# libtilewright_rt, shared and static, and what finds it: a CMake package and a file for pkg-config, both
# of which may be moved with the folder they are in.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# tw_add_runtime(sources...)
function(tw_add_runtime)
  find_package(Threads REQUIRED)
  foreach(kind shared static)
    string(TOUPPER ${kind} type)
    set(name tilewright_rt_${kind})
    add_library(${name} ${type} ${ARGN})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${name} PRIVATE TW_RELEASE="${PROJECT_VERSION}")
    target_compile_options(${name} PRIVATE -O2 -ffunction-sections -fdata-sections)
    target_link_libraries(${name} PRIVATE tw_warnings Threads::Threads ${CMAKE_DL_LIBS})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME tilewright_rt
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
      LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  endforeach()
  # The shared one needs libc and libm only: programs in C link it like any library of theirs.
  target_sources(tilewright_rt_shared PRIVATE OldGlibc.c)
  set(exports ${CMAKE_CURRENT_SOURCE_DIR}/exports.map)
  target_link_options(tilewright_rt_shared PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections
    -Wl,--strip-all -Wl,--version-script=${exports})
  set_target_properties(tilewright_rt_shared PROPERTIES LINK_DEPENDS ${exports}
    SOVERSION ${PROJECT_VERSION_MAJOR})
  tw_install_runtime()
endfunction()

# Into `cmake --install`, component "runtime"; into the package of a wheel; and into build/cpp, where
# `tilewright.get_cmake_dir()` finds it in a checkout.
function(tw_install_runtime)
  set(package ${PROJECT_BINARY_DIR}/package)
  write_basic_package_version_file(${package}/TilewrightConfigVersion.cmake VERSION ${PROJECT_VERSION}
    COMPATIBILITY SameMajorVersion)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/TilewrightConfig.cmake.in ${package}/TilewrightConfig.cmake @ONLY)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/tilewright.pc.in ${package}/tilewright.pc @ONLY)
  set(header ${PROJECT_SOURCE_DIR}/include/tilewright/runtime.h)
  foreach(component runtime wheel)
    set(root .)
    if(component STREQUAL wheel)
      set(root cpp)
    endif()
    install(TARGETS tilewright_rt_shared tilewright_rt_static COMPONENT ${component}
      LIBRARY DESTINATION ${root}/lib ARCHIVE DESTINATION ${root}/lib)
    install(FILES ${header} DESTINATION ${root}/include/tilewright COMPONENT ${component})
    install(FILES ${package}/TilewrightConfig.cmake ${package}/TilewrightConfigVersion.cmake
      DESTINATION ${root}/lib/cmake/Tilewright COMPONENT ${component})
    install(FILES ${package}/tilewright.pc DESTINATION ${root}/lib/pkgconfig COMPONENT ${component})
  endforeach()
  set(stamp ${PROJECT_BINARY_DIR}/cpp/installed)
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --component runtime --prefix ${PROJECT_BINARY_DIR}/cpp
      > ${PROJECT_BINARY_DIR}/package/install.log
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS tilewright_rt_shared tilewright_rt_static ${header} ${package}/TilewrightConfig.cmake
      ${package}/tilewright.pc)
  add_custom_target(tilewright_package ALL DEPENDS ${stamp})
endfunction()
