/**
 * Makes the sources of lmdb-js check what they read: copies the package's sources and adds calls of sound_pages.h where pages
 * leave and enter the file, with some other changes. Each place must be found exactly as often as expected, so that the build
 * fails with a different release of the package instead of leaving out a change.
 */
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const LIBRARY = join('dependencies', 'lmdb', 'libraries', 'liblmdb');

/** Edits of mdb.c: `[text, replacement]`. Each text must occur exactly once. */
const EDITS = [
  // Adds a sum to the meta data, behind the fields that other builds read and write.
  ['\tint64_t\t\tboot_id;\n} MDB_meta;', '\tint64_t\t\tboot_id;\n\tuint64_t\tmm_sum;\n} MDB_meta;'],
  [
    '\nstatic void\nmdb_page_unref(MDB_txn *txn, MDB_page *mp)',
    '\n#include "sound_pages.h"\n#include "unmapping.h"\n\nstatic void\nmdb_page_unref(MDB_txn *txn, MDB_page *mp)',
  ],
  // Checks pages that are read from the map.
  [
    '\t\tp = (MDB_page *)(env->me_map + env->me_psize * pgno);\n\t}\n\ndone:',
    '\t\tp = (MDB_page *)(env->me_map + env->me_psize * pgno);\n\t\tint sound = CheckPage(txn, p, pgno, numpgs);\n\t\tif (sound != MDB_SUCCESS) return sound;\n\t}\n\ndone:',
  ],
  // A cursor that is used again reads its root again, so that it is checked.
  ['if (!mc->mc_pg[0] || mc->mc_pg[0]->mp_pgno != root) {', '{'],
  // Checks that a value has as many pages as its size needs. It has more if it replaced a longer one in the same transaction.
  [
    '\tmemcpy(&ovp, NODEDATA(leaf), sizeof(ovp));\n\t{\n\tif ((rc = MDB_PAGE_GET(',
    '\tmemcpy(&ovp, NODEDATA(leaf), sizeof(ovp));\n\t{\n\tif (ovp.op_pages < OVPAGES(data->mv_size, mc->mc_txn->mt_env->me_psize)) return MDB_CORRUPTED;\n\tif ((rc = MDB_PAGE_GET(',
  ],
  // Seals pages that are written.
  [
    '\t\t\tdp->mp_txnid = txn->mt_txnid;\n\t\t\tpos = pgno * psize;\n\t\t\tsize = psize;\n\t\t\tnump = dl_nump[i];\n\t\t\tmdb_tassert(txn, nump > 0);\n\t\t\tpages_written += nump;\n\t\t\tsize *= nump;\n',
    '\t\t\tdp->mp_txnid = txn->mt_txnid;\n\t\t\tpos = pgno * psize;\n\t\t\tsize = psize;\n\t\t\tnump = dl_nump[i];\n\t\t\tmdb_tassert(txn, nump > 0);\n\t\t\tpages_written += nump;\n\t\t\tsize *= nump;\n\t\t\tSealPage(dp, size);\n',
  ],
  // Checks lists of free pages.
  [
    '\t\tidl = (MDB_ID *) data.mv_data;\n\t\ti = idl[0];\n\t\tif (!mop) {',
    '\t\tidl = (MDB_ID *) data.mv_data;\n\t\tif ((rc = CheckFreeList(txn, idl, data.mv_size)) != MDB_SUCCESS)\n\t\t\tgoto fail;\n\t\ti = idl[0];\n\t\tif (!mop) {',
  ],
  // A list of free pages that cannot be read is an error, and not the end of the lists.
  [
    '\t\t\t\trc = mdb_cursor_get(&m2, &key, NULL, op);\n\t\t\t\top = MDB_NEXT; // now iterate forwards through the txns of free list\n',
    '\t\t\t\trc = mdb_cursor_get(&m2, &key, NULL, op);\n\t\t\t\tif (rc && rc != MDB_NOTFOUND) goto fail;\n\t\t\t\top = MDB_NEXT; // now iterate forwards through the txns of free list\n',
  ],
  // Saving the list: an entry that cannot be read or put is not written to, nor taken for the end of the list.
  [
    '\t\t\tentry_size = ((mop_len / ((env->me_freelist_end - start_written) * maxfree_1pg)) + 1) * maxfree_1pg;\n',
    '\t\t\tentry_size = ((mop_len / ((env->me_freelist_end == start_written ? 1 : env->me_freelist_end - start_written) * maxfree_1pg)) + 1) * maxfree_1pg;\n',
  ],
  [
    "\t\t\t\t\t*(pgno_t*)data.mv_data = 0; // set the size of the entry to zero in case it doesn't get overwritten\n\t\t\t\t\thead_id++;\n\t\t\t\t\tif (rc)\n\t\t\t\t\t\treturn rc;\n",
    "\t\t\t\t\tif (rc)\n\t\t\t\t\t\treturn rc;\n\t\t\t\t\t*(pgno_t*)data.mv_data = 0; // set the size of the entry to zero in case it doesn't get overwritten\n\t\t\t\t\thead_id++;\n",
  ],
  [
    '\t\t\t\trc = mdb_cursor_get(&mc, &key, NULL, MDB_SET_RANGE);\n\t\t\t\tif (rc) break;\n\t\t\t\thead_id =',
    '\t\t\t\trc = mdb_cursor_get(&mc, &key, NULL, MDB_SET_RANGE);\n\t\t\t\tif (rc == MDB_NOTFOUND) break;\n\t\t\t\tif (rc) return rc;\n\t\t\t\thead_id =',
  ],
  [
    '\t\trc = mdb_cursor_get(&mc, &key, &data, MDB_SET_KEY);\n\t\tif (data.mv_size == 0) {',
    '\t\trc = mdb_cursor_get(&mc, &key, &data, MDB_SET_KEY);\n\t\tif (rc && rc != MDB_NOTFOUND) break;\n\t\tif (rc == MDB_SUCCESS && data.mv_size == 0) {',
  ],
  // The meta data restored after a failed write gets a sum, too.
  ['\t\tmeta.mm_txnid = metab.mm_txnid;\n', '\t\tmeta.mm_txnid = metab.mm_txnid;\n\t\tmeta.mm_sum = MetaSum(&meta);\n'],
  // Other builds must refuse files with seals: they would not update the sums, so that this build would take their pages for damaged.
  ['\tmeta->mm_version = MDB_DATA_VERSION;\n', '\tmeta->mm_version = kSealedVersion;\n'],
  ['\t\t\tif ((m->mm_version & 0xffff) != MDB_DATA_VERSION) {', '\t\t\tif (!VersionIsKnown(m)) {'],
  // Seals meta data when it is written, and checks it when a file is opened and when a transaction begins.
  [
    '\tmeta.boot_id = env->boot_id;\n\n\toff = offsetof(MDB_meta, mm_mapsize);',
    '\tmeta.boot_id = env->boot_id;\n\tmeta.mm_magic = MDB_MAGIC;\n\tmeta.mm_version = kSealedVersion;\n\tmeta.mm_address = mp->mm_address;\n\tmeta.mm_sum = MetaSum(&meta);\n\n\toff = 0;',
  ],
  [
    '\tp->mp_pgno = 0;\n\tp->mp_flags = P_META;\n\t*(MDB_meta *)METADATA(p) = *meta;\n\n\tq = (MDB_page *)((char *)p + psize);\n\tq->mp_pgno = 1;\n\tq->mp_flags = P_META;\n\t*(MDB_meta *)METADATA(q) = *meta;\n\n#if',
    '\tmeta->mm_sum = MetaSum(meta);\n\tp->mp_pgno = 0;\n\tp->mp_flags = P_META | kSealed;\n\t*(MDB_meta *)METADATA(p) = *meta;\n\n\tq = (MDB_page *)((char *)p + psize);\n\tq->mp_pgno = 1;\n\tq->mp_flags = P_META | kSealed;\n\t*(MDB_meta *)METADATA(q) = *meta;\n\n#if',
  ],
  [
    '\t\t\t*meta = *m;\n\t\t} else {\n\t\t\tm = METADATA(p);\n\t\t\t*meta = *mdb_pick_meta(env, meta, m);',
    '\t\t\tif (!MetaIsSound(m)) return MDB_CORRUPTED;\n\t\t\t*meta = *m;\n\t\t} else {\n\t\t\tm = METADATA(p);\n\t\t\tif (off == meta->mm_psize && (!F_ISSET(p->mp_flags, P_META) || m->mm_magic != MDB_MAGIC || m->mm_psize != meta->mm_psize || !VersionIsKnown(m) || !MetaIsSound(m))) return MDB_CORRUPTED;\n\t\t\t*meta = *mdb_pick_meta(env, meta, m);',
  ],
  [
    '\t/* Copy the DB info and flags */\n\tmemcpy(txn->mt_dbs, meta->mm_dbs, CORE_DBS * sizeof(MDB_db));',
    '\tMDB_meta sound_meta;\n\ttxnid_t known = (flags & MDB_TXN_RDONLY) ? txn->mt_txnid : txn->mt_txnid - 1;\n\tint meta_rc = CheckMeta(env, meta, known, &sound_meta);\n\tif (meta_rc != MDB_SUCCESS) {\n\t\tmemset(&sound_meta, 0, sizeof(sound_meta));\n\t\tsound_meta.mm_dbs[FREE_DBI].md_root = P_INVALID;\n\t\tsound_meta.mm_dbs[MAIN_DBI].md_root = P_INVALID;\n\t\tsound_meta.mm_last_pg = 1;\n\t}\n\tmeta = &sound_meta;\n\n\t/* Copy the DB info and flags */\n\tmemcpy(txn->mt_dbs, meta->mm_dbs, CORE_DBS * sizeof(MDB_db));',
  ],
  [
    '\t\tDPUTS("environment had fatal error, must shutdown!");\n\t\trc = MDB_PANIC;\n\t} else {\n\t\t/* <lmdb-js change> */',
    '\t\tDPUTS("environment had fatal error, must shutdown!");\n\t\trc = MDB_PANIC;\n\t} else if (meta_rc != MDB_SUCCESS) {\n\t\trc = meta_rc;\n\t} else {\n\t\t/* <lmdb-js change> */',
  ],
  // Puts the table of readers and the mutexes into memory of the process: only one process uses a data directory, as its own lock
  // file ensures, and a damaged lock file must not become a mutex. A file that another process uses is refused.
  [
    '\trsize = (env->me_maxreaders-1) * sizeof(MDB_reader) + sizeof(MDB_txninfo);\n\tif (size < rsize && *excl > 0) {',
    '\trsize = (env->me_maxreaders-1) * sizeof(MDB_reader) + sizeof(MDB_txninfo);\n\tif (*excl <= 0) {\n\t\trc = EAGAIN;\n\t\tgoto fail;\n\t}\n\tsize = 0;\n\tif (*excl > 0) {',
  ],
  ['\t\tif (ftruncate(env->me_lfd, rsize) != 0) goto fail_errno;\n', ''],
  [
    '\t\tvoid *m = mmap(NULL, rsize, PROT_READ|PROT_WRITE, MAP_SHARED,\n\t\t\tenv->me_lfd, 0);',
    '\t\tvoid *m = mmap(NULL, rsize, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS,\n\t\t\t-1, 0);',
  ],
  // The copy of the newest synced meta data is behind the first meta page, where a crash may have cut it off, so it must be checked.
  [
    '\t\tlatest = mdb_pick_meta(env, latest, flushed);\n',
    '\t\tif (MetaIsSound(flushed)) latest = mdb_pick_meta(env, latest, flushed);\n',
  ],
  // Gives 2.5 MiB of each environment, of which a small transaction uses one page, their own mapping. The allocator would place them
  // over memory that others have just freed and could not use again.
  [
    '\t\t\t\t(env->me_dirty_list = calloc(dl_size, sizeof(MDB_ID2)))))\n\t\t\trc = ENOMEM;\n\t\tif (env->me_dirty_list && !(env->me_dirty_nump = malloc(dl_size * sizeof(int))))',
    '\t\t\t\t(env->me_dirty_list = MapArray(MDB_IDL_UM_SIZE * sizeof(MDB_ID2)))))\n\t\t\trc = ENOMEM;\n\t\t(void)dl_size;\n\t\tif (env->me_dirty_list && !(env->me_dirty_nump = MapArray(MDB_IDL_UM_SIZE * sizeof(int))))',
  ],
  [
    '\tfree(env->me_dirty_list);\n\tfree(env->me_dirty_nump);\n',
    '\tUnmapArray(env->me_dirty_list, MDB_IDL_UM_SIZE * sizeof(MDB_ID2));\n\tUnmapArray(env->me_dirty_nump, MDB_IDL_UM_SIZE * sizeof(int));\n',
  ],
  // If a map cannot grow, the old one stays, and the transaction that needs more fails.
  [
    '\t\tMDB_last_map* last_map = malloc(sizeof(MDB_last_map));\n',
    '\t\tconst mdb_size_t old_mapsize = env->me_mapsize;\n\t\tMDB_last_map* last_map = malloc(sizeof(MDB_last_map));\n\t\tif (!last_map) return ENOMEM;\n',
  ],
  [
    '\t\trc = mdb_env_map(env, old);\n\t\tif (rc)\n\t\t\treturn rc;\n\t\t}\n\t}\n\tenv->me_mapsize = size;',
    '\t\trc = mdb_env_map(env, old);\n\t\tif (rc) {\n\t\t\tenv->me_map = last_map->map;\n\t\t\tenv->me_mapsize = old_mapsize;\n\t\t\tenv->me_last_map = last_map->last_map;\n\t\t\tfree(last_map);\n\t\t\treturn rc;\n\t\t}\n\t\t}\n\t}\n\tenv->me_mapsize = size;',
  ],
  [
    '\t\trc = mdb_env_set_mapsize(env, new_size);\n\t/* </lmdb-js addition> */',
    '\t\tif ((rc = mdb_env_set_mapsize(env, new_size)) != MDB_SUCCESS) goto fail;\n\t/* </lmdb-js addition> */',
  ],
  // Lets a commit leave its syncs to another thread.
  ['\nint\nmdb_txn_commit(MDB_txn *txn)\n{', '\n#include "late_sync.h"\n\nint\nmdb_txn_commit(MDB_txn *txn)\n{'],
  [
    '\tif (!F_ISSET(txn->mt_flags, MDB_TXN_NOSYNC) &&\n\t\t(rc = mdb_env_sync0(env, 0, txn->mt_next_pgno)))\n\t\tgoto fail;',
    '\tif (leaves_sync)\n\t\treturn kSyncIsLeft;\n\tif (!F_ISSET(txn->mt_flags, MDB_TXN_NOSYNC) &&\n\t\t(rc = mdb_env_sync0(env, 0, txn->mt_next_pgno)))\n\t\tgoto fail;',
  ],
  // Prevents trimming of pages while a map is unmapped.
  [
    '\tif (env->me_map) {\n\t\tif (MDB_REMAPPING(env->me_flags))\n\t\t\tmunmap(env->me_map, NUM_METAS*env->me_psize);',
    '\tpthread_rwlock_t *unmapping = BeginUnmapping();\n\tif (env->me_map) {\n\t\tif (MDB_REMAPPING(env->me_flags))\n\t\t\tmunmap(env->me_map, NUM_METAS*env->me_psize);',
  ],
  [
    '\t\t\t/*</lmdb-js>*/\n\t\t}\n\t}\n\tif (env->me_mfd != INVALID_HANDLE_VALUE)',
    '\t\t\t/*</lmdb-js>*/\n\t\t}\n\t}\n\tEndUnmapping(unmapping);\n\tif (env->me_mfd != INVALID_HANDLE_VALUE)',
  ],
  // Lets a map with zeros for unreadable pages be mapped again. Stands before the function that grows maps, and behind unmapping.h,
  // whose lock it needs.
  [
    '\nint ESECT\nmdb_env_set_mapsize(MDB_env *env, mdb_size_t size)\n{',
    '\n#include "map_anew.h"\n\nint ESECT\nmdb_env_set_mapsize(MDB_env *env, mdb_size_t size)\n{',
  ],
  // Opens files for reading on a file system that refuses writes, and writes as soon as it accepts them.
  [
    '\tHANDLE\t\tme_mfd;\t\t/**< For writing and syncing the meta pages */\n',
    '\tHANDLE\t\tme_mfd;\t\t/**< For writing and syncing the meta pages */\n\tint\t\tme_reads_only, me_locks_to_read;\n',
  ],
  [
    '\n/** Open and/or initialize the lock region for the environment.\n',
    '\n#include "unwritable_disk.h"\n\n/** Open and/or initialize the lock region for the environment.\n',
  ],
  [
    '\t\trc = mdb_fopen(env, fname, MDB_O_RDWR, mode, &env->me_lfd);\n',
    '\t\trc = OpenWhereItCanBe(env, fname, MDB_O_RDWR, mode, &env->me_lfd);\n',
  ],
  [
    '\trc = mdb_fopen(env, fname, MDB_O_LOCKS, mode, &env->me_lfd);\n',
    '\trc = OpenWhereItCanBe(env, fname, MDB_O_LOCKS, mode, &env->me_lfd);\n',
  ],
  [
    '\tif ((rc = mdb_env_excl_lock(env, excl))) goto fail;\n',
    '\tif ((rc = env->me_reads_only ? LockToRead(env, excl) : mdb_env_excl_lock(env, excl))) goto fail;\n',
  ],
  [
    '\trc = mdb_fopen(env, &fname,\n\t\t(flags & MDB_RDONLY) ? MDB_O_RDONLY : MDB_O_RDWR,\n',
    '\trc = OpenWhereItCanBe(env, &fname,\n\t\t(flags & MDB_RDONLY) ? MDB_O_RDONLY : MDB_O_RDWR,\n',
  ],
  [
    '\t\t\trc = mdb_fopen(env, &fname, MDB_O_META, mode, &env->me_mfd);\n',
    '\t\t\trc = OpenWhereItCanBe(env, &fname, MDB_O_META, mode, &env->me_mfd);\n',
  ],
  [
    '\t\tlock_info.l_type = F_WRLCK;\n\t\tlock_info.l_whence = SEEK_SET;\n\t\tlock_info.l_start = pid;\n',
    '\t\tlock_info.l_type = env->me_locks_to_read ? F_RDLCK : F_WRLCK;\n\t\tlock_info.l_whence = SEEK_SET;\n\t\tlock_info.l_start = pid;\n',
  ],
  [
    '\nstatic int mdb_page_flush(MDB_txn *txn, int keep);\n',
    '\nstatic int mdb_page_flush(MDB_txn *txn, int keep);\nstatic int BecomeWritable(MDB_env *env);\n',
  ],
  ['\tif ((rc = mdb_page_flush(txn, 0)))\n', '\tif ((rc = BecomeWritable(env)) || (rc = mdb_page_flush(txn, 0)))\n'],
  [
    '\tif ((rc = mdb_page_flush(txn, i)) != MDB_SUCCESS) {\n',
    '\tif ((rc = BecomeWritable(txn->mt_env)) || (rc = mdb_page_flush(txn, i)) != MDB_SUCCESS) {\n',
  ],
  // Damage that no check found ends the process with a message instead of a signal.
  [
    '\tfprintf(stderr, "%s\\n", buf);\n\tabort();',
    '\tdprintf(STDERR_FILENO, "A data file is damaged in a way that cannot be gone on from (%s): %s\\n", env->me_path ? env->me_path : "unknown", buf);\n\t_exit(70);',
  ],
];

/** Edits of env.cpp, which binds LMDB to Node.js. */
const BINDING_EDITS = [
  // An environment that could not be opened uses its extension once more before both are deleted. It is closed exactly once and
  // removed from the list of open environments, as nothing of it may be used any more, not even its path.
  [
    '\tif (rc != 0) {\n\t\t#ifdef MDB_OVERLAPPINGSYNC\n\t\tdelete extended_env;\n\t\t#endif\n\t\tif (rc == EXISTING_ENV_FOUND) {\n\t\t\tmdb_env_close(env);',
    '\tif (rc != 0) {\n\t\tif (rc == EXISTING_ENV_FOUND) {\n\t\t\tdelete extended_env;\n\t\t\tmdb_env_close(env);',
  ],
  [
    '\t\t\tthis->jsFlags |= OPEN_FAILED;\n\t\t\tcloseEnv(true);\n',
    '\t\t\tthis->jsFlags |= OPEN_FAILED;\n\t\t\tauto& envs = envTracking->envs;\n\t\t\tfor (auto entry = envs.begin(); entry != envs.end(); ++entry) {\n\t\t\t\tif (entry->env != env) continue;\n\t\t\t\tenvs.erase(entry);\n\t\t\t\tbreak;\n\t\t\t}\n\t\t\tMDB_env* failed_env = env;\n\t\t\tcloseEnv(true);\n\t\t\tdelete extended_env;\n\t\t\tmdb_env_close(failed_env);\n',
  ],
  // A transaction that cannot begin throws an error, instead of leaving an uninitialized pointer.
  [
    '\t\t\t\t\tmdb_txn_begin(env, txn, flags & 0xf0000, &txn);\n',
    '\t\t\t\t\tif (int rc = mdb_txn_begin(env, txn, flags & 0xf0000, &txn)) return failToBegin(info, rc);\n',
  ],
  [
    '\t\t\tmdb_txn_begin(env, nullptr, flags & 0xf0000, &txn);\n',
    '\t\t\tif (int rc = mdb_txn_begin(env, nullptr, flags & 0xf0000, &txn)) return failToBegin(info, rc);\n',
  ],
  [
    'Napi::Value EnvWrap::beginTxn(const CallbackInfo& info) {\n',
    '#include "late_commit.h"\n#include "abandoned_txn.h"\n#include "map_again.h"\n#include "mappings_lock.h"\nNapi::Value EnvWrap::failToBegin(const CallbackInfo& info, int rc) {\n\tif (!this->writeTxn) {\n\t\tif (this->writeWorker)\n\t\t\tthis->writeWorker->UnlockTxn();\n\t\telse\n\t\t\tpthread_mutex_unlock(this->writingLock);\n\t}\n\treturn throwLmdbError(info.Env(), rc);\n}\nNapi::Value EnvWrap::beginTxn(const CallbackInfo& info) {\n',
  ],
  // Adds commits whose syncs run on another thread: until one has ended, its thread begins no other and closes nothing. A thread that
  // is terminated within a transaction releases its locks.
  [
    '\t\t\tpthread_mutex_lock(this->writingLock);\n\t\t\ttxn = nullptr;\n',
    '\t\t\tfinishLateCommit();\n\t\t\tpthread_mutex_lock(this->writingLock);\n\t\t\ttxn = nullptr;\n',
  ],
  [
    '\t\t//fprintf(stderr, "txn_commit\\n");\n\t\trc = mdb_txn_commit(currentTxn->txn);\n\t}\n\tthis->writeTxn = currentTxn->parent;\n',
    '\t\trc = commitOrBegin(info, currentTxn->txn);\n\t}\n\tthis->writeTxn = currentTxn->parent;\n\tif (rc == kSyncIsLeft) {\n\t\tdelete currentTxn;\n\t\treturn Napi::Boolean::New(info.Env(), true);\n\t}\n',
  ],
  [
    '\tif (currentTxn->flags & TXN_ABORTABLE) {\n\t\tmdb_txn_abort(currentTxn->txn);\n',
    '\tif (!currentTxn->parent) lateCallback.Reset();\n\tif (currentTxn->flags & TXN_ABORTABLE) {\n\t\tmdb_txn_abort(currentTxn->txn);\n',
  ],
  [
    'void EnvWrap::closeEnv(bool hasLock) {\n\tif (!env)\n\t\treturn;\n',
    'void EnvWrap::closeEnv(bool hasLock) {\n\tif (!env)\n\t\treturn;\n\tfinishLateCommit();\n\tabandonTxn();\n',
  ],
  [
    '\t\tEnvWrap::InstanceMethod("commitTxn", &EnvWrap::commitTxn),\n',
    '\t\tEnvWrap::InstanceMethod("commitTxn", &EnvWrap::commitTxn),\n\t\tEnvWrap::InstanceMethod("commitLate", &EnvWrap::commitLate),\n\t\tEnvWrap::InstanceMethod("mapAnew", &EnvWrap::mapAnew),\n\t\tEnvWrap::InstanceMethod("useMappingsLock", &EnvWrap::useMappingsLock),\n',
  ],
  [
    '\texports.Set("Env", EnvClass);\n',
    '\texports.Set("Env", EnvClass);\n\texports.Set("mapAnewByFile", Napi::Function::New(env, mapAnewByFile));\n',
  ],
];

const BINDING_HEADER_EDITS = [
  [
    '\tNapi::Value beginTxn(const CallbackInfo& info);\n',
    '\tNapi::Value beginTxn(const CallbackInfo& info);\n\tNapi::Value failToBegin(const CallbackInfo& info, int rc);\n\tNapi::Value commitLate(const CallbackInfo& info);\n\tNapi::Value mapAnew(const CallbackInfo& info);\n\tNapi::Value useMappingsLock(const CallbackInfo& info);\n\tint commitOrBegin(const CallbackInfo& info, MDB_txn* txn);\n\tvoid finishLateCommit();\n\tvoid abandonTxn();\n\tNapi::FunctionReference lateCallback;\n\tstd::shared_ptr<LateCommit> lateCommit;\n',
  ],
  [
    '// Exports misc stuff to the module\n',
    '#include <memory>\nstruct LateCommit;\n\n// Exports misc stuff to the module\n',
  ],
];

/** Enlarges the buffer for the message of an error, which is printed without a bound: three uninitialized numbers make it longer than 100 bytes. */
const ROOM_EDIT = { before: 'last_error = malloc(100);', after: 'last_error = malloc(1000);', places: 12 };

function edit(file, edits) {
  let text = readFileSync(file, 'utf8');
  for (const [before, after] of edits) {
    const places = text.split(before).length - 1;
    if (places !== 1)
      throw new Error(`lmdb-js cannot be made safe: ${places} places in ${file} read ${JSON.stringify(before)}`);
    text = text.replace(before, () => after);
  }
  writeFileSync(file, text);
}

function editEverywhere(file, { before, after, places }) {
  const parts = readFileSync(file, 'utf8').split(before);
  if (parts.length - 1 !== places)
    throw new Error(`lmdb-js cannot be made safe: ${parts.length - 1} places in ${file} read ${before}`);
  writeFileSync(file, parts.join(after));
}

/** Files that the result depends on, besides the package. */
export const HARDENING = [
  'harden.mjs',
  'sound_pages.h',
  'unmapping.h',
  'unwritable_disk.h',
  'late_sync.h',
  'map_anew.h',
  'late_commit.h',
  'abandoned_txn.h',
  'map_again.h',
  'mappings_lock.h',
].map((name) => join(here, name));

/** Writes the package's sources with all edits to the folder `target`, which is replaced. */
export function hardenedSources(packageFolder, target) {
  rmSync(target, { recursive: true, force: true });
  for (const part of ['binding.gyp', 'package.json', 'src', 'dependencies'])
    cpSync(join(packageFolder, part), join(target, part), { recursive: true });
  edit(join(target, LIBRARY, 'mdb.c'), EDITS);
  editEverywhere(join(target, LIBRARY, 'mdb.c'), ROOM_EDIT);
  edit(join(target, 'src', 'env.cpp'), BINDING_EDITS);
  edit(join(target, 'src', 'lmdb-js.h'), BINDING_HEADER_EDITS);
  for (const name of ['sound_pages.h', 'unmapping.h', 'unwritable_disk.h', 'late_sync.h', 'map_anew.h'])
    copyFileSync(join(here, name), join(target, LIBRARY, name));
  for (const name of ['late_commit.h', 'abandoned_txn.h', 'map_again.h', 'mappings_lock.h'])
    copyFileSync(join(here, name), join(target, 'src', name));
}
