/* A file system over a folder that fails as it is told, by its kernel's own ways: a page of a mapped file that cannot be read is a SIGBUS
   here as it is over a bad sector. Arguments: the folder, and where to mount it. It reads commands from its input, a line each, and answers
   each with a line:

     fail CALLS CODE PART   from now on CALLS (letters, see `struct rule`) fail with the errno CODE for paths that have PART in them
                            (CODE -1: they are not answered before `heal`)
     heal                   nothing fails any more
     forget                 what the kernel keeps of files that are open is dropped, so that it is read anew

   The end of the input unmounts it. Needs libfuse 3 and the right to mount. */
#define FUSE_USE_VERSION 31
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { RULES_MAX = 16, PATH_MAX_HERE = 4096, OPEN_PATHS_MAX = 4096, HELD = -1 };

/* r: read, w: write, s: sync a file, d: sync a folder, o: open to write, make, rename or remove, n: open to read, l: hard links,
   m: change modes and owners, t: look at (stat), u: set times. */
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

/* With the lock held. */
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
#define FULL(full, path) \
  char full[PATH_MAX_HERE]; \
  snprintf(full, sizeof full, "%s%s", root, path)
#define RESULT(call) ((call) == -1 ? -errno : 0)

static void *begin(struct fuse_conn_info *connection, struct fuse_config *config) {
  (void)connection;
  config->use_ino = 1;
  config->kernel_cache = 1;
  config->hard_remove = 1;
  /* Whether something fails is asked anew for each call. */
  config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
  return NULL;
}

static int get_attributes(const char *path, struct stat *found, struct fuse_file_info *file) {
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
static int make_folder(const char *path, mode_t mode) {
  FAIL_IF('o', path);
  FULL(full, path);
  return RESULT(mkdir(full, mode));
}
static int make_node(const char *path, mode_t mode, dev_t device) {
  FAIL_IF('o', path);
  FULL(full, path);
  return RESULT(mknod(full, mode, device));
}
static int remove_file(const char *path) {
  FAIL_IF('o', path);
  FULL(full, path);
  return RESULT(unlink(full));
}
static int remove_folder(const char *path) {
  FAIL_IF('o', path);
  FULL(full, path);
  return RESULT(rmdir(full));
}
static int make_symbolic_link(const char *target, const char *path) {
  FAIL_IF('l', path);
  FULL(full, path);
  return RESULT(symlink(target, full));
}
static int rename_file(const char *from, const char *to, unsigned flags) {
  FAIL_IF('o', to);
  FULL(full_from, from);
  FULL(full_to, to);
  return RESULT(renameat2(AT_FDCWD, full_from, AT_FDCWD, full_to, flags));
}
static int make_link(const char *from, const char *to) {
  FAIL_IF('l', to);
  FULL(full_from, from);
  FULL(full_to, to);
  return RESULT(link(full_from, full_to));
}
static int change_mode(const char *path, mode_t mode, struct fuse_file_info *file) {
  (void)file;
  FAIL_IF('m', path);
  FULL(full, path);
  return RESULT(chmod(full, mode));
}
static int change_owner(const char *path, uid_t user, gid_t group, struct fuse_file_info *file) {
  (void)file;
  FAIL_IF('m', path);
  FULL(full, path);
  return RESULT(lchown(full, user, group));
}
static int cut(const char *path, off_t size, struct fuse_file_info *file) {
  FAIL_IF('w', path);
  if (file != NULL) return RESULT(ftruncate((int)file->fh, size));
  FULL(full, path);
  return RESULT(truncate(full, size));
}
static int open_with(const char *path, int flags, mode_t mode, struct fuse_file_info *file) {
  FULL(full, path);
  /* Pages that are written in part are read first. */
  const int both = (flags & ~O_ACCMODE & ~O_APPEND & ~O_DIRECT) | O_RDWR;
  int opened = open(full, both, mode);
  if (opened < 0 && (flags & O_ACCMODE) == O_RDONLY) opened = open(full, flags & ~O_DIRECT, mode);
  if (opened < 0) return -errno;
  file->fh = (uint64_t)opened;
  remember(path);
  return 0;
}
static int open_file(const char *path, struct fuse_file_info *file) {
  FAIL_IF((file->flags & O_ACCMODE) == O_RDONLY ? 'n' : 'o', path);
  return open_with(path, file->flags & ~(O_CREAT | O_EXCL), 0, file);
}
static int make_file(const char *path, mode_t mode, struct fuse_file_info *file) {
  FAIL_IF('o', path);
  return open_with(path, file->flags | O_CREAT, mode, file);
}
static int read_bytes(const char *path, char *bytes, size_t size, off_t at, struct fuse_file_info *file) {
  FAIL_IF('r', path);
  const ssize_t got = pread((int)file->fh, bytes, size, at);
  return got < 0 ? -errno : (int)got;
}
static int write_bytes(const char *path, const char *bytes, size_t size, off_t at, struct fuse_file_info *file) {
  FAIL_IF('w', path);
  const ssize_t written = pwrite((int)file->fh, bytes, size, at);
  return written < 0 ? -errno : (int)written;
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
  (void)file;
  FAIL_IF('s', path);
  return 0;
}
static int sync_folder(const char *path, int only_data, struct fuse_file_info *file) {
  (void)only_data;
  (void)file;
  FAIL_IF('d', path);
  return 0;
}
static int allocate(const char *path, int mode, off_t at, off_t size, struct fuse_file_info *file) {
  FAIL_IF('w', path);
  return fallocate((int)file->fh, mode, at, size) == -1 ? -errno : 0;
}
static int read_folder(const char *path, void *names, fuse_fill_dir_t add, off_t at, struct fuse_file_info *file,
                       enum fuse_readdir_flags flags) {
  (void)at;
  (void)file;
  (void)flags;
  FAIL_IF('n', path);
  FULL(full, path);
  DIR *folder = opendir(full);
  if (folder == NULL) return -errno;
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    struct stat kind = {.st_ino = entry->d_ino, .st_mode = (mode_t)entry->d_type << 12};
    if (add(names, entry->d_name, &kind, 0, 0) != 0) break;
  }
  closedir(folder);
  return 0;
}
static int change_times(const char *path, const struct timespec times[2], struct fuse_file_info *file) {
  (void)file;
  FAIL_IF('u', path);
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
    .readdir = read_folder,
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

static void *obey(void *given) {
  struct fuse *fuse = given;
  char line[1024];
  while (fgets(line, sizeof line, stdin) != NULL) {
    if (strncmp(line, "forget", 6) == 0) {
      forget(fuse);
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
  if (count != 3) return 2;
  root = arguments[1];
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
