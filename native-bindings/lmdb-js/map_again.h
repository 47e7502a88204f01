// Exposes map_anew.h to JavaScript. `harden.mjs` includes this file in the package's env.cpp.
#include <sys/stat.h>
extern "C" int mdb_env_map_anew(MDB_env* env);

Napi::Value EnvWrap::mapAnew(const CallbackInfo& info) {
	if (!env) return throwError(info.Env(), "The environment is closed.");
	finishLateCommit();
	pthread_mutex_lock(this->writingLock);
	const int rc = mdb_env_map_anew(env);
	pthread_mutex_unlock(this->writingLock);
	return rc == 0 ? info.Env().Undefined() : throwLmdbError(info.Env(), rc);
}

// Maps again an environment that other threads have open, identified by its file. Does not open it, as the zeros may make that fail, and opening waits for a
// thread that writes to it. Returns true if it is open.
static Napi::Value mapAnewByFile(const CallbackInfo& info) {
	std::string path = info[0].As<Napi::String>().Utf8Value();
	struct stat file;
	if (stat(path.c_str(), &file) != 0) return throwLmdbError(info.Env(), errno);
	pthread_mutex_lock(EnvWrap::envTracking->envsLock);
	bool isOpen = false;
	int rc = 0;
	for (const SharedEnv& shared : EnvWrap::envTracking->envs) {
		if (shared.dev != file.st_dev || shared.inode != file.st_ino) continue;
		isOpen = true;
		rc = mdb_env_map_anew(shared.env);
		break;
	}
	pthread_mutex_unlock(EnvWrap::envTracking->envsLock);
	return rc == 0 ? Napi::Boolean::New(info.Env(), isOpen) : throwLmdbError(info.Env(), rc);
}
