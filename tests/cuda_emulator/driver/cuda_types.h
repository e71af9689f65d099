// What torch and CUDA's libraries say to each other: types and numbers of the runtime, the driver and cuBLAS 13,
// written down here by hand so that no header of NVIDIA's is needed. Only what torch uses is here.
#pragma once
#include <cstddef>
#include <cstdint>

#define API extern "C" __attribute__((visibility("default")))

enum Error : int {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONFIGURATION = 9,
    INVALID_DEVICE = 101,
    ILLEGAL_STATE = 401,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    DEVICE_ASSERT = 710,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
};

enum MemoryKind : int { MEMORY_UNREGISTERED = 0, MEMORY_HOST = 1, MEMORY_DEVICE = 2 };

constexpr unsigned STREAM_NON_BLOCKING = 1, EVENT_BLOCKING_SYNC = 1;
constexpr int FUNCTION_MAX_DYNAMIC_SHARED = 8;

struct Dim3 {
    unsigned x, y, z;
    double count() const { return double(x) * y * z; }
};

struct DeviceProperties {  // cudaDeviceProp
    char name[256], uuid[16], luid[8];
    unsigned luid_mask;
    size_t total_memory, shared_per_block;
    int registers_per_block, warp_size;
    size_t pitch;
    int threads_per_block, threads_dim[3], grid_size[3];
    size_t constant_memory;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int multiprocessors, integrated, can_map_host;
    int textures[25];  // maxTexture1D … maxTextureCubemapLayered
    int surfaces[14];  // maxSurface1D … maxSurfaceCubemapLayered
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified_addressing;
    int memory_bus_width, l2_bytes, persisting_l2_bytes, threads_per_multiprocessor;
    int stream_priorities, global_l1, local_l1;
    size_t shared_per_multiprocessor;
    int registers_per_multiprocessor, managed_memory, multi_gpu_board, multi_gpu_group, host_atomics;
    int pageable_access, concurrent_managed, preemption, host_pointer_registered, cooperative_launch;
    size_t shared_per_block_optin;
    int pageable_page_tables, direct_managed, blocks_per_multiprocessor, access_policy_window;
    size_t reserved_shared_per_block;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, gpu_direct;
    unsigned gpu_direct_flush;
    int gpu_direct_ordering;
    unsigned pool_handle_types;
    int deferred_arrays, ipc_events, cluster_launch, unified_functions, numa_config, numa_id, mps, host_numa_id;
    unsigned pci_device_id, pci_subsystem_id;
    int host_numa_ipc, reserved[56];
};
static_assert(sizeof(DeviceProperties) == 1008, "CUDA 13's cudaDeviceProp");

struct PointerAttributes {  // cudaPointerAttributes
    int kind, device;
    void *device_pointer, *host_pointer;
    long reserved[8];
};

struct FunctionAttributes {  // cudaFuncAttributes
    size_t shared, constant, local;
    int threads_per_block, registers, ptx_version, binary_version, cache_mode_ca, max_dynamic_shared, carveout;
    int cluster_dim_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_scheduling;
    int non_portable_clusters, reserved[16];
};

struct LaunchConfig {  // cudaLaunchConfig_t
    Dim3 grid, block;
    size_t dynamic_shared;
    void *stream, *attributes;
    unsigned attribute_count;
};

enum DataType : int { F32 = 0, F64 = 1, F16 = 2, I8 = 3, I32 = 10, BF16 = 14, F8_E4M3 = 28, F8_E5M2 = 29 };
enum BlasStatus : int { BLAS_OK = 0, BLAS_NOT_INITIALIZED = 1, BLAS_FAILED = 13, BLAS_NOT_SUPPORTED = 15 };

constexpr int MATMUL_TRANSPOSE_A = 3, MATMUL_EPILOGUE = 7;  // cublasLtMatmulDescAttributes_t

struct Heuristic {  // cublasLtMatmulHeuristicResult_t
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int state;
    float waves;
    int reserved[4];
};
