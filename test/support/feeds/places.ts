/** Folder, site and client for a test file, and memory of a source. */
import { afterEach, beforeEach } from 'vitest';
import { MadeFolder } from './made-source.js';
import { MadeSite, testClient } from './made-site.js';

export interface Places<Memory> {
  files: MadeFolder;
  site: MadeSite;
  readonly client: ReturnType<typeof testClient>;
  readonly memory: { read(): Memory | undefined; write(next: Memory): Promise<void> };
}

const allowedAlone = (host: string) => ({ allowed_hosts: [host], loopback_allowed: false, plain_http: true });

/**
 * Creates new ones for each test. With `host`, the site is reachable by that name only, and loopback is forbidden as
 * elsewhere.
 */
export function usePlaces<Memory>({ host }: { readonly host?: string } = {}): Places<Memory> {
  let remembered: Memory | undefined;
  const places: Places<Memory> = {
    files: undefined as unknown as MadeFolder,
    site: undefined as unknown as MadeSite,
    client: testClient(host === undefined ? {} : { rules: allowedAlone(host) }),
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
    places.site = await MadeSite.start({}, host);
    remembered = undefined;
  });
  afterEach(async () => {
    places.files.remove();
    await places.site.close();
  });
  return places;
}
