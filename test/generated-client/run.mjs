/**
 * Tests a client generated from the OpenAPI document by a generator for Python (PyPI): whether every operation is
 * generated, and whether the client can call the service and read its answers. Run with `node
 * test/generated-client/run.mjs`; ends with `N passed, N failed`, or says why it was skipped.
 * What it needs is installed into the user's cache, once for each version.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../scripts/lib/steps.mjs';
import { startService } from '../support/described-service.mjs';
import { pythonPrograms, runUnlessSkipped } from '../support/python-program.mjs';

const GENERATOR = 'openapi-python-client';
const VERSION = '0.29.1';

/** Operations that the generator says it leaves out, because one of their bodies has no type that it knows. */
const LEFT_OUT = ['search/image/{account}/{list}/{version}', 'search/image/group/{account}/{group}/{version}'];

/** Generates the client; returns a sentence for each operation that is missing. */
async function generate(programs, folder, document) {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, document);
  const { code, output } = await run(
    join(programs, GENERATOR),
    ['generate', '--path', file, '--output-path', join(folder, 'client'), '--meta', 'none'],
    { cwd: folder },
  );
  if (code !== 0) return [`the client is not generated:\n${output}`];
  const missing = [...output.matchAll(/^WARNING parsing (\S+ \S+) .*Endpoint will not be generated/gm)];
  return missing
    .map(([, operation]) => `${operation} is not generated`)
    .filter((sentence) => !LEFT_OUT.some((path) => sentence.includes(path)));
}

async function main() {
  const programs = await pythonPrograms(GENERATOR, VERSION);
  const folder = mkdtempSync(join(tmpdir(), 'gannet-generated-'));
  const service = await startService(join(folder, 'data'));
  try {
    const answer = await fetch(`${service.address}/openapi.json`);
    const faults = await generate(programs, folder, await answer.text());
    const called =
      faults.length > 0
        ? { code: 1, output: '' }
        : await run(
            join(programs, 'python'),
            [join(import.meta.dirname, 'calls.py'), folder, service.address, service.key],
            { cwd: folder },
          );
    process.stdout.write([...faults, called.output].join('\n'));
    const [passed, failed] = [...called.output.matchAll(/^(\d+) called, (\d+) failed$/gm)]
      .at(-1)
      ?.slice(1)
      .map(Number) ?? [0, 1];
    process.stdout.write(`${passed} passed, ${failed + faults.length} failed\n`);
    return called.code === 0 && failed === 0 ? 0 : 1;
  } finally {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

await runUnlessSkipped('The generated client', main);
