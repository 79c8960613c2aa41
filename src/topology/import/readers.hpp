// The readers of machine descriptions: each lives in one file and is one row of the table in import.cpp.
#pragma once
#include "topology/import/import.hpp"

namespace muster::import {

using Sources = std::span<const ImportSource>;

bool is_nvidia_smi(std::string_view text);
Imported read_nvidia_smi(Sources sources);

bool is_slurm(std::string_view text);
Imported read_slurm(Sources sources);
bool is_nccl(std::string_view text);
Imported read_nccl(Sources sources);
bool is_hwloc(std::string_view text);
Imported read_hwloc(Sources sources);
bool is_openb(std::string_view text);
Imported read_openb(Sources sources);
bool is_lingjun(std::string_view text);
Imported read_lingjun(Sources sources);
bool is_kubernetes(std::string_view text);
Imported read_kubernetes(Sources sources);
bool is_hived(std::string_view text);
Imported read_hived(Sources sources);

/// The number of the kind that is like `kind` but for its name; added, and named after its GPUs, when there is none.
uint32_t kind_of(TopologySpec& spec, NodeKind kind);

/// Throws InputError: "FILE: line N: WHAT".
[[noreturn]] void fail(const ImportSource& at, size_t line, const std::string& what);
[[noreturn]] void fail(const ImportSource& at, const std::string& what);

/// `n` with its noun: "1 pair", "2 pairs".
std::string plural(size_t n, std::string_view noun);

std::string_view trim(std::string_view s);
std::string lower(std::string_view s);
/// Words between blanks (spaces and tabs).
std::vector<std::string_view> words(std::string_view line);
/// Lines without their ends; LF and CRLF.
std::vector<std::string_view> lines(std::string_view text);

}  // namespace muster::import
