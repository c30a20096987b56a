//! What headers of the system give, which are not read: the names that programs ask for before they make them up
//! themselves, as in `#ifndef BYTE_ORDER`.

/// A macro and its value.
type Macro = (&'static str, &'static str);

/// The macros that headers define, by these headers.
const MACROS: &[(&[&str], &[Macro])] = &[
    (&["assert.h", "cassert"], &[("assert", "")]),
    (&["errno.h", "cerrno"], &[("errno", ""), ("EINTR", "4"), ("EAGAIN", "11"), ("ENOMEM", "12")]),
    (
        &["endian.h", "sys/types.h", "sys/param.h", "stdlib.h", "cstdlib", "machine/endian.h"],
        &[
            ("LITTLE_ENDIAN", "1234"),
            ("BIG_ENDIAN", "4321"),
            ("PDP_ENDIAN", "3412"),
            ("BYTE_ORDER", if cfg!(target_endian = "big") { "4321" } else { "1234" }),
        ],
    ),
    (&["sys/param.h"], &[("MIN", ""), ("MAX", ""), ("MAXPATHLEN", "4096"), ("howmany", ""), ("roundup", "")]),
    (
        &["stddef.h", "cstddef", "stdio.h", "cstdio", "stdlib.h", "cstdlib", "string.h", "cstring", "time.h"],
        &[("NULL", "0")],
    ),
    (&["stddef.h", "cstddef"], &[("offsetof", "")]),
    (&["stdbool.h"], &[("bool", "_Bool"), ("true", "1"), ("false", "0")]),
    (&["stdarg.h", "cstdarg"], &[("va_start", ""), ("va_arg", ""), ("va_end", ""), ("va_copy", "")]),
    (
        &["limits.h", "climits"],
        &[
            ("CHAR_BIT", "8"),
            ("SHRT_MAX", "32767"),
            ("USHRT_MAX", "65535"),
            ("INT_MIN", "(-2147483647 - 1)"),
            ("INT_MAX", "2147483647"),
            ("UINT_MAX", "4294967295"),
            ("LONG_MIN", "(-9223372036854775807 - 1)"),
            ("LONG_MAX", "9223372036854775807"),
            ("LLONG_MAX", "9223372036854775807"),
            ("PATH_MAX", "4096"),
            ("IOV_MAX", "1024"),
        ],
    ),
    (
        &["stdint.h", "cstdint", "inttypes.h"],
        &[
            ("INT8_MAX", "127"),
            ("UINT8_MAX", "255"),
            ("INT16_MAX", "32767"),
            ("UINT16_MAX", "65535"),
            ("INT32_MIN", "(-2147483647 - 1)"),
            ("INT32_MAX", "2147483647"),
            ("UINT32_MAX", "4294967295"),
            ("INT64_MIN", "(-9223372036854775807 - 1)"),
            ("INT64_MAX", "9223372036854775807"),
            ("INTPTR_MAX", "9223372036854775807"),
        ],
    ),
    (&["inttypes.h", "cinttypes"], &[("PRId64", ""), ("PRIu64", ""), ("PRIx64", ""), ("PRIu32", "")]),
    (
        &["math.h", "cmath"],
        &[("INFINITY", ""), ("NAN", ""), ("M_PI", ""), ("HUGE_VAL", ""), ("isnan", ""), ("isinf", "")],
    ),
    (&["unistd.h"], &[("STDIN_FILENO", "0"), ("STDOUT_FILENO", "1"), ("STDERR_FILENO", "2")]),
    (&["fcntl.h"], &[("O_CLOEXEC", "524288"), ("O_NONBLOCK", "2048"), ("O_APPEND", "1024")]),
    (
        &["time.h", "ctime"],
        &[("CLOCK_REALTIME", "0"), ("CLOCK_MONOTONIC", "1"), ("CLOCKS_PER_SEC", "1000000")],
    ),
    (&["sys/socket.h"], &[("MSG_NOSIGNAL", "16384"), ("MSG_DONTWAIT", "64"), ("SOMAXCONN", "4096")]),
    (&["sys/mman.h"], &[("MAP_ANON", "32"), ("MAP_ANONYMOUS", "32"), ("MAP_FAILED", "")]),
];

/// Types, likewise.
const TYPES: &[(&[&str], &[&str])] = &[
    (&["sys/time.h", "time.h", "sys/select.h"], &["timeval", "timespec"]),
    (&["time.h", "ctime"], &["tm"]),
    (&["sys/time.h"], &["timezone", "itimerval"]),
    (&["sys/stat.h"], &["stat"]),
    (
        &["sys/socket.h", "netinet/in.h", "arpa/inet.h"],
        &["sockaddr", "sockaddr_in", "sockaddr_in6", "sockaddr_storage"],
    ),
    (&["sys/un.h"], &["sockaddr_un"]),
    (&["netdb.h"], &["addrinfo", "hostent"]),
    (&["sys/uio.h"], &["iovec"]),
    (&["signal.h"], &["sigaction"]),
    (&["poll.h"], &["pollfd"]),
    (&["dirent.h"], &["dirent"]),
    (&["sys/types.h", "unistd.h", "stdio.h", "sys/socket.h"], &["ssize_t", "off_t", "pid_t", "mode_t"]),
    (
        &["stdint.h", "inttypes.h", "cstdint"],
        &[
            "int8_t",
            "int16_t",
            "int32_t",
            "int64_t",
            "uint8_t",
            "uint16_t",
            "uint32_t",
            "uint64_t",
            "intptr_t",
            "uintptr_t",
        ],
    ),
];

/// The macros that a header of the system defines, with their values.
pub(super) fn macros_of(header: &str) -> impl Iterator<Item = Macro> {
    let known = MACROS.iter().filter(move |(headers, _)| headers.contains(&header));
    known.flat_map(|(_, macros)| macros.iter().copied())
}

/// Whether a name is one of those that headers of the system give.
pub(crate) fn is_known(name: &str) -> bool {
    MACROS.iter().any(|(_, macros)| macros.iter().any(|(known, _)| *known == name))
        || TYPES.iter().any(|(_, types)| types.contains(&name))
}

/// Whether a header of the system gives this name.
pub(crate) fn gives(header: &str, name: &str) -> bool {
    macros_of(header).any(|(known, _)| known == name)
        || TYPES.iter().any(|(headers, types)| headers.contains(&header) && types.contains(&name))
}
