/**
 * Which lists have nothing to do until somebody asks for them, so that a start need not open them: `data/lists-at-rest`, with a print of each
 * list's store as it was closed. A list that is not in it, or whose store is another one by now, is looked after; so the register is
 * written now and then and may be old, damaged or missing. Main thread only.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { kernelConstant, type Kernel } from '../../../native-bindings/index.js';
import { storePrint } from '../../store/index.js';
import { isListId, listFolder } from './list-folders.js';

const FILE = 'lists-at-rest';
const FORMAT = 1;
/** After a change; what is lost with a crash in between costs the next start an opening for each list. */
const WRITTEN_AFTER_MS = 30_000;

interface RestingList {
  readonly print: string;
  /** Of the current version. */
  readonly records: number;
}

/** What is on disk: lists in the order of their last use, the least recent first. */
interface Written {
  readonly format: number;
  /** Of segments. Those of another one are made again from the records. */
  readonly segments: string;
  readonly lists: readonly (readonly [id: string, print: string, records: number])[];
}

export interface RestRegisterOptions {
  readonly dataDir: string;
  readonly segmentFormat: string;
  readonly onFailure: (error: unknown) => void;
}

/** Those of words and of vectors, as this release writes them. */
export function segmentFormats({ build }: Pick<Kernel, 'build'>): string {
  return `${build['format']}.${kernelConstant('VectorFormat')}`;
}

export class RestRegister {
  private lists: Map<string, RestingList> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private isChanged = false;

  constructor(private readonly options: RestRegisterOptions) {}

  /** True where the list is as it was when it was closed with nothing left to do. */
  has(listId: string): boolean {
    return this.print(listId) !== undefined;
  }

  /** Of its store, which is as it was when the list was closed with nothing left to do; undefined where it is not. */
  print(listId: string): string | undefined {
    const { print } = this.known.get(listId) ?? {};
    if (print === undefined) return undefined;
    return print === storePrint(listFolder(this.options.dataDir, listId)) ? print : undefined;
  }

  /** Of the list as it was closed; undefined where it is not known. */
  records(listId: string): number | undefined {
    return this.has(listId) ? this.known.get(listId)?.records : undefined;
  }

  /** Ids, the least recently used first. */
  ids(): string[] {
    return [...this.known.keys()];
  }

  /** The list was closed, and nothing is left to do. Returns the print of its store; undefined where that cannot be read. */
  add(listId: string, records: number): string | undefined {
    const print = storePrint(listFolder(this.options.dataDir, listId));
    this.known.delete(listId);
    if (print !== undefined) this.known.set(listId, { print, records });
    this.changed();
    return print;
  }

  /** The list is to be looked after at the next start. */
  remove(listId: string): void {
    if (this.known.delete(listId)) this.changed();
  }

  /** Writes what has changed. Never rejects. */
  async close(): Promise<void> {
    clearTimeout(this.timer);
    await this.writing;
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
      this.isChanged = true;
      this.options.onFailure(error);
    }
  }

  private text(): string {
    const lists = Array.from(this.known, ([id, { print, records }]) => [id, print, records] as const);
    const written: Written = { format: FORMAT, segments: this.options.segmentFormat, lists };
    return JSON.stringify(written);
  }

  private read(): Map<string, RestingList> {
    try {
      const written = JSON.parse(readFileSync(this.path(), 'utf8')) as Partial<Written> | null;
      if (written?.format !== FORMAT || written.segments !== this.options.segmentFormat) return new Map();
      const known = (written.lists ?? []).filter(([id, , records]) => isListId(id) && Number.isSafeInteger(records));
      return new Map(known.map(([id, print, records]) => [id, { print, records }]));
    } catch {
      // There is none yet, or it is damaged: every list is looked after.
      return new Map();
    }
  }

  private path(ending = ''): string {
    return join(this.options.dataDir, FILE + ending);
  }
}
