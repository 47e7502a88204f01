// The file of an open environment, mapped anew in its place: where the disk could not read a page of the mapping, zeros stand behind it until then, for every
// thread that shares the environment (addon/map_faults.cc). `harden.mjs` puts this file into the package's own mdb.c.
//
// Invariants: the addresses stay, so that whoever reads meanwhile goes on, and sees zeros or what is in the file; a mapping that cannot be had leaves the old one
// as it was. What LMDB maps is only read (no MDB_WRITEMAP), so nothing is lost with it.
//
// Thread-safety: any thread, outside of its own transactions. A map grows, hence moves, within transactions that write: while there is one, nothing is mapped, and the
// answer is EBUSY at once, because a thread that other work waits for does not wait for it.
#include <errno.h>
#include <sys/mman.h>

static int MapInPlace(MDB_env *env, void *at, size_t bytes) {
#ifdef __linux__
	// First elsewhere: a mapping that fails in its place would leave a hole there.
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

/** Those of before it grew as well, which readers may still be in. */
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
