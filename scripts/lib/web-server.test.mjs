/** Tests the check for machines on which uWebSockets.js has no binary, or a damaged one, before anything is compiled. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { StepError } from './steps.mjs';
import { checkWebServer } from './web-server.mjs';

const ROOT = join(import.meta.dirname, '..', '..');
const folders = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true })));

function projectWith(library) {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-web-server-'));
  folders.push(folder);
  const home = join(folder, 'node_modules', 'uWebSockets.js');
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'index.js'), library);
  return folder;
}

const refusing = (reason) =>
  `throw new Error(${JSON.stringify(`This version of uWS.js supports only Node.js versions 16 and 20.\n\n${reason}`)})`;

it('checkWebServer says that Node.js has no binary and its own server is used', async () => {
  const folder = projectWith(refusing("Error: Cannot find module './uws_linux_x64_999.node'\nRequire stack:\n- /x"));
  expect(await checkWebServer(folder, ROOT)).toMatch(
    /Node\.js's own web server is in its place.* It has no binary for Node/,
  );
});

it('checkWebServer names the glibc version that the binary needs', async () => {
  const folder = projectWith(
    refusing("Error: /lib/libc.so.6: version `GLIBC_2.99' not found (required by /x/uws.node)"),
  );
  expect(await checkWebServer(folder, ROOT)).toMatch(/needs glibc 2\.99/);
});

it('checkWebServer throws a StepError if the binary is damaged', async () => {
  const refused = checkWebServer(projectWith(refusing('Error: /x/uws.node: file too short')), ROOT);
  await expect(refused).rejects.toThrow(StepError);
  await expect(refused).rejects.toThrow(/cannot be loaded\. Its binary .*file too short/);
});

it('checkWebServer throws with the output of other errors of the library', async () => {
  const folder = projectWith("throw new Error('quite another one')");
  await expect(checkWebServer(folder, ROOT)).rejects.toMatchObject({
    message: expect.stringContaining('above'),
    output: expect.stringContaining('quite another one'),
  });
});

it('checkWebServer returns undefined if the library can be loaded', async () => {
  expect(await checkWebServer(projectWith('module.exports = {}'), ROOT)).toBeUndefined();
});
