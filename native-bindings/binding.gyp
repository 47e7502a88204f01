{
  "variables": {
    "lmdb_dir": "<!(node -p \"require('path').relative('.', require('path').join(require.resolve('lmdb'), '../..'))\")/dependencies/lmdb-data-v1/libraries/liblmdb",
    "snowball_dir": "<!(node -p \"require('path').relative('.', require('path').dirname(require.resolve('node-snowball/package.json')))\")/src/libstemmer"
  },
  "target_defaults": {
    # Fused multiplications would make the same sum differ from one code path to the next.
    "cflags": ["-fvisibility=hidden", "-ffp-contract=off"],
    "configurations": {
      "Release": {
        "cflags": ["-O3"],
        "defines": ["NDEBUG"],
        "xcode_settings": { "GCC_OPTIMIZATION_LEVEL": "3" }
      }
    }
  },
  "targets": [
    {
      # LMDB as the lmdb package ships it. Hidden symbols: lmdb-js has its own copy in the same process.
      "target_name": "lmdb",
      "type": "static_library",
      "sources": ["<(lmdb_dir)/mdb.c", "<(lmdb_dir)/midl.c"],
      "include_dirs": ["<(lmdb_dir)"],
      "cflags": ["-fPIC", "-w", "-pthread", "-include ../kernel/segment/lmdb_arrays.h"],
      "xcode_settings": { "GCC_SYMBOLS_PRIVATE_EXTERN": "YES", "GCC_WARN_INHIBIT_ALL_WARNINGS": "YES" }
    },
    {
      # Snowball's stemmers: their UTF-8 half.
      "target_name": "snowball",
      "type": "static_library",
      "sources": [
        "<(snowball_dir)/runtime/api.c",
        "<(snowball_dir)/runtime/utilities.c",
        "<(snowball_dir)/libstemmer/libstemmer_utf8.c",
        "<!@(node -p \"require('fs').readdirSync('<(snowball_dir)/src_c').filter((f) => /^stem_UTF_8_.*[.]c$/.test(f)).map((f) => '<(snowball_dir)/src_c/' + f).sort().join(' ')\")"
      ],
      "cflags": ["-fPIC", "-w"],
      "xcode_settings": { "GCC_SYMBOLS_PRIVATE_EXTERN": "YES", "GCC_WARN_INHIBIT_ALL_WARNINGS": "YES" }
    },
    {
      # What the service starts other programs by, so that they end with it.
      "target_name": "end_with_parent",
      "type": "executable",
      "sources": ["launcher/end_with_parent.c"],
      "cflags": ["-Wall", "-Wextra", "-Werror"]
    },
    {
      "target_name": "gannet_kernel",
      "dependencies": ["lmdb", "snowball"],
      # Every source file of the kernel and of the addon.
      "sources": [
        "<!@(node -p \"['kernel', 'addon'].flatMap((d) => require('fs').readdirSync(d, { recursive: true }).map((f) => d + '/' + f)).filter((f) => f.endsWith('.cc')).sort().join(' ')\")"
      ],
      "include_dirs": [
        "<!(node -p \"require('path').relative('.', require('path').dirname(require.resolve('node-addon-api/package.json')))\")",
        "<(lmdb_dir)",
        "<(snowball_dir)/include",
        "kernel"
      ],
      "defines": ["NAPI_VERSION=9", "NAPI_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"],
      "cflags!": ["-fno-exceptions"],
      "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20"],
      "cflags_cc": ["-std=c++20", "-Wall", "-Wextra", "-fexceptions", "-fvisibility-inlines-hidden"],
      # The registry is to live as long as the process: the library is never unloaded, whichever worker loaded it first.
      "conditions": [["OS=='linux'", { "ldflags": ["-Wl,-z,nodelete"] }]],
      "xcode_settings": {
        "CLANG_CXX_LANGUAGE_STANDARD": "c++20",
        "CLANG_CXX_LIBRARY": "libc++",
        "GCC_ENABLE_CPP_EXCEPTIONS": "YES",
        "GCC_SYMBOLS_PRIVATE_EXTERN": "YES",
        "MACOSX_DEPLOYMENT_TARGET": "12.0"
      }
    }
  ]
}
