// Opens environments on a file system that refuses writes (EROFS) for reading, and lets them be written as soon as the file system
// can be written. `harden.mjs` includes this file in the package's mdb.c.
//
// Invariants: such an environment is like any other, except that its files are open for reading (`me_reads_only`). It is in the list of open
// environments, so that every thread of the process shares it, and its readers are in the table, which is memory of the process, so that any
// thread that writes later sees them. As always, a lock on `lock.mdb` keeps other processes out. The lock is shared, as an exclusive one needs
// a file that is open for writing.
//
// Thread-safety: OpenWhereItCanBe and LockToRead belong to the opening of an environment; BecomeWritable is called with the writer's lock held.

/** Opens a file as mdb_fopen does, or for reading if it exists and the file system cannot be written. */
static int OpenWhereItCanBe(MDB_env *env, MDB_name *fname, enum mdb_fopen_type which, mdb_mode_t mode, HANDLE *res) {
	int rc = mdb_fopen(env, fname, which, mode, res);
	if (rc != EROFS) return rc;
	// mdb_fopen has completed the name.
	const int fd = open(fname->mn_val, O_RDONLY | O_CLOEXEC);
	if (fd == -1) return EROFS;
	*res = fd;
	env->me_reads_only = 1;
	return MDB_SUCCESS;
}

/** Locks as mdb_env_excl_lock does, but with a shared lock. Returns EAGAIN if another process has a lock of either kind. */
static int LockToRead(MDB_env *env, int *excl) {
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	if (fcntl(env->me_lfd, F_SETLK, &lock)) return errno == EACCES ? EAGAIN : errno;
	// Looks for other locks after it has its own, so that of two concurrent processes at least one sees the other.
	lock.l_type = F_WRLCK;
	if (fcntl(env->me_lfd, F_GETLK, &lock)) return errno;
	if (lock.l_type != F_UNLCK) return EAGAIN;
	*excl = 1;
	// The lock file stays open for reading when the environment becomes writable.
	env->me_locks_to_read = 1;
	return MDB_SUCCESS;
}

/** Opens the file for writing in place of the descriptor `place`. Returns ESTALE if its path leads to another file by now. */
static int ReopenInPlace(MDB_env *env, MDB_name *fname, enum mdb_fopen_type which, HANDLE place) {
	HANDLE fd = INVALID_HANDLE_VALUE;
	int rc = mdb_fopen(env, fname, which, 0, &fd);
	if (rc) return rc;
	struct stat before, now;
	if (fstat(place, &before) || fstat(fd, &now)) rc = errno;
	else if (before.st_dev != now.st_dev || before.st_ino != now.st_ino) rc = ESTALE;
	// Replaces the descriptor atomically, as other threads may map the file.
	else if (dup3(fd, place, O_CLOEXEC) == -1) rc = errno;
	close(fd);
	return rc;
}

/** Makes the environment writable before a write. Returns EROFS as long as the file system refuses writes. */
static int BecomeWritable(MDB_env *env) {
	if (!env->me_reads_only) return MDB_SUCCESS;
	MDB_name fname;
	int rc = mdb_fname_init(env->me_path, env->me_flags, &fname);
	if (rc) return rc;
	rc = ReopenInPlace(env, &fname, MDB_O_META, env->me_mfd);
	if (rc == MDB_SUCCESS) rc = ReopenInPlace(env, &fname, MDB_O_RDWR, env->me_fd);
	mdb_fname_destroy(fname);
	if (rc == MDB_SUCCESS) env->me_reads_only = 0;
	return rc;
}
