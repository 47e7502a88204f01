/** Syncs the names in a folder to disk. Calls during a sync share the next one. */
import { open } from 'node:fs/promises';

export class FolderSync {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(private readonly path: string) {}

  /** Resolves when every name created before this call is on disk. */
  done(): Promise<void> {
    if (this.running === undefined) return this.begin();
    this.next ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.begin();
      });
    return this.next;
  }

  private begin(): Promise<void> {
    const running = syncFolder(this.path).finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
