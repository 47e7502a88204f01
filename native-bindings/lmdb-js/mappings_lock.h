// Lets JavaScript set the lock of unmapping.h by its address. `harden.mjs` includes this file in the package's env.cpp.
extern "C" void mdb_use_mappings_lock(void* lock);

Napi::Value EnvWrap::useMappingsLock(const CallbackInfo& info) {
	if (!info[0].IsBigInt()) return throwError(info.Env(), "The lock of mappings is given by its address.");
	bool lossless = false;
	uint64_t address = info[0].As<Napi::BigInt>().Uint64Value(&lossless);
	if (!lossless || address == 0) return throwError(info.Env(), "The lock of mappings is given by its address.");
	mdb_use_mappings_lock(reinterpret_cast<void*>(address));
	return info.Env().Undefined();
}
