// Environments on a file system that refuses to be written (EROFS): opened all the same, to be read, and written again as soon as the file
// system can be. `harden.mjs` puts this file into the package's own mdb.c.
//
// Invariants: such an environment is like any other but for its files, which are open to read (`me_reads_only`). It is in the list of those
// that are open, so that every thread of the process shares it, and its readers are in the table, which is memory of the process: who writes
// later, in whatever thread, sees them. Other processes are kept out as ever by a lock on `lock.mdb`, a shared one, for another needs a file that
// is open to write.
//
// Thread-safety: OpenWhereItCanBe and LockToRead belong to the opening of an environment; BecomeWritable is called with the writer's lock held.

/** As mdb_fopen; what exists and can only be read is opened so. */
static int OpenWhereItCanBe(MDB_env *env, MDB_name *fname, enum mdb_fopen_type which, mdb_mode_t mode, HANDLE *res) {
	int rc = mdb_fopen(env, fname, which, mode, res);
	if (rc != EROFS) return rc;
	// The name has got its ending there.
	const int fd = open(fname->mn_val, O_RDONLY | O_CLOEXEC);
	if (fd == -1) return EROFS;
	*res = fd;
	env->me_reads_only = 1;
	return MDB_SUCCESS;
}

/** As mdb_env_excl_lock: the first to have it, or EAGAIN where another process has a lock of either kind. */
static int LockToRead(MDB_env *env, int *excl) {
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
	if (fcntl(env->me_lfd, F_SETLK, &lock)) return errno == EACCES ? EAGAIN : errno;
	// Asked after it was taken: of two who come together, one at least sees the other.
	lock.l_type = F_WRLCK;
	if (fcntl(env->me_lfd, F_GETLK, &lock)) return errno;
	if (lock.l_type != F_UNLCK) return EAGAIN;
	*excl = 1;
	// The lock file stays as it was opened, also when the environment becomes writable.
	env->me_locks_to_read = 1;
	return MDB_SUCCESS;
}

/** Opens the file again in the place of one that is open to read. ESTALE where another file lies there by now. */
static int ReopenInPlace(MDB_env *env, MDB_name *fname, enum mdb_fopen_type which, HANDLE place) {
	HANDLE fd = INVALID_HANDLE_VALUE;
	int rc = mdb_fopen(env, fname, which, 0, &fd);
	if (rc) return rc;
	struct stat before, now;
	if (fstat(place, &before) || fstat(fd, &now)) rc = errno;
	else if (before.st_dev != now.st_dev || before.st_ino != now.st_ino) rc = ESTALE;
	// In one step: who maps the file meanwhile has one or the other.
	else if (dup3(fd, place, O_CLOEXEC) == -1) rc = errno;
	close(fd);
	return rc;
}

/** Before anything is written: EROFS as long as the file system refuses it. */
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
