// Prevents unmapping while the kernel trims mappings (kernel/common/mapped_memory.h). `harden.mjs` includes this file in the package's mdb.c. The lock is
// the kernel's, once mdb_use_mappings_lock has set it. A process that never trims needs none.
#include <pthread.h>

static pthread_rwlock_t *mappings_lock;

void mdb_use_mappings_lock(void *lock) {
	__atomic_store_n(&mappings_lock, (pthread_rwlock_t *)lock, __ATOMIC_RELEASE);
}

static pthread_rwlock_t *BeginUnmapping(void) {
	pthread_rwlock_t *lock = __atomic_load_n(&mappings_lock, __ATOMIC_ACQUIRE);
	if (lock) pthread_rwlock_rdlock(lock);
	return lock;
}

static void EndUnmapping(pthread_rwlock_t *lock) {
	if (lock) pthread_rwlock_unlock(lock);
}
