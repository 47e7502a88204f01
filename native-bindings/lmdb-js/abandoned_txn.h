// A thread that is ended in the middle of a transaction, as one is that does not close in time; `harden.mjs` puts this file into the package's own env.cpp.
// JavaScript has no say any more then, and its transaction would keep the writer's locks: the thread would wait for itself when it closes
// the environment, and for good, and so would whoever waits for its end or wants to write.
//
// Called by the thread that began it. Where lmdb-js writes by itself, the locks belong to the thread that does.
void EnvWrap::abandonTxn() {
	if (!this->writeTxn || this->writeWorker) return;
	lateCallback.Reset();
	while (TxnTracked* begun = this->writeTxn) {
		this->writeTxn = begun->parent;
		// With those within it.
		if (!begun->parent) mdb_txn_abort(begun->txn);
		delete begun;
	}
	pthread_mutex_unlock(this->writingLock);
}
