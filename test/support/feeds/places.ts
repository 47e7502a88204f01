/** A folder, a site and a client for the tests of a file, and what a source remembers. */
import { afterEach, beforeEach } from 'vitest';
import { MadeFolder } from './made-source.js';
import { MadeSite, testClient } from './made-site.js';

export interface Places<Memory> {
  files: MadeFolder;
  site: MadeSite;
  readonly client: ReturnType<typeof testClient>;
  readonly memory: { read(): Memory | undefined; write(next: Memory): Promise<void> };
}

/** New ones for each test. */
export function usePlaces<Memory>(): Places<Memory> {
  let remembered: Memory | undefined;
  const places: Places<Memory> = {
    files: undefined as unknown as MadeFolder,
    site: undefined as unknown as MadeSite,
    client: testClient(),
    memory: {
      read: () => remembered,
      write: (next) => {
        remembered = next;
        return Promise.resolve();
      },
    },
  };
  beforeEach(async () => {
    places.files = new MadeFolder();
    places.site = await MadeSite.start();
    remembered = undefined;
  });
  afterEach(async () => {
    places.files.remove();
    await places.site.close();
  });
  return places;
}
