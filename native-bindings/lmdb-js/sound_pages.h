// Adds checksums to the pages of lmdb-js's LMDB, and checks pages before LMDB follows them.
//
// LMDB trusts its file: a damaged page number, offset or size becomes a wild pointer, and a damaged key makes its record
// impossible to find. `harden.mjs` includes this file in the package's mdb.c and calls it where pages leave and enter the file:
//
//   SealPage     gives every page that is written the flag kSealed and a checksum of 16 bits, in a header field that LMDB uses
//                only for pages of fixed-size duplicates (there are none here, and such pages are left alone)
//   CheckPage    checks every page that is read from the map: number, kind and bounds, and the checksum if it is sealed;
//                pages of files from before have no seal, so all their nodes are checked instead
//   MetaSum, CheckMeta, CheckFreeList    do the same for meta pages and for lists of free pages
//   MapArray, UnmapArray    allocate large arrays that are hardly used, such as those of each environment
//
// All functions are plain C over memory of the caller, and may be called by any thread.
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
	// Page flags: sealed, and sealed by a release whose sum could miss a single changed bit. That release keeps the flags that it
	// does not know, so it also wrote the pages that have both flags.
	kSealed = 0x0200,
	kSealedWeakly = 0x0100,
	kKinds = P_BRANCH | P_LEAF | P_OVERFLOW,
	kPadWord = 2,  // number of the 64-bit word of the page that begins with the field for the sum
	kLanes = 16,
	kStripeBytes = 128,
	kMetaReadsMax = 1000,
	// Version of LMDB's format in files with seals, so that other builds refuse them.
	kSealedVersion = 0x4753,
};

// Returns zeroed memory whose pages take room only once they are used, or NULL if there is none.
static void *MapArray(size_t bytes) {
	void *array = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return array == MAP_FAILED ? NULL : array;
}

static void UnmapArray(void *array, size_t bytes) {
	if (array) munmap(array, bytes);
}

// Computes Fletcher's sum in sixteen lanes of 64 bits: `low` sums the words, `high` sums `low` after each stripe, so that the place
// of a word counts, too.
static void AddStripesPlainly(const void *bytes, size_t size, uint64_t *low, uint64_t *high) {
	for (size_t at = 0; at < size; at += kStripeBytes) {
		uint64_t word[kLanes];
		memcpy(word, (const char *)bytes + at, kStripeBytes);
		for (int lane = 0; lane < kLanes; ++lane) high[lane] += low[lane] += word[lane];
	}
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void AddStripesAvx2(const void *bytes, size_t size, uint64_t *low, uint64_t *high) {
	__m256i low0 = _mm256_setzero_si256(), low1 = low0, low2 = low0, low3 = low0;
	__m256i high0 = low0, high1 = low0, high2 = low0, high3 = low0;
	const __m256i *words = (const __m256i *)bytes;
	for (const __m256i *end = words + size / sizeof(__m256i); words < end; words += 4) {
		low0 = _mm256_add_epi64(low0, _mm256_loadu_si256(words));
		low1 = _mm256_add_epi64(low1, _mm256_loadu_si256(words + 1));
		low2 = _mm256_add_epi64(low2, _mm256_loadu_si256(words + 2));
		low3 = _mm256_add_epi64(low3, _mm256_loadu_si256(words + 3));
		high0 = _mm256_add_epi64(high0, low0);
		high1 = _mm256_add_epi64(high1, low1);
		high2 = _mm256_add_epi64(high2, low2);
		high3 = _mm256_add_epi64(high3, low3);
	}
	__m256i *lows = (__m256i *)low, *highs = (__m256i *)high;
	_mm256_storeu_si256(lows, low0), _mm256_storeu_si256(lows + 1, low1);
	_mm256_storeu_si256(lows + 2, low2), _mm256_storeu_si256(lows + 3, low3);
	_mm256_storeu_si256(highs, high0), _mm256_storeu_si256(highs + 1, high1);
	_mm256_storeu_si256(highs + 2, high2), _mm256_storeu_si256(highs + 3, high3);
}
#endif

static void AddPage(const void *page, size_t size, uint64_t *low, uint64_t *high) {
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		AddStripesAvx2(page, size, low, high);
	else
#endif
		AddStripesPlainly(page, size, low, high);
	// Computes the sum as if its field were zero.
	const uint64_t pad = ((const MDB_page *)page)->mp_pad;
	low[kPadWord] -= pad;
	high[kPadWord] -= pad * (size / kStripeBytes);
}

static uint64_t Fold(uint64_t word, uint64_t odd) {
	word *= odd;
	return word ^ word >> 32;
}

// Returns the checksum of `size` bytes, a multiple of kStripeBytes. A changed word changes `low` and `high` of its lane by multiples of
// the same power of two. Each is folded before they are added, or the changes of a high bit would cancel each other.
static uint16_t PageSum(const void *page, size_t size) {
	uint64_t low[kLanes] = {0}, high[kLanes] = {0};
	AddPage(page, size, low, high);
	uint64_t sum = size, odd = 0x9E3779B97F4A7C15u;
	for (int lane = 0; lane < kLanes; ++lane) {
		sum += Fold(low[lane], odd) * 0xC2B2AE3D27D4EB4Fu + Fold(high[lane], odd ^ 0xD1B54A32D192ED02u) * 0x9E3779B185EBCA87u;
		odd += 0x5851F42D4C957F2Cu;
	}
	sum = (sum ^ sum >> 32) * 0xFF51AFD7ED558CCDu;
	return (uint16_t)(sum >> 48);
}

// Returns the checksum of pages with kSealedWeakly.
static uint16_t WeakPageSum(const void *page, size_t size) {
	uint64_t low[kLanes] = {0}, high[kLanes] = {0};
	AddPage(page, size, low, high);
	uint64_t sum = size, odd = 0x9E3779B97F4A7C15u;
	for (int lane = 0; lane < kLanes; ++lane) {
		sum += low[lane] * odd + high[lane] * (odd ^ 0xD1B54A32D192ED02u);
		odd += 0x5851F42D4C957F2Cu;
	}
	sum = (sum ^ sum >> 32) * 0xFF51AFD7ED558CCDu;
	return (uint16_t)(sum >> 48);
}

_Static_assert(offsetof(MDB_page, mp_pad) == kPadWord * sizeof(uint64_t), "where the sum stands");

// Seals a page of `size` bytes before it is written.
static void SealPage(MDB_page *page, size_t size) {
	if (page->mp_flags & (P_LEAF2 | P_SUBP | P_META)) return;
	page->mp_flags = (page->mp_flags & ~kSealedWeakly) | kSealed;
	page->mp_pad = PageSum(page, size);
}

// True if every node lies inside the page. `upper` and the offsets count from the end of the header.
static int NodesAreSound(const MDB_page *page, unsigned psize, unsigned nodes) {
	const unsigned end = psize - PAGEHDRSZ;
	for (unsigned i = 0; i < nodes; ++i) {
		const unsigned offset = page->mp_ptrs[i];
		if (offset < page->mp_upper || offset + NODESIZE > end || (offset & 1)) return 0;
		const MDB_node *node = NODEPTR(page, i);
		size_t need = offset + NODESIZE + node->mn_ksize;
		if (page->mp_flags & P_LEAF) {
			if (node->mn_flags & ~(F_BIGDATA | F_SUBDATA | F_DUPDATA)) return 0;
			if ((node->mn_flags & F_SUBDATA) && NODEDSZ(node) != sizeof(MDB_db)) return 0;
			need += (node->mn_flags & F_BIGDATA) ? sizeof(MDB_ovpage) : NODEDSZ(node);
		}
		if (need > end) return 0;
	}
	return 1;
}

static int PageIsSound(const MDB_txn *txn, const MDB_page *page, pgno_t pgno, pgno_t pages) {
	const unsigned psize = txn->mt_env->me_psize;
	const unsigned flags = page->mp_flags, kind = flags & kKinds;
	if (page->mp_pgno != pgno || (flags & (P_META | P_SUBP))) return 0;
	if (kind == P_OVERFLOW) {
		if (page->mp_pages != pages) return 0;
	} else {
		const unsigned end = psize - PAGEHDRSZ, lower = page->mp_lower, upper = page->mp_upper;
		if (pages != 1 || (kind != P_BRANCH && kind != P_LEAF)) return 0;
		if ((lower & 1) || lower > upper || upper > end) return 0;
		if (kind == P_BRANCH && lower < 2 * sizeof(indx_t)) return 0;
		if (!(flags & (kSealed | kSealedWeakly | P_LEAF2)) && !NodesAreSound(page, psize, lower / sizeof(indx_t))) return 0;
	}
	const size_t size = (size_t)pages * psize;
	if (flags & kSealedWeakly) return page->mp_pad == WeakPageSum(page, size);
	return !(flags & kSealed) || page->mp_pad == PageSum(page, size);
}

// Returns MDB_CORRUPTED and ends all other use of the transaction, unless LMDB can follow the page.
static int CheckPage(MDB_txn *txn, const MDB_page *page, pgno_t pgno, mdb_size_t pages) {
	const MDB_env *env = txn->mt_env;
	if (pgno >= 2 && pages >= 1 && pages <= txn->mt_next_pgno && pgno <= txn->mt_next_pgno - pages &&
			(pgno + pages) <= env->me_mapsize / env->me_psize && PageIsSound(txn, page, pgno, pages))
		return MDB_SUCCESS;
	txn->mt_flags |= MDB_TXN_ERROR;
	return MDB_CORRUPTED;
}

static uint64_t MetaSum(const MDB_meta *meta) {
	uint64_t sum = 0x2545F4914F6CDD1Du, word;
	for (size_t at = offsetof(MDB_meta, mm_mapsize); at + sizeof(word) <= offsetof(MDB_meta, mm_sum); at += sizeof(word)) {
		memcpy(&word, (const char *)meta + at, sizeof(word));
		sum = (sum ^ word) * 0x9FB21C651E98DF25u;
		sum ^= sum >> 29;
	}
	return sum | 1;
}

static int RootIsSound(pgno_t root, pgno_t last) { return root == P_INVALID || (root >= 2 && root <= last); }

static int VersionIsKnown(const MDB_meta *meta) {
	const uint32_t version = meta->mm_version & 0xffff;
	return version == MDB_DATA_VERSION || version == kSealedVersion;
}

// True if the meta data has a valid sum, or none as other builds write it, and values within bounds.
static int MetaIsSound(const MDB_meta *meta) {
	const uint32_t psize = meta->mm_psize;
	const pgno_t last = meta->mm_last_pg;
	if (psize < 512 || psize > MAX_PAGESIZE || (psize & (psize - 1))) return 0;
	if (meta->mm_flags & MDB_FIXEDMAP) return 0;
	if (last < 1 || last > ((pgno_t)1 << 47) / psize || meta->mm_mapsize > (mdb_size_t)1 << 47) return 0;
	if (!RootIsSound(meta->mm_dbs[FREE_DBI].md_root, last) || !RootIsSound(meta->mm_dbs[MAIN_DBI].md_root, last)) return 0;
	return (meta->mm_version & 0xffff) != kSealedVersion || meta->mm_sum == MetaSum(meta);
}

// Copies the meta data that a transaction begins with, and reads it again if it is not sound, as another commit may be writing it. Returns EIO
// if it is older than `known`, the last commit that this process wrote there: a write based on it would revert later commits. Disks do not
// return such a page, but network or user-space file systems can.
static int CheckMeta(const MDB_env *env, const MDB_meta *meta, txnid_t known, MDB_meta *copy) {
	int rc = MDB_CORRUPTED;
	for (int reads = 0; reads < kMetaReadsMax; ++reads) {
		memcpy(copy, meta, sizeof(*copy));
		if (copy->mm_psize == env->me_psize && VersionIsKnown(copy) && MetaIsSound(copy)) {
			if (copy->mm_txnid >= known) return MDB_SUCCESS;
			rc = EIO;
		} else {
			rc = MDB_CORRUPTED;
		}
		sched_yield();
	}
	return rc;
}

// Checks a list of free pages. A negative number is the length of a run and precedes its first page.
static int CheckFreeList(const MDB_txn *txn, const MDB_ID *list, size_t bytes) {
	if (bytes < sizeof(MDB_ID) || list[0] > bytes / sizeof(MDB_ID) - 1) return MDB_CORRUPTED;
	for (MDB_ID i = 1; i <= list[0]; ++i) {
		pgno_t pages = 1;
		if (list[i] == 0) continue;
		if ((intptr_t)list[i] < 0) {
			pages = 0 - list[i];
			if (++i > list[0]) return MDB_CORRUPTED;
		}
		if (list[i] < 2 || pages > txn->mt_next_pgno || list[i] > txn->mt_next_pgno - pages) return MDB_CORRUPTED;
	}
	return MDB_SUCCESS;
}

// Callers get every failure as a code and report it. Standard error belongs to the service's log.
#undef fprintf
#define fprintf(...) ((void)0)
