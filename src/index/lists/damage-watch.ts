/**
 * Detects changes of the files of open lists from outside. A segment never changes once it is in place, so the system's
 * notification of a change in a segments folder starts a check of the file; without one nothing is read. The kernel
 * reports mapped files that were truncated or that the disk could not read. Main thread only.
 */
import { watch, type FSWatcher } from 'node:fs';
import { join, sep } from 'node:path';
import type { Logger } from 'pino';
import { isKernelError, type Kernel } from '../../../native-bindings/index.js';
import { realPlace } from '../../platform/index.js';
import { segmentsPath, storePath } from '../../store/index.js';

/** Interval of asking the kernel for unreadable files, which costs a look at one number. */
const UNREADABLE_FILES_INTERVAL_MS = 250;
const SEGMENT_FILE = /^\d+\.mdb$/;

export interface DamageListener {
  /** A segment of the list at this path differs from what was written. */
  segmentDamaged(listPath: string, segment: string): void;
  /** The store of the list was truncated, or could not be read. */
  storeDamaged(listPath: string, reason: Error): void;
  /** Another file of the data directory could not be read. */
  otherUnreadable(path: string): void;
}

/** An open list. Its folders are real paths, without links, because the system reports mapped files by these. */
interface Watched {
  /** Undefined if the system cannot watch the folder. */
  readonly watcher: FSWatcher | undefined;
  readonly segments: string;
  readonly store: string;
}

export class DamageWatch {
  private readonly folders = new Map<string, Watched>();
  /** Segments that are being checked; true if the file has changed meanwhile. */
  private readonly checking = new Map<string, boolean>();
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly kernel: Pick<Kernel, 'checkSegmentInBackground' | 'takeUnreadableFiles'>,
    private readonly listener: DamageListener,
    private readonly log: Logger,
  ) {
    this.timer = setInterval(() => {
      this.lookForUnreadableFiles();
    }, UNREADABLE_FILES_INTERVAL_MS).unref();
  }

  opened(listPath: string): void {
    if (this.folders.has(listPath)) return;
    this.folders.set(listPath, {
      watcher: this.watched(listPath),
      segments: join(realPlace(segmentsPath(listPath)), sep),
      store: join(realPlace(storePath(listPath)), sep),
    });
  }

  closed(listPath: string): void {
    this.folders.get(listPath)?.watcher?.close();
    this.folders.delete(listPath);
  }

  close(): void {
    clearInterval(this.timer);
    for (const listPath of [...this.folders.keys()]) this.closed(listPath);
  }

  private watched(listPath: string): FSWatcher | undefined {
    try {
      const watcher = watch(segmentsPath(listPath), { persistent: false }, (event, file) => {
        if (event === 'change' && file !== null && SEGMENT_FILE.test(file)) void this.check(listPath, file);
      });
      watcher.on('error', (error) => {
        this.log.warn({ err: error, path: listPath }, 'Can no longer watch the segments of a list for damage');
      });
      return watcher;
    } catch (error) {
      // The number of folders that a user may watch is limited; a list works without watching.
      this.log.warn({ err: error, path: listPath }, 'Cannot watch the segments of a list for damage');
      return undefined;
    }
  }

  /** Checks a segment, and again if it changes meanwhile. */
  private async check(listPath: string, file: string): Promise<void> {
    const path = join(segmentsPath(listPath), file);
    const isAtWork = this.checking.has(path);
    this.checking.set(path, isAtWork);
    if (isAtWork) return;
    try {
      await this.kernel.checkSegmentInBackground(path);
    } catch (error) {
      // A missing file was removed by a merge.
      const isDamaged = isKernelError(error) && (error.code === 'damaged' || error.code === 'unreadable');
      if (isDamaged && this.folders.has(listPath)) this.listener.segmentDamaged(listPath, file);
    }
    const hasChanged = this.checking.get(path) === true;
    this.checking.delete(path);
    if (hasChanged) await this.check(listPath, file);
  }

  private lookForUnreadableFiles(): void {
    for (const path of this.kernel.takeUnreadableFiles()) {
      this.log.error({ path }, 'A data file was truncated while in use, or the disk cannot read it');
      this.listener.otherUnreadable(path);
      for (const [listPath, { segments, store }] of this.folders) {
        if (path.startsWith(segments)) this.listener.segmentDamaged(listPath, path);
        else if (path.startsWith(store))
          this.listener.storeDamaged(
            listPath,
            new Error(`${path} was cut while it was in use, or the disk cannot read it`),
          );
      }
    }
  }
}
