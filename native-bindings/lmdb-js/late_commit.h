// Commits whose syncs another thread waits for; see late_sync.h. `harden.mjs` puts this file into the package's own env.cpp.
//
// Called within a transaction, `env.commitLate(told)` has its commit write the pages and return, or throws: a thread waits for the disk, and `told` is
// called on the thread of the transaction when that is done, with an error where it failed. A commit with nothing to wait for calls it before
// it returns; one that throws does not. Until then the transaction holds the writer's locks: whoever begins another one on this thread, or
// closes the environment, waits for it, and other threads wait as for any transaction.
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
	// Of the syncs, then of the commit; for the thread of the transaction once the other one has been joined.
	int rc;
	Napi::ThreadSafeFunction told;
	// Keeps the environment's object until it was told.
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
	// The process ends: the callback is not called, and Node-API has released the function for this thread.
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
	// It is within a transaction of the thread that lmdb-js writes by itself in, or follows it: nobody would be told of its commit.
	if (this->writeWorker || !(this->writeTxn->flags & TXN_ABORTABLE))
		return throwError(info.Env(), "The transaction cannot be committed late: lmdb-js writes to this environment by itself at the moment.");
	lateCallback = Napi::Persistent(info[0].As<Napi::Function>());
	return info.Env().Undefined();
}

// As `mdb_txn_commit`; kSyncIsLeft where `finishLateCommit` does the rest.
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
		// Without a thread it waits itself.
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

