import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RecordStore } from './record-store.js';
import { unknownId } from './unknown-id.js';

it('unknownId suggests no id if the given text cannot be the name of a record', async () => {
  const path = mkdtempSync(join(tmpdir(), 'gannet-unknown-id-'));
  const store = new RecordStore(path, { create: true });
  const version = store.version(1).prepare();
  for (const given of ['', '\0', 'a\0b', '\ud800', 'x'.repeat(100_000)])
    expect(unknownId(version, given, 'None').detail, JSON.stringify(given.slice(0, 4))).toBe('None.');
  await store.close();
  rmSync(path, { recursive: true });
});
