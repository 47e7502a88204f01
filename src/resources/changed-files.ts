/**
 * Notifies lists of changed files in media stores. Open lists are notified at once. Of the lists at rest, those that
 * link to something at or below the path are opened one after the other, and then check their files themselves. Main
 * thread only.
 */
import type { Logger } from 'pino';
import type { Catalog } from '../catalog/index.js';
import type { ListIndexes } from '../index/index.js';
import { searchSettings } from '../operations/index.js';

export interface ChangedFilesOptions {
  readonly catalog: Pick<Catalog, 'lists'>;
  readonly indexes: Pick<ListIndexes, 'glance' | 'open' | 'outline' | 'linksBelow'>;
  readonly log: Pick<Logger, 'warn'>;
}

export class ChangedFiles {
  /** By account: common prefix of the URLs that changed since its resting lists were last visited. */
  private readonly changed = new Map<string, string>();
  private rounds: Promise<void> | undefined;
  private isClosed = false;

  constructor(private readonly options: ChangedFilesOptions) {}

  /** A notification that fails is made up for by the next regular check. */
  add(account: string, url: string, ...others: readonly string[]): void {
    const { catalog, indexes } = this.options;
    for (const { id, name } of catalog.lists(account)) {
      indexes
        .glance(id)
        ?.files.changed([url, ...others])
        .catch((error: unknown) => {
          this.warn(error, account, name);
        });
    }
    const known = this.changed.get(account);
    this.changed.set(account, [...others, ...(known === undefined ? [] : [known])].reduce(commonStart, url));
    this.rounds ??= this.goRound().finally(() => (this.rounds = undefined));
  }

  /** Resolves when no work is in progress. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.rounds;
  }

  private async goRound(): Promise<void> {
    // Waits a turn, since files often change many at a time.
    await turnOfOthers();
    for (let next = this.next(); next !== undefined; next = this.next()) {
      for (const list of this.options.catalog.lists(next.account)) {
        await turnOfOthers();
        if (this.isClosed) return;
        await this.wake(next, list);
      }
    }
  }

  private next(): { readonly account: string; readonly prefix: string } | undefined {
    const [first] = this.changed;
    if (first === undefined || this.isClosed) return undefined;
    const [account, prefix] = first;
    this.changed.delete(account);
    return { account, prefix };
  }

  private async wake(
    { account, prefix }: { readonly account: string; readonly prefix: string },
    list: ReturnType<Catalog['lists']>[number],
  ): Promise<void> {
    const { indexes } = this.options;
    try {
      const mayRest = indexes.glance(list.id) === undefined && indexes.outline(list.id)?.resources() !== undefined;
      if (mayRest && indexes.linksBelow(list.id, prefix)) await indexes.open(list.id, searchSettings(list));
    } catch (error) {
      this.warn(error, account, list.name);
    }
  }

  private warn(error: unknown, account: string, list: string): void {
    this.options.log.warn({ err: error, account, list }, 'Will check a changed file later');
  }
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

function turnOfOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
