/** Tests that processes started by the service end with it, however it ends, even if they hang and react to nothing. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { eventually } from '../support/eventually.js';
import { pdfOf } from '../support/pdf.js';
import { jpegOf } from '../support/pictures.js';
import { childrenOf, isAlive } from '../support/processes.js';
import { mp4Of } from '../support/recordings.js';
import type { ScriptedServer } from '../support/scripted-server.js';
import { startFileServer } from '../support/served-files.js';
import { startTestService } from '../support/service.js';
import { itWhere } from '../support/skip.js';
import { writeProgram } from '../support/videos.js';

const ON_LINUX = process.platform === 'linux';
/** Parts of the commands that the service starts here: readers of documents and of pictures, and ffmpeg. */
const READER = 'document';
const PARTS = [READER, 'picture', 'sleep 100000'];
const FILES_OF_ONE = 2;
let folder = '';
let server: ScriptedServer;
const served = new Map<string, Uint8Array>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-children-'));
  server = await startFileServer(served);
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

itWhere(ON_LINUX, 'only Linux tells a process that its parent ends')(
  'A killed service leaves behind no process that reads files and no ffmpeg, even if they hang',
  async () => {
    const program = writeProgram(join(folder, 'ffmpeg'), `exec sleep 100000`);
    const service = await startTestService({
      env: {
        GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true',
        GANNET_RESOURCES_FFMPEG: program,
      },
    });
    try {
      served.set('/a.pdf', pdfOf([{ lines: ['Gannets dive'] }]));
      served.set('/a.jpg', await jpegOf(1));
      served.set('/a.mp4', mp4Of({ title: 'Gannets' }));
      await service.client.post('/list/default', {
        name: 'files',
        image_model: 'built-in',
        resources: [
          { name: 'paper', kind: 'document' },
          { name: 'cover', kind: 'image' },
          { name: 'film', kind: 'video' },
        ],
      });
      let papers = 0;
      /** The reader of documents ends when it has nothing to do: as soon as that happens, another document is added. */
      const putPaper = () => {
        papers += 1;
        const paper = server.url(`/a.pdf?${papers}`);
        return service.client.bulk('default', 'files', [{ name: `paper ${papers}`, paper }]);
      };
      const pictures = { name: 'one', cover: server.url('/a.jpg'), film: server.url('/a.mp4') };
      await service.client.bulk('default', 'files', [pictures]);
      const { pids } = await eventually(
        async () => {
          const { body } = await service.client.get('/list/default/files');
          const { read } = (body as { resources_state: { read: number } }).resources_state;
          const started = childrenOf(service.pid);
          const missing = PARTS.filter((part) => !started.some(({ command }) => command.includes(part)));
          if (read === FILES_OF_ONE + papers && missing.includes(READER)) await putPaper();
          return { missing, read, pids: started.map(({ pid }) => pid) };
        },
        ({ missing }) => missing.length === 0,
      );
      // Like one that computes without end, it does not notice that its parent is gone.
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await service.stop('SIGKILL');
      await eventually(
        () => Promise.resolve(pids.filter(isAlive)),
        (alive) => alive.length === 0,
      );
    } finally {
      await service.close();
    }
  },
);
