/* CMake's files of exported targets (NAME-targets-CONFIG.cmake, as install(EXPORT) writes them). Each
 * names the files of its targets, and find_package() ends the whole configuration when one of them is
 * not there, whether anybody wants that target or not. Packages that lack one library of several are
 * therefore of no use: Debian's hipSOLVER 7.2.4 exports roc::hipsolver_fortran, and no package has
 * libhipsolver_fortran.so.1.0.
 */
#pragma once

#include "base/str.h"

/* text without the checks of files that are not there; in the place of each, CMake says what is missing.
 * The targets stay as they are, with their locations: what links one of those fails as it must, by the
 * file's name, before ninja starts anything. prefix: what ${_IMPORT_PREFIX} will be. text itself
 * when nothing is missing, and when all files are: then CMake's own complaint is the best one. */
struct str exports_without_missing(struct arena *a, struct str text, struct str prefix);
