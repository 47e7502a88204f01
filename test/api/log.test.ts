import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startTestService } from '../support/service.js';

const LOGGER = new URL('../../dist/src/platform/logger.js', import.meta.url).href;
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

interface LogLine {
  readonly requestId?: string;
  readonly operation?: string;
  readonly time: string;
}

describe('the log', () => {
  it('has a line for each request, also for the last ones before a stop', async () => {
    const begin = new Date().toISOString();
    const service = await startTestService({ env: { GANNET_LOG_LEVEL: 'info' } });
    await service.client.post('/list/default', { name: 'one', searchable_fields: [{ name: 'text' }] });
    const ids = Array.from({ length: 200 }, (_, index) => `request-${index}`);
    const answers = ids.map((id) =>
      fetch(`${service.address}/search/default/one/1?query=red`, {
        headers: { 'X-API-Key': service.client.key ?? '', 'X-Request-Id': id },
      }).then(({ status }) => status),
    );
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    expect(await service.stop()).toBe(0);
    const lines = service.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine);
    const logged = lines.filter(({ requestId }) => requestId?.startsWith('request-') === true);
    expect(logged.map(({ requestId }) => requestId).sort()).toEqual([...ids].sort());
    expect(new Set(logged.map(({ operation }) => operation))).toEqual(new Set(['search.list-by-query']));
    const times = lines.map(({ time }) => time);
    for (const time of times) expect(new Date(time).toISOString()).toBe(time);
    const inOrder = [begin, ...times, new Date().toISOString()];
    expect(inOrder).toEqual([...inOrder].sort());
    await service.close();
  });

  it('has all lines that are logged just before the process exits', () => {
    const endings = ['process.exit(7)', 'process.nextTick(() => process.exit(7))', 'process.exitCode = 7'];
    for (const ending of endings) {
      const script = `
        import { createLogger } from ${JSON.stringify(LOGGER)};
        const log = createLogger({ log: { level: 'info' } });
        for (let line = 1; line <= 300; ++line) log.info({ line }, 'The last words');
        ${ending};
      `;
      const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
        cwd: PACKAGE,
        encoding: 'utf8',
      });
      const lines = stderr
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { line: number }).line);
      expect([ending, status, lines]).toEqual([ending, 7, Array.from({ length: 300 }, (_, index) => index + 1)]);
    }
  });

  it('has what was logged before an uncaught error', () => {
    const script = `
      import { createLogger } from ${JSON.stringify(LOGGER)};
      const log = createLogger({ log: { level: 'info' } });
      log.info('The last words');
      throw new Error('unexpected');
    `;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: PACKAGE,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('"msg":"The last words"');
  });
});
