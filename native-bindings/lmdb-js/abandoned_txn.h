// Aborts the transaction of a thread that is terminated within it, such as one that does not close in time. `harden.mjs` includes this file in the package's env.cpp.
// JavaScript no longer runs then, and the transaction would keep the writer's locks: the thread would wait for itself forever when it closes
// the environment, and so would all that wait for its end or want to write.
//
// Called by the thread that began the transaction. If lmdb-js writes by itself, its writing thread owns the locks, and nothing is done.
void EnvWrap::abandonTxn() {
	if (!this->writeTxn || this->writeWorker) return;
	lateCallback.Reset();
	while (TxnTracked* begun = this->writeTxn) {
		this->writeTxn = begun->parent;
		// Aborts the transactions nested in it, too.
		if (!begun->parent) mdb_txn_abort(begun->txn);
		delete begun;
	}
	pthread_mutex_unlock(this->writingLock);
}
