import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../platform/config.js';
import { controlSocketPath } from '../platform/index.js';
import { connectControlSocket } from './control-socket-client.js';
import { CommandError } from './exit-codes.js';

const failing: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new CommandError('The matrix has no row.')) }),
};

it('call() rejects with the error of the stream to send, even if it fails before there is a connection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-socket-'));
  const server = createServer((incoming, answer) => {
    incoming.resume();
    answer.end('{}');
  });
  server.listen(controlSocketPath(folder));
  await once(server, 'listening');
  try {
    const config = loadConfig({ argv: [], env: { GANNET_DATA_DIR: folder } });
    const client = await connectControlSocket(config, () => Promise.reject(new Error('not needed')));
    const sent = client?.call('search-result.bulk', {
      params: { account: 'default', list: 'books' },
      contentType: 'application/x-ndjson',
      stream: failing,
    });
    await expect(sent).rejects.toThrow('The matrix has no row.');
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
