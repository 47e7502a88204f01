/**
 * Register of the lists that have nothing to do until somebody asks for them, so that a start need not open them:
 * `data/lists-at-rest`, with the fingerprint of each list's store at its closing. A list that is missing from it, or
 * whose store has changed since, is opened in the background. So the register may be outdated, damaged or missing, and
 * is only written now and then. Main thread only.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kernelConstant, type Kernel } from '../../../native-bindings/index.js';
import { storePrint } from '../../store/index.js';
import { isListId, listFolder } from './list-folders.js';

const FILE = 'lists-at-rest';
const FORMAT = 1;
/** No store has this fingerprint. */
const NO_PRINT = '';
/** Delay of the write after a change, and after a write that failed. Changes lost in a crash cost the next start an opening for each list. */
const WRITTEN_AFTER_MS = 30_000;

interface RestingList {
  readonly print: string;
  /** Number of records of the current version. */
  readonly records: number;
}

/**
 * Content of the file. Lists are in the order of their last use, least recent first. Those with `NO_PRINT` have to be
 * opened.
 */
interface Written {
  readonly format: number;
  /** Format of segments. Segments of another format have to be rebuilt from the records. */
  readonly segments: string;
  readonly lists: readonly (readonly [id: string, print: string, records: number])[];
}

export interface RestRegisterOptions {
  readonly dataDir: string;
  readonly segmentFormat: string;
  readonly onFailure: (error: unknown) => void;
}

/** Formats of the segments of words and of vectors that this release writes. */
export function segmentFormats({ build }: Pick<Kernel, 'build'>): string {
  return `${build['format']}.${kernelConstant('VectorFormat')}`;
}

export class RestRegister {
  private lists: Map<string, RestingList> | undefined;
  /**
   * Ids of lists that were closed before their segments had to be rebuilt, least recently used first. Written again
   * until each list is closed, so that a start that is killed does not forget their order.
   */
  private usedBefore = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isChanged = false;

  constructor(private readonly options: RestRegisterOptions) {}

  /** True if the list is unchanged since it was closed with nothing left to do. */
  has(listId: string): boolean {
    return this.print(listId) !== undefined;
  }

  /**
   * Fingerprint of the list's store if it is unchanged since the list was closed with nothing left to do; otherwise
   * undefined.
   */
  print(listId: string): string | undefined {
    const { print } = this.known.get(listId) ?? {};
    if (print === undefined) return undefined;
    return print === storePrint(listFolder(this.options.dataDir, listId)) ? print : undefined;
  }

  /** Number of records of the closed list; undefined if it is not known. */
  records(listId: string): number | undefined {
    return this.has(listId) ? this.known.get(listId)?.records : undefined;
  }

  /** Ids, least recently used first; also of lists whose segments have to be rebuilt. */
  ids(): string[] {
    const known = [...this.known.keys()];
    return [...this.usedBefore, ...known];
  }

  /**
   * Registers a list that was closed with nothing left to do. Returns the fingerprint of its store; undefined if that
   * cannot be read.
   */
  add(listId: string, records: number): string | undefined {
    const print = storePrint(listFolder(this.options.dataDir, listId));
    this.forget(listId);
    if (print !== undefined) this.known.set(listId, { print, records });
    this.changed();
    return print;
  }

  /** Unregisters a list, so that the next start opens it. */
  remove(listId: string): void {
    if (this.forget(listId)) this.changed();
  }

  /** Writes pending changes. Never rejects. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.writing;
    // Set again if that has failed.
    clearTimeout(this.timer);
    if (!this.isChanged) return;
    this.isChanged = false;
    try {
      writeFileSync(this.path('.new'), this.text());
      renameSync(this.path('.new'), this.path());
    } catch (error) {
      this.options.onFailure(error);
      rmSync(this.path('.new'), { force: true });
    }
  }

  private get known(): Map<string, RestingList> {
    return (this.lists ??= this.read());
  }

  /** Returns false if the list was not there. */
  private forget(listId: string): boolean {
    const isKnown = this.known.delete(listId);
    return this.usedBefore.delete(listId) || isKnown;
  }

  private changed(): void {
    this.isChanged = true;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.writing = this.write();
    }, WRITTEN_AFTER_MS).unref();
  }

  private async write(): Promise<void> {
    this.isChanged = false;
    try {
      await writeFile(this.path('.new'), this.text());
      await rename(this.path('.new'), this.path());
    } catch (error) {
      this.options.onFailure(error);
      rmSync(this.path('.new'), { force: true });
      this.changed();
    }
  }

  private text(): string {
    const lists = this.ids().map((id) => {
      const { print, records } = this.known.get(id) ?? { print: NO_PRINT, records: 0 };
      return [id, print, records] as const;
    });
    const written: Written = { format: FORMAT, segments: this.options.segmentFormat, lists };
    return JSON.stringify(written);
  }

  private read(): Map<string, RestingList> {
    try {
      const written = JSON.parse(readFileSync(this.path(), 'utf8')) as Partial<Written> | null;
      if (written?.format !== FORMAT) return new Map();
      const known = (written.lists ?? []).filter(([id, , records]) => isListId(id) && Number.isSafeInteger(records));
      const isOfThis = written.segments === this.options.segmentFormat;
      const isClosed = ([, print]: Written['lists'][number]) => isOfThis && print !== NO_PRINT;
      this.usedBefore = new Set(known.filter((list) => !isClosed(list)).map(([id]) => id));
      return new Map(known.filter(isClosed).map(([id, print, records]) => [id, { print, records }]));
    } catch {
      // The file does not exist yet or is damaged: every list is opened.
      return new Map();
    }
  }

  private path(ending = ''): string {
    return join(this.options.dataDir, FILE + ending);
  }
}
