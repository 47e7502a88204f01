/* A file system over a folder that fails on command, as the kernel itself does: reading a bad page of a mapped file
   raises SIGBUS here, as over a bad sector. Arguments: the folder, and where to mount it. It reads commands from its
   input, one a line, and answers each with a line:
     fail CALLS CODE PART   makes CALLS (letters, see `struct rule`) fail with the errno CODE for paths that contain PART
                            (CODE -1: they get no answer before `heal`)
     heal                   ends all failures
     forget                 drops the kernel's cache of open files, so that they are read again
     freeze                 stops all writes and syncs, which get no answer from now on
     cut SEED TENTHS        simulates a power failure: what was not synced is lost, except for about TENTHS tenths of it,
                            drawn by the seed; waiting calls fail. Only if mounted with a third argument: the folder for
                            what may come back
   The end of the input unmounts it. Needs libfuse 3 and the right to mount. */
#define FUSE_USE_VERSION 31
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { RULES_MAX = 16, PATH_MAX_HERE = 4096, OPEN_PATHS_MAX = 4096, HELD = -1 };

/* r: read, w: write, s: sync a file, d: sync a folder, o: open to write, create, rename or remove, n: open to read,
   l: hard links, m: change modes and owners, t: look at (stat), u: set times. */
struct rule {
  char calls[16];
  int code;
  char part[256];
};

static struct rule rules[RULES_MAX];
static int rule_count;
static char open_paths[OPEN_PATHS_MAX][256];
static int open_path_count;
static pthread_mutex_t rules_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *root;

static pthread_cond_t healed = PTHREAD_COND_INITIALIZER;

static int is_tracked, is_frozen, is_cut;
static pthread_cond_t thawed = PTHREAD_COND_INITIALIZER;
/* By descriptor: true if each write is on disk when it is answered. */
static char is_written_through[1 << 16];

/* Requires the lock. */
static int code_of(char call, const char *path) {
  int code = 0;
  for (int i = 0; i < rule_count; ++i) {
    if (strchr(rules[i].calls, call) != NULL && strstr(path, rules[i].part) != NULL) code = rules[i].code;
  }
  return code;
}

static int fails(char call, const char *path) {
  pthread_mutex_lock(&rules_lock);
  int code = code_of(call, path);
  for (; code == HELD; code = code_of(call, path)) pthread_cond_wait(&healed, &rules_lock);
  pthread_mutex_unlock(&rules_lock);
  return code;
}

static int is_failing(char call, const char *path) {
  pthread_mutex_lock(&rules_lock);
  const int code = code_of(call, path);
  pthread_mutex_unlock(&rules_lock);
  return code != 0;
}

static void remember(const char *path) {
  pthread_mutex_lock(&rules_lock);
  int known = 0;
  for (int i = 0; i < open_path_count; ++i) known = known || strcmp(open_paths[i], path) == 0;
  if (!known && open_path_count < OPEN_PATHS_MAX && strlen(path) < sizeof open_paths[0]) {
    strcpy(open_paths[open_path_count++], path);
  }
  pthread_mutex_unlock(&rules_lock);
}

#define FAIL_IF(call, path)                \
  do {                                     \
    const int code = fails((call), (path)); \
    if (code != 0) return -code;           \
  } while (0)
/* Prevents other changes until `END_CHANGE`. */
#define BEGIN_CHANGE()                                                    \
  do {                                                                    \
    pthread_mutex_lock(&unsynced_lock);                                   \
    while (is_frozen && !is_cut) pthread_cond_wait(&thawed, &unsynced_lock); \
    if (is_cut) {                                                         \
      pthread_mutex_unlock(&unsynced_lock);                               \
      return -EIO;                                                        \
    }                                                                     \
  } while (0)
#define END_CHANGE() pthread_mutex_unlock(&unsynced_lock)
#define FULL(full, path) \
  char full[PATH_MAX_HERE]; \
  snprintf(full, sizeof full, "%s%s", root, path)
#define RESULT(call) ((call) == -1 ? -errno : 0)
/* Finds the name of an open file or folder, which may have been renamed since, or have no name any more: it is read
   and written as before. */
#define NAME_OF(path, file)        \
  char name_now[PATH_MAX_HERE];    \
  if ((file) != NULL) (path) = path_of_open((int)(file)->fh, name_now)

/* Returns the path below `root`. */
static const char *path_of_open(int opened, char *into) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", opened);
  const ssize_t length = readlink(link, into, PATH_MAX_HERE - 1);
  into[length < 0 ? 0 : length] = '\0';
  const size_t above = strlen(root);
  return strncmp(into, root, above) == 0 ? into + above : into;
}

static void *begin(struct fuse_conn_info *connection, struct fuse_config *config) {
  /* Otherwise each look at a file whose time has changed would drop its pages, even those whose bytes are still on
     their way here: a process that has mapped it would read the old content, and keep reading it after the bytes
     have arrived. No disk does so. */
  connection->want &= ~FUSE_CAP_AUTO_INVAL_DATA;
  connection->want |= connection->capable & FUSE_CAP_EXPLICIT_INVAL_DATA;
  config->use_ino = 1;
  config->kernel_cache = 1;
  config->hard_remove = 1;
  /* An open file that has lost its name is not stale. */
  config->nullpath_ok = 1;
  /* Whether a call fails is decided anew for each call. */
  config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
  return NULL;
}

static int get_attributes(const char *path, struct stat *found, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('t', path);
  if (file != NULL) return RESULT(fstat((int)file->fh, found));
  FULL(full, path);
  return RESULT(lstat(full, found));
}
static int read_link(const char *path, char *target, size_t size) {
  FULL(full, path);
  const ssize_t length = readlink(full, target, size - 1);
  if (length < 0) return -errno;
  target[length] = '\0';
  return 0;
}
/* Ends the change. */
static int added(const char *full, int result) {
  if (is_tracked && result == 0) note_added(full);
  END_CHANGE();
  return result;
}
static int make_folder(const char *path, mode_t mode) {
  FAIL_IF('o', path);
  FULL(full, path);
  BEGIN_CHANGE();
  return added(full, RESULT(mkdir(full, mode)));
}
static int make_node(const char *path, mode_t mode, dev_t device) {
  FAIL_IF('o', path);
  FULL(full, path);
  BEGIN_CHANGE();
  return added(full, RESULT(mknod(full, mode, device)));
}
static int remove_file(const char *path) {
  FAIL_IF('o', path);
  FULL(full, path);
  BEGIN_CHANGE();
  const int result = is_tracked ? remove_tracked(full, 0) : RESULT(unlink(full));
  END_CHANGE();
  return result;
}
static int remove_folder(const char *path) {
  FAIL_IF('o', path);
  FULL(full, path);
  BEGIN_CHANGE();
  const int result = is_tracked ? remove_tracked(full, 1) : RESULT(rmdir(full));
  END_CHANGE();
  return result;
}
static int make_symbolic_link(const char *target, const char *path) {
  FAIL_IF('l', path);
  FULL(full, path);
  BEGIN_CHANGE();
  return added(full, RESULT(symlink(target, full)));
}
static int rename_file(const char *from, const char *to, unsigned flags) {
  FAIL_IF('o', to);
  FULL(full_from, from);
  FULL(full_to, to);
  BEGIN_CHANGE();
  const int result = is_tracked ? rename_tracked(full_from, full_to, flags)
                                : RESULT(renameat2(AT_FDCWD, full_from, AT_FDCWD, full_to, flags));
  END_CHANGE();
  if (result == 0) remember(to);
  return result;
}
static int make_link(const char *from, const char *to) {
  FAIL_IF('l', to);
  FULL(full_from, from);
  FULL(full_to, to);
  BEGIN_CHANGE();
  return added(full_to, RESULT(link(full_from, full_to)));
}
static int change_mode(const char *path, mode_t mode, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('m', path);
  if (file != NULL) return RESULT(fchmod((int)file->fh, mode));
  FULL(full, path);
  return RESULT(chmod(full, mode));
}
static int change_owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('m', path);
  if (file != NULL) return RESULT(fchown((int)file->fh, user, group));
  FULL(full, path);
  return RESULT(lchown(full, user, group));
}
static int cut(const char *path, off_t size, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('w', path);
  FULL(full, path);
  const int opened = file != NULL ? (int)file->fh : open(full, O_RDWR);
  if (opened < 0) return -errno;
  BEGIN_CHANGE();
  if (is_tracked) keep_before_truncating(opened, size);
  const int result = RESULT(ftruncate(opened, size));
  END_CHANGE();
  if (file == NULL) close(opened);
  return result;
}
static int open_with(const char *path, int flags, mode_t mode, struct fuse_file_info *file) {
  FULL(full, path);
  const int is_new = is_tracked && (flags & O_CREAT) != 0 && access(full, F_OK) != 0;
  /* Pages that are partly written are read first. */
  const int both = (flags & ~O_ACCMODE & ~O_APPEND & ~O_DIRECT) | O_RDWR;
  int opened = open(full, both, mode);
  if (opened < 0 && (flags & O_ACCMODE) == O_RDONLY) opened = open(full, flags & ~O_DIRECT, mode);
  if (opened < 0) return -errno;
  file->fh = (uint64_t)opened;
  if (is_tracked) is_written_through[opened] = (flags & (O_DSYNC | O_SYNC)) != 0;
  if (is_new) note_added(full);
  remember(path);
  return 0;
}
static int open_file(const char *path, struct fuse_file_info *file) {
  FAIL_IF((file->flags & O_ACCMODE) == O_RDONLY ? 'n' : 'o', path);
  return open_with(path, file->flags & ~(O_CREAT | O_EXCL), 0, file);
}
static int make_file(const char *path, mode_t mode, struct fuse_file_info *file) {
  FAIL_IF('o', path);
  BEGIN_CHANGE();
  const int result = open_with(path, file->flags | O_CREAT, mode, file);
  END_CHANGE();
  return result;
}
static int read_bytes(const char *path, char *bytes, size_t size, off_t at, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('r', path);
  const ssize_t got = pread((int)file->fh, bytes, size, at);
  return got < 0 ? -errno : (int)got;
}
static int write_bytes(const char *path, const char *bytes, size_t size, off_t at, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('w', path);
  const int opened = (int)file->fh;
  BEGIN_CHANGE();
  if (is_tracked && is_written_through[opened] && !is_failing('s', path)) note_written_through(opened, bytes, size, at);
  else if (is_tracked) keep_range(opened, at, (off_t)size);
  const ssize_t written = pwrite(opened, bytes, size, at);
  const int result = written < 0 ? -errno : (int)written;
  END_CHANGE();
  return result;
}
static int room(const char *path, struct statvfs *found) {
  FULL(full, path);
  return RESULT(statvfs(full, found));
}
static int close_file(const char *path, struct fuse_file_info *file) {
  (void)path;
  close((int)file->fh);
  return 0;
}
static int sync_file(const char *path, int only_data, struct fuse_file_info *file) {
  (void)only_data;
  NAME_OF(path, file);
  const int opened = (int)file->fh;
  const int code = fails('s', path);
  BEGIN_CHANGE();
  /* A sync that follows a write-through write does not sync anything else that waits. */
  if (is_tracked && !is_written_through[opened]) note_synced(opened, code != 0);
  END_CHANGE();
  return -code;
}
static int sync_folder(const char *path, int only_data, struct fuse_file_info *file) {
  (void)only_data;
  NAME_OF(path, file);
  FAIL_IF('d', path);
  FULL(full, path);
  BEGIN_CHANGE();
  if (is_tracked) note_folder_synced(full);
  END_CHANGE();
  return 0;
}
static int allocate(const char *path, int mode, off_t at, off_t size, struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('w', path);
  BEGIN_CHANGE();
  if (is_tracked) keep_range((int)file->fh, at, size);
  const int result = fallocate((int)file->fh, mode, at, size) == -1 ? -errno : 0;
  END_CHANGE();
  return result;
}
static int open_folder(const char *path, struct fuse_file_info *file) {
  FULL(full, path);
  const int opened = open(full, O_RDONLY | O_DIRECTORY);
  if (opened < 0) return -errno;
  file->fh = (uint64_t)opened;
  return 0;
}
static int read_folder(const char *path, void *names, fuse_fill_dir_t add, off_t at, struct fuse_file_info *file,
                       enum fuse_readdir_flags flags) {
  (void)at;
  (void)flags;
  NAME_OF(path, file);
  FAIL_IF('n', path);
  const int again = openat((int)file->fh, ".", O_RDONLY | O_DIRECTORY);
  DIR *folder = again < 0 ? NULL : fdopendir(again);
  if (folder == NULL) return -errno;
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    struct stat kind = {.st_ino = entry->d_ino, .st_mode = (mode_t)entry->d_type << 12};
    if (add(names, entry->d_name, &kind, 0, 0) != 0) break;
  }
  closedir(folder);
  return 0;
}
static int change_times(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
  NAME_OF(path, file);
  FAIL_IF('u', path);
  if (file != NULL) return RESULT(futimens((int)file->fh, times));
  FULL(full, path);
  return RESULT(utimensat(AT_FDCWD, full, times, AT_SYMLINK_NOFOLLOW));
}

static const struct fuse_operations operations = {
    .init = begin,
    .getattr = get_attributes,
    .readlink = read_link,
    .mkdir = make_folder,
    .mknod = make_node,
    .unlink = remove_file,
    .rmdir = remove_folder,
    .symlink = make_symbolic_link,
    .rename = rename_file,
    .link = make_link,
    .chmod = change_mode,
    .chown = change_owner,
    .truncate = cut,
    .open = open_file,
    .create = make_file,
    .read = read_bytes,
    .write = write_bytes,
    .statfs = room,
    .release = close_file,
    .fsync = sync_file,
    .fsyncdir = sync_folder,
    .fallocate = allocate,
    .opendir = open_folder,
    .readdir = read_folder,
    .releasedir = close_file,
    .utimens = change_times,
};

static void forget(struct fuse *fuse) {
  pthread_mutex_lock(&rules_lock);
  const int count = open_path_count;
  pthread_mutex_unlock(&rules_lock);
  for (int i = 0; i < count; ++i) fuse_invalidate_path(fuse, open_paths[i]);
}

static void add_rule(const char *line) {
  struct rule rule = {.code = 0};
  if (sscanf(line, "fail %15s %d %255s", rule.calls, &rule.code, rule.part) != 3 || rule_count == RULES_MAX) exit(2);
  rules[rule_count++] = rule;
}

static void cut_power(const char *line) {
  unsigned long long seed;
  unsigned kept_tenths;
  pthread_mutex_lock(&unsynced_lock);
  is_frozen = 1;
  if (line[0] == 'c') {
    if (!is_tracked || sscanf(line, "cut %llu %u", &seed, &kept_tenths) != 2) exit(2);
    is_cut = 1;
    lose_unsynced(seed, kept_tenths);
    pthread_cond_broadcast(&thawed);
  }
  pthread_mutex_unlock(&unsynced_lock);
}

static void *obey(void *given) {
  struct fuse *fuse = given;
  char line[1024];
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strncmp(line, "forget", 6) == 0) {
      forget(fuse);
    } else if (strncmp(line, "freeze", 6) == 0 || strncmp(line, "cut", 3) == 0) {
      cut_power(line);
    } else {
      pthread_mutex_lock(&rules_lock);
      if (strncmp(line, "heal", 4) == 0) rule_count = 0;
      else add_rule(line);
      pthread_cond_broadcast(&healed);
      pthread_mutex_unlock(&rules_lock);
    }
    puts("done");
    fflush(stdout);
  }
  fuse_exit(fuse);
  fuse_unmount(fuse);
  _exit(0);
}

int main(int count, char **arguments) {
  if (count != 3 && count != 4) return 2;
  root = arguments[1];
  if (count == 4) {
    is_tracked = 1;
    lost_folder = open(arguments[3], O_PATH | O_DIRECTORY);
    struct rlimit limit;
    if (lost_folder < 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
    /* Each unsynced file takes a descriptor. */
    limit.rlim_cur = limit.rlim_max < sizeof is_written_through ? limit.rlim_max : sizeof is_written_through;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  umask(0);
  char *options[] = {"faulty-file-system", "-o", "allow_other,default_permissions", NULL};
  struct fuse_args args = FUSE_ARGS_INIT(3, options);
  struct fuse *fuse = fuse_new(&args, &operations, sizeof operations, NULL);
  if (fuse == NULL || fuse_mount(fuse, arguments[2]) != 0) return 1;
  puts("mounted");
  fflush(stdout);
  pthread_t thread;
  pthread_create(&thread, NULL, obey, fuse);
  fuse_loop_mt(fuse, 0);
  fuse_unmount(fuse);
  return 0;
}
