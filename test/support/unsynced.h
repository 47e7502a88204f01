/* Tracks what a file system over a folder would lose if the power failed now, and takes it back at such a cut. For
   files this is every page written since their last sync, for folders each name created, removed or moved since
   theirs: the system guarantees nothing else. The folder itself is always as the process sees it; this has what was
   there before.
   Everything is called with `unsynced_lock` held. Errors of this bookkeeping end the program: a test that went on
   would prove nothing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, SECTOR = 512, BUCKETS = 4096, NAME_BYTES = 256 };

/* The page as it was at the last sync. */
struct page {
  unsigned char before[PAGE];
  /* A sync failed while this page waited: the system takes it for written from then on, and no later sync writes it. */
  int is_given_up;
};

struct unsynced_file {
  ino_t number;
  int file;
  off_t size_before;
  struct page **pages;
  size_t pages_max;
  struct unsynced_file *next;
};

enum step_kind { ADDED, REMOVED, MOVED, EXCHANGED };
struct name {
  int folder;
  ino_t folder_number;
  char text[NAME_BYTES];
};
struct step {
  enum step_kind kind;
  struct name at, to;
  /* The number in `lost_folder` of what the name referred to; 0 for nothing. */
  unsigned kept;
  struct step *before;
};

static pthread_mutex_t unsynced_lock = PTHREAD_MUTEX_INITIALIZER;
static struct unsynced_file *unsynced_files[BUCKETS];
static struct step *last_step;
static int lost_folder = -1;
static unsigned last_kept;
static uint64_t chance;

static void give_up(const char *what) {
  perror(what);
  abort();
}

/* ---- files */

static struct unsynced_file **place_of(ino_t number) {
  struct unsynced_file **place = &unsynced_files[number % BUCKETS];
  while (*place != NULL && (*place)->number != number) place = &(*place)->next;
  return place;
}

static struct unsynced_file *begin_file(int file) {
  struct stat now;
  if (fstat(file, &now) != 0) give_up("fstat");
  struct unsynced_file **place = place_of(now.st_ino);
  if (*place != NULL) return *place;
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  struct unsynced_file *made = calloc(1, sizeof *made);
  *made = (struct unsynced_file){.number = now.st_ino, .file = open(path, O_RDWR), .size_before = now.st_size};
  if (made->file < 0) give_up("open");
  return *place = made;
}

static void forget_file(struct unsynced_file **place) {
  struct unsynced_file *file = *place;
  *place = file->next;
  for (size_t at = 0; at < file->pages_max; ++at) free(file->pages[at]);
  free(file->pages);
  close(file->file);
  free(file);
}

/* Called before bytes of the file change. */
static void keep_range(int opened, off_t at, off_t size) {
  if (size <= 0) return;
  struct unsynced_file *file = begin_file(opened);
  const size_t last = (size_t)(at + size - 1) / PAGE;
  if (last >= file->pages_max) {
    const size_t room = last * 2 + 16;
    file->pages = realloc(file->pages, room * sizeof *file->pages);
    memset(file->pages + file->pages_max, 0, (room - file->pages_max) * sizeof *file->pages);
    file->pages_max = room;
  }
  for (size_t page = (size_t)at / PAGE; page <= last; ++page) {
    if (file->pages[page] == NULL) {
      file->pages[page] = calloc(1, sizeof **file->pages);
      if (pread(file->file, file->pages[page]->before, PAGE, (off_t)page * PAGE) < 0) give_up("pread");
    }
    file->pages[page]->is_given_up = 0;
  }
}

static void keep_before_truncating(int opened, off_t size) {
  struct unsynced_file *file = begin_file(opened);
  struct stat now;
  if (fstat(file->file, &now) != 0) give_up("fstat");
  if (size < now.st_size) keep_range(opened, size, now.st_size - size);
}

/* Notes bytes that were on disk when their write was answered. */
static void note_written_through(int opened, const char *bytes, size_t size, off_t at) {
  struct unsynced_file *file = begin_file(opened);
  if (file->size_before < at + (off_t)size) file->size_before = at + (off_t)size;
  for (size_t done = 0; done < size;) {
    const size_t page = (size_t)(at + (off_t)done) / PAGE, within = (size_t)(at + (off_t)done) % PAGE;
    const size_t length = size - done < PAGE - within ? size - done : PAGE - within;
    if (page < file->pages_max && file->pages[page] != NULL) memcpy(file->pages[page]->before + within, bytes + done, length);
    done += length;
  }
}

static void note_synced(int opened, int is_failed) {
  struct stat now;
  if (fstat(opened, &now) != 0) give_up("fstat");
  struct unsynced_file **place = place_of(now.st_ino);
  if (*place == NULL) return;
  int is_left = 0;
  for (size_t at = 0; at < (*place)->pages_max; ++at) {
    struct page **page = &(*place)->pages[at];
    if (*page != NULL && is_failed) (*page)->is_given_up = 1;
    if (*page != NULL && !(*page)->is_given_up) {
      free(*page);
      *page = NULL;
    }
    is_left |= *page != NULL;
  }
  if (is_failed) return;
  (*place)->size_before = now.st_size;
  if (!is_left) forget_file(place);
}

/* ---- folders */

/* Thousands of unsynced names are in a few folders: each of these is open once. */
struct held_folder {
  ino_t number;
  int folder;
  unsigned holders;
  struct held_folder *next;
};
static struct held_folder *held_folders;

static int hold_folder(const char *path, ino_t *number) {
  const int opened = open(path, O_PATH | O_DIRECTORY);
  struct stat now;
  if (opened < 0 && errno != ENOENT && errno != ENOTDIR) give_up("open of a folder");
  if (opened < 0 || fstat(opened, &now) != 0) return opened;
  *number = now.st_ino;
  for (struct held_folder *each = held_folders; each != NULL; each = each->next) {
    if (each->number != now.st_ino) continue;
    ++each->holders;
    close(opened);
    return each->folder;
  }
  struct held_folder *made = malloc(sizeof *made);
  *made = (struct held_folder){.number = now.st_ino, .folder = opened, .holders = 1, .next = held_folders};
  held_folders = made;
  return opened;
}

static void release_folder(int folder) {
  struct held_folder **place = &held_folders;
  while (*place != NULL && (*place)->folder != folder) place = &(*place)->next;
  if (*place == NULL || --(*place)->holders > 0) return;
  struct held_folder *last = *place;
  *place = last->next;
  close(last->folder);
  free(last);
}

static struct name name_of(const char *full) {
  char folder[4096];
  snprintf(folder, sizeof folder, "%s", full);
  char *slash = strrchr(folder, '/');
  struct name found;
  snprintf(found.text, sizeof found.text, "%s", slash + 1);
  *slash = '\0';
  found.folder_number = 0;
  found.folder = hold_folder(folder, &found.folder_number);
  return found;
}

static struct step *note_step(struct step step) {
  struct step *made = malloc(sizeof *made);
  *made = step;
  made->before = last_step;
  return last_step = made;
}

static const char *kept_name(unsigned kept) {
  static char name[16];
  snprintf(name, sizeof name, "%u", kept);
  return name;
}

static void remove_tree(int folder, const char *name) {
  if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) return;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY);
  if (inner < 0) give_up("openat");
  DIR *read = fdopendir(inner);
  for (struct dirent *entry = readdir(read); entry != NULL; entry = readdir(read)) {
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove_tree(inner, entry->d_name);
  }
  closedir(read);
  if (unlinkat(folder, name, AT_REMOVEDIR) != 0) give_up("rmdir");
}

static void forget_step(struct step **place) {
  struct step *step = *place;
  *place = step->before;
  if (step->kept != 0) remove_tree(lost_folder, kept_name(step->kept));
  release_folder(step->at.folder);
  if (step->kind == MOVED || step->kind == EXCHANGED) release_folder(step->to.folder);
  free(step);
}

/* Notes that the names in this folder are on disk. */
static void note_folder_synced(const char *full) {
  struct stat now;
  if (stat(full, &now) != 0) return;
  for (struct step **place = &last_step; *place != NULL;) {
    const int is_there = (*place)->at.folder_number == now.st_ino || (*place)->to.folder_number == now.st_ino;
    if (is_there) forget_step(place);
    else place = &(*place)->before;
  }
}

static void note_added(const char *full) { note_step((struct step){.kind = ADDED, .at = name_of(full)}); }

static int is_empty(const char *full) {
  DIR *read = opendir(full);
  if (read == NULL) return 0;
  int count = 0;
  for (struct dirent *entry = readdir(read); entry != NULL; entry = readdir(read)) ++count;
  closedir(read);
  return count <= 2;
}

/* Removes a file or an empty folder, and keeps it while it may come back. Returns 0 or -errno. */
static int remove_tracked(const char *full, int is_folder) {
  if (is_folder && !is_empty(full)) return -ENOTEMPTY;
  struct step step = {.kind = REMOVED, .at = name_of(full), .kept = ++last_kept};
  if (renameat(step.at.folder, step.at.text, lost_folder, kept_name(step.kept)) != 0) {
    const int code = errno;
    release_folder(step.at.folder);
    return -code;
  }
  note_step(step);
  return 0;
}

static int rename_tracked(const char *from, const char *to, unsigned flags) {
  struct stat source, target;
  if (lstat(from, &source) != 0) return -errno;
  const int is_over = lstat(to, &target) == 0;
  if (is_over && source.st_ino == target.st_ino) return 0;
  struct step step = {.kind = (flags & RENAME_EXCHANGE) != 0 ? EXCHANGED : MOVED, .at = name_of(from), .to = name_of(to)};
  if (is_over && flags == 0) {
    step.kept = ++last_kept;
    const int failed = S_ISDIR(target.st_mode)
                           ? !is_empty(to) || renameat(step.to.folder, step.to.text, lost_folder, kept_name(step.kept)) != 0
                           : linkat(step.to.folder, step.to.text, lost_folder, kept_name(step.kept), 0) != 0;
    if (failed) return S_ISDIR(target.st_mode) ? -ENOTEMPTY : -errno;
  }
  if (renameat2(step.at.folder, step.at.text, step.to.folder, step.to.text, flags) != 0) {
    const int code = errno;
    if (step.kept != 0) remove_tree(lost_folder, kept_name(step.kept));
    release_folder(step.at.folder);
    release_folder(step.to.folder);
    return -code;
  }
  note_step(step);
  return 0;
}

/* ---- the cut */

static unsigned draw(unsigned below) {
  chance ^= chance << 13;
  chance ^= chance >> 7;
  chance ^= chance << 17;
  return (unsigned)((chance >> 11) % below);
}

static void take_back(const struct step *step) {
  switch (step->kind) {
    case ADDED:
      remove_tree(step->at.folder, step->at.text);
      break;
    case REMOVED:
      renameat2(lost_folder, kept_name(step->kept), step->at.folder, step->at.text, RENAME_NOREPLACE);
      break;
    case MOVED:
      renameat(step->to.folder, step->to.text, step->at.folder, step->at.text);
      if (step->kept != 0) renameat(lost_folder, kept_name(step->kept), step->to.folder, step->to.text);
      break;
    case EXCHANGED:
      renameat2(step->at.folder, step->at.text, step->to.folder, step->to.text, RENAME_EXCHANGE);
      break;
  }
}

/* Keeps about `kept_tenths` of ten unsynced pages all the same, one of them in part. */
static void lose_pages(struct unsynced_file *file, unsigned kept_tenths) {
  struct stat now;
  if (fstat(file->file, &now) != 0) give_up("fstat");
  const off_t size = draw(10) < kept_tenths ? now.st_size : file->size_before;
  for (size_t at = 0; at < file->pages_max; ++at) {
    const struct page *page = file->pages[at];
    if (page == NULL) continue;
    const int is_torn = !page->is_given_up && kept_tenths > 0 && draw(10) == 0;
    if (!is_torn && !page->is_given_up && draw(10) < kept_tenths) continue;
    for (unsigned sector = 0; sector < PAGE; sector += SECTOR) {
      if (is_torn && draw(2) == 0) continue;
      if (pwrite(file->file, page->before + sector, SECTOR, (off_t)at * PAGE + sector) != SECTOR) give_up("pwrite");
    }
  }
  if (ftruncate(file->file, size) != 0) give_up("ftruncate");
}

/* Simulates the power failure. Names are lost from the last step back to one that is drawn, as journals of file
   systems lose them. */
static void lose_unsynced(uint64_t seed, unsigned kept_tenths) {
  chance = (seed + 1) * 0x9e3779b97f4a7c15u;
  for (int warm = 0; warm < 8; ++warm) draw(2);
  unsigned steps = 0;
  for (const struct step *step = last_step; step != NULL; step = step->before) ++steps;
  unsigned lost = kept_tenths == 0 ? steps : draw(steps + 1);
  for (; lost > 0; --lost) {
    take_back(last_step);
    struct step *taken = last_step;
    last_step = taken->before;
    free(taken);
  }
  for (int bucket = 0; bucket < BUCKETS; ++bucket) {
    for (struct unsynced_file *file = unsynced_files[bucket]; file != NULL; file = file->next) lose_pages(file, kept_tenths);
  }
}
