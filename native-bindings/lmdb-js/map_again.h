// map_anew.h for JavaScript; `harden.mjs` puts this file into the package's own env.cpp.
extern "C" int mdb_env_map_anew(MDB_env* env);

Napi::Value EnvWrap::mapAnew(const CallbackInfo& info) {
	if (!env) return throwError(info.Env(), "The environment is closed.");
	finishLateCommit();
	pthread_mutex_lock(this->writingLock);
	const int rc = mdb_env_map_anew(env);
	pthread_mutex_unlock(this->writingLock);
	return rc == 0 ? info.Env().Undefined() : throwLmdbError(info.Env(), rc);
}
