// Maps the file of an open environment again at the same address. A page that the disk could not read is mapped as zeros until then, for every thread that
// shares the environment (addon/map_faults.cc). `harden.mjs` includes this file in the package's mdb.c.
//
// Invariants: the addresses stay the same, so that concurrent readers continue and see zeros or the contents of the file. If mapping fails, the old mapping
// stays. LMDB only reads its mapping (no MDB_WRITEMAP), so nothing is lost with it.
//
// Thread-safety: any thread, outside of its own transactions. Only write transactions grow, hence move, a map. While there is one, nothing is mapped, and
// mdb_env_map_anew returns EBUSY at once, as a thread that other work waits for must not wait for it.
#include <errno.h>
#include <sys/mman.h>

static int MapInPlace(MDB_env *env, void *at, size_t bytes) {
#ifdef __linux__
	// Maps elsewhere first, as a mapping that fails in place would leave a hole.
	void *anew = mmap(NULL, bytes, PROT_READ, MAP_SHARED, env->me_fd, 0);
	if (anew == MAP_FAILED) return errno;
	if (env->me_flags & MDB_NORDAHEAD) madvise(anew, bytes, MADV_RANDOM);
	if (mremap(anew, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != MAP_FAILED) return MDB_SUCCESS;
	const int rc = errno;
	munmap(anew, bytes);
	return rc;
#else
	(void)env, (void)at, (void)bytes;
	return ENOSYS;
#endif
}

/** Maps the file again, also in the maps from before it grew, which readers may still use. */
int mdb_env_map_anew(MDB_env *env) {
	if (!env->me_map || MDB_REMAPPING(env->me_flags) || (env->me_flags & MDB_WRITEMAP)) return EINVAL;
#ifdef __linux__
	const int locked = env->me_txns ? pthread_mutex_trylock(env->me_wmutex) : 0;
	if (locked) return locked;
#endif
	pthread_rwlock_t *unmapping = BeginUnmapping();
	int rc = MapInPlace(env, env->me_map, env->me_mapsize);
	for (MDB_last_map *each = env->me_last_map; rc == MDB_SUCCESS && each; each = each->last_map)
		rc = MapInPlace(env, each->map, each->mapsize);
	EndUnmapping(unmapping);
#ifdef __linux__
	if (env->me_txns) pthread_mutex_unlock(env->me_wmutex);
#endif
	return rc;
}
