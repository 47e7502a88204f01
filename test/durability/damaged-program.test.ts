/**
 * Tests missing or cut off files of the program itself: an error says what to do, and no service runs with only a
 * part of it.
 */
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startTestService } from '../support/service.js';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const STACK = /\n\s+at |node:internal|Unhandled|Emitted 'error'/;
const folder = mkdtempSync(join(tmpdir(), 'gannet-damaged-program-'));
const bundle = join(folder, 'dist', 'bundle');

beforeEach(() => {
  for (const copied of ['bin', 'config', 'package.json', 'dist/bundle'])
    cpSync(join(PACKAGE, copied), join(folder, copied), { recursive: true, dereference: true });
  mkdirSync(join(folder, 'data'));
  for (const linked of ['node_modules', 'native-bindings']) symlinkSync(join(PACKAGE, linked), join(folder, linked));
});
afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Ended {
  readonly status: number | string | null | undefined;
  readonly notes: string;
}

function serve(settings: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const env = {
    ...process.env,
    ...settings,
    GANNET_DATA_DIR: join(folder, 'data'),
    GANNET_PORT: '0',
    GANNET_LOG_LEVEL: 'fatal',
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(folder, 'bin', 'gannet.js'), 'serve'], { env }, (error, _, notes) => {
      resolve({ status: error?.code, notes });
    });
  });
}

describe('gannet serve', () => {
  it.each([
    ['the command line', 'src/cli/index.cjs'],
    ['the composition root', 'src/main.cjs'],
    ['a search worker', 'src/workers/search.worker.cjs'],
  ])('says what to do if %s is missing or cut off', async (_, file) => {
    const path = join(bundle, file);
    const inAWord = readFileSync(path, 'utf8').indexOf('require') + 3;
    const whole = readFileSync(path).length;
    const damages = [
      () => truncateSync(path, whole - 1),
      () => truncateSync(path, inAWord + 60),
      () => truncateSync(path, inAWord),
      () => rmSync(path),
    ];
    for (const damage of damages) {
      damage();
      const { status, notes } = await serve();
      expect(status, notes).toBe(file.includes('workers') ? 1 : 3);
      expect(notes).toMatch(/npm run setup/);
      expect(notes).not.toMatch(STACK);
    }
  });

  it('says what to do if files shared by several others are missing', async () => {
    rmSync(join(bundle, 'shared'), { recursive: true });
    const { status, notes } = await serve();
    expect(status, notes).toBe(3);
    expect(notes).toMatch(/^Gannet cannot be loaded: Cannot find module .*npm run setup/);
    expect(notes).not.toMatch(STACK);
  });

  /** Puts this in place of all binaries of uWebSockets.js. */
  function putBinary(content: string | undefined): void {
    const packages = join(folder, 'node_modules');
    rmSync(packages);
    mkdirSync(packages);
    for (const name of readdirSync(join(PACKAGE, 'node_modules')))
      symlinkSync(join(PACKAGE, 'node_modules', name), join(packages, name));
    const library = join(packages, 'uWebSockets.js');
    rmSync(library);
    mkdirSync(library);
    for (const name of ['package.json', 'uws.js'])
      cpSync(join(PACKAGE, 'node_modules', 'uWebSockets.js', name), join(library, name));
    const { platform, arch, versions } = process;
    if (content !== undefined)
      writeFileSync(join(library, `uws_${platform}_${arch}_${versions.modules}.node`), content);
  }

  it.each([
    ['missing', undefined, 'uws', /It has no binary for Node\.js .*npm ci/],
    ['damaged', 'x', 'auto', /cannot be loaded \(.*npm ci/],
  ])('says what to do if the binary of the web server is %s', async (_, content, server, sentence) => {
    putBinary(content);
    const { status, notes } = await serve({ GANNET_SERVER_WEB_SERVER: server });
    expect(status, notes).toBe(1);
    expect(notes).toMatch(/^The web server, uWebSockets\.js, cannot be loaded\. /);
    expect(notes).toMatch(sentence);
    expect(notes.includes("server.web_server 'auto'")).toBe(content === undefined);
    expect(notes).not.toMatch(STACK);
    expect(readdirSync(join(folder, 'data'))).not.toContain('system');
  });

  it("uses Node.js's own web server if uWebSockets.js has no binary for this machine, and logs that", async () => {
    putBinary(undefined);
    const service = await startTestService({ packageRoot: folder, env: { GANNET_SERVER_WEB_SERVER: 'auto' } });
    try {
      expect(await service.client.post('/list/default', { name: 'films' })).toMatchObject({ status: 201 });
      expect(service.output).toMatch(
        /"level":40,[^\n]*It has no binary for Node\.js [^\n]*Node\.js's own web server is in its place/,
      );
      expect(await service.stop()).toBe(0);
    } finally {
      await service.close();
    }
  });
});
