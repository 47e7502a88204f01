/** The killing process runs compiled code (`npm run build`), in a process group of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { packageRoot } from '../paths.js';

const COMPILED = pathToFileURL(join(packageRoot(), 'dist', 'src', 'platform', 'hosts', 'kill-process.js')).href;
const PROGRAM = `
  import { spawn } from 'node:child_process';
  import { killProcess } from ${JSON.stringify(COMPILED)};
  const child = spawn('/there/is/none');
  child.once('error', ({ code }) => process.stdout.write(code));
  killProcess(child);
`;

it('killProcess kills nothing if the process could not be started', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  let said = '';
  child.stdout.on('data', (piece: Buffer) => (said += piece.toString()));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(said).toBe('ENOENT');
});
