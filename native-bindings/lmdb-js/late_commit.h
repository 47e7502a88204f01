// Commits whose syncs run on another thread; see late_sync.h. `harden.mjs` includes this file in the package's env.cpp.
//
// After `env.commitLate(told)`, called within a transaction, the commit writes the pages and returns or throws. Another thread waits for the disk, and then
// `told` is called on the thread of the transaction, with an error if the syncs failed. A commit with nothing to sync calls `told` before
// it returns; a commit that throws does not call it. Until then the transaction holds the writer's locks: this thread waits for it before it
// begins another transaction or closes the environment, and other threads wait as for any transaction.
#include <pthread.h>
#include <memory>

extern "C" {
int mdb_txn_commit_unsynced(MDB_txn* txn);
int mdb_txn_sync(MDB_txn* txn);
int mdb_txn_commit_end(MDB_txn* txn, int rc);
}

namespace {
constexpr int kSyncIsLeft = -30600;
}

struct LateCommit {
	EnvWrap* wrap;
	MDB_txn* txn;
	pthread_t thread;
	// Result of the syncs, then of the commit. The thread of the transaction reads it after it has joined the other thread.
	int rc;
	Napi::ThreadSafeFunction told;
	// Keeps the environment's object alive until `told` was called.
	Napi::ObjectReference self;
};

static Napi::Value errorOf(Napi::Env env, int rc) {
	if (rc == 0) return env.Undefined();
	if (rc < 0 && !(rc < -30700 && rc > -30800)) rc = -rc;
	Error error = Error::New(env, mdb_strerror(rc));
	error.Set("code", Number::New(env, rc));
	return error.Value();
}

static void* waitForDisk(void* data) {
#ifdef __APPLE__
	pthread_setname_np("gannet-commit");
#else
	pthread_setname_np(pthread_self(), "gannet-commit");
#endif
	auto commit = *static_cast<std::shared_ptr<LateCommit>*>(data);
	delete static_cast<std::shared_ptr<LateCommit>*>(data);
	Napi::ThreadSafeFunction told = commit->told;
	commit->rc = mdb_txn_sync(commit->txn);
	auto* given = new std::shared_ptr<LateCommit>(commit);
	napi_status called = told.BlockingCall(given, [](Napi::Env env, Napi::Function callback, std::shared_ptr<LateCommit>* data) {
		std::shared_ptr<LateCommit> done = *data;
		delete data;
		if (env == nullptr) return;
		if (done->wrap->lateCommit == done) done->wrap->finishLateCommit();
		done->self.Reset();
		callback.Call({errorOf(env, done->rc)});
	});
	// The process is ending: the callback is not called, and Node-API has released the function for this thread.
	if (called == napi_closing) {
		delete given;
		return nullptr;
	}
	if (called != napi_ok) delete given;
	told.Release();
	return nullptr;
}

Napi::Value EnvWrap::commitLate(const CallbackInfo& info) {
	if (!this->writeTxn || this->writeTxn->parent) return throwError(info.Env(), "There is no transaction that could be committed late.");
	// The transaction runs within one of the thread in which lmdb-js writes by itself, or behind it, so its commit could not be reported.
	if (this->writeWorker || !(this->writeTxn->flags & TXN_ABORTABLE))
		return throwError(info.Env(), "The transaction cannot be committed late: lmdb-js writes to this environment by itself at the moment.");
	lateCallback = Napi::Persistent(info[0].As<Napi::Function>());
	return info.Env().Undefined();
}

// Commits as `mdb_txn_commit` does, or returns kSyncIsLeft if `finishLateCommit` does the rest.
int EnvWrap::commitOrBegin(const CallbackInfo& info, MDB_txn* txn) {
	if (lateCallback.IsEmpty() || this->writeTxn->parent || this->writeWorker) return mdb_txn_commit(txn);
	Napi::Function callback = lateCallback.Value();
	lateCallback.Reset();
	int rc = mdb_txn_commit_unsynced(txn);
	if (rc == kSyncIsLeft) {
		auto commit = std::make_shared<LateCommit>();
		commit->wrap = this;
		commit->txn = txn;
		commit->told = Napi::ThreadSafeFunction::New(info.Env(), callback, "commit", 0, 1);
		commit->self = Napi::Persistent(info.This().As<Napi::Object>());
		auto* given = new std::shared_ptr<LateCommit>(commit);
		if (pthread_create(&commit->thread, nullptr, waitForDisk, given) == 0) {
			lateCommit = commit;
			return rc;
		}
		// Without another thread, this one waits for the disk.
		delete given;
		commit->told.Release();
		rc = mdb_txn_commit_end(txn, mdb_txn_sync(txn));
	}
	if (rc == 0 || rc == MDB_EMPTY_TXN) callback.Call({});
	return rc;
}

void EnvWrap::finishLateCommit() {
	auto commit = std::move(lateCommit);
	if (!commit) return;
	pthread_join(commit->thread, nullptr);
	commit->rc = mdb_txn_commit_end(commit->txn, commit->rc);
	if (commit->rc == 0) hasWrites = true;
	pthread_mutex_unlock(this->writingLock);
}

