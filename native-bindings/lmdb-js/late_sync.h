// A commit in three steps, so that the thread that writes need not wait for the disk. `harden.mjs` includes this file in the package's
// mdb.c, before `mdb_txn_commit`, which returns kSyncIsLeft at the beginning of the second step.
//
//   mdb_txn_commit_unsynced   writes the pages without a sync; called by the thread that began the transaction
//   mdb_txn_sync              syncs twice and writes the meta page in between, as LMDB does; called by any one thread
//   mdb_txn_commit_end        ends the commit with the result of the second step; called by the thread that began it
//
// The writer's lock is held from the first step to the last. As always, readers see the transaction once its meta page is on disk.
enum { kSyncIsLeft = -30600 };

static __thread int leaves_sync;

int mdb_txn_commit_unsynced(MDB_txn *txn) {
	leaves_sync = 1;
	int rc = mdb_txn_commit(txn);
	leaves_sync = 0;
	return rc;
}

int mdb_txn_sync(MDB_txn *txn) {
	int rc = mdb_env_sync0(txn->mt_env, 0, txn->mt_next_pgno);
	if (rc != MDB_SUCCESS) return rc;
	txn->mt_dbs[FREE_DBI].md_flags &= ~MDB_OVERLAPPINGSYNC;
	return mdb_env_write_meta(txn);
}

int mdb_txn_commit_end(MDB_txn *txn, int rc) {
	if (rc != MDB_SUCCESS) {
		mdb_txn_abort(txn);
		return rc;
	}
	txn->mt_env->me_synced_txn_id = txn->mt_txnid;
	mdb_txn_end(txn, MDB_END_COMMITTED | MDB_END_UPDATE);
	return MDB_SUCCESS;
}

