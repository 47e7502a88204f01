import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** V8 complains about a flag that it does not know on the standard error, and goes on. */
async function complaints(program: string): Promise<string> {
  const compiled = new URL('../../dist/src/platform/garbage-collection.js', import.meta.url).href;
  const { stderr } = await run(process.execPath, ['--input-type=module', '--eval', program, compiled]);
  return stderr;
}

describe('tuned garbage collection', () => {
  it('sets what the V8 of this Node.js knows', async () => {
    const program =
      'const { tuneGarbageCollection } = await import(process.argv[1]); tuneGarbageCollection({ heapGrowthPercent: 300 });';
    expect(await complaints(program)).toBe('');
    const unknown = "import { setFlagsFromString } from 'node:v8'; setFlagsFromString('--no-such-flag');";
    expect(await complaints(unknown)).toContain('no-such-flag');
  });
});
