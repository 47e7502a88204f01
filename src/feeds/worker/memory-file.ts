/**
 * What a source remembers between two runs, in a small JSON file. A file that cannot be read is treated as missing, so
 * that everything is read anew.
 */
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';

const FORMAT = 1;

export class MemoryFile<Memory> {
  /** `provider`: what a source of another kind has kept is ignored. */
  constructor(
    private readonly path: string,
    private readonly provider: string,
  ) {}

  read(): Memory | undefined {
    try {
      const kept = JSON.parse(readFileSync(this.path, 'utf8')) as {
        readonly gannet?: unknown;
        readonly format?: unknown;
        readonly memory?: Memory;
      };
      return kept.gannet === this.provider && kept.format === FORMAT ? kept.memory : undefined;
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces the file in one step. */
  async write(memory: Memory): Promise<void> {
    const next = `${this.path}.next`;
    const file = await open(next, 'w', 0o600);
    try {
      await file.writeFile(JSON.stringify({ gannet: this.provider, format: FORMAT, memory }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.path);
  }
}
