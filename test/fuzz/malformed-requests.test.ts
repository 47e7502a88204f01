/**
 * Sends thousands of malformed requests to all operations: each is answered with a 4xx problem document, nothing is
 * leaked, and memory stays flat. For more requests, or to repeat a failure: `FUZZ_REQUESTS=100000 FUZZ_SEED=7 npx
 * vitest run test/fuzz`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/client.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';
import { RequestMutator, type MalformedRequest } from './request-mutations.js';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 10_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const AT_A_TIME = 8;
const WARM_UP_REQUESTS = 1000;
const MEMORY_GROWTH_BYTES_MAX = 48 * 1024 * 1024;
const MEMORY = 'process_resident_memory_bytes';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({
    env: {
      GANNET_SEARCH_RATE_PER_MINUTE: '1000000',
      GANNET_KEYS_READ_ONLY_PER_HOUR: '1000000',
      GANNET_LOG_LEVEL: 'warn',
    },
  });
  await service.client.post('/list/default', {
    name: 'films',
    searchable_fields: [{ name: 'title' }],
    facets: [{ name: 'year', type: 'number' }],
  });
  await service.client.post('/search-result/default/films', { name: 'a', title: 'gannet', year: 1983 });
  await service.client.post('/list-group/default', { name: 'media', lists: [{ list: 'films' }] });
});
afterAll(() => service.close());

/** How often each code was the answer, which shows that the generator reaches every kind of refusal. */
const codes = new Map<string, number>();

async function send(request: MalformedRequest): Promise<string | undefined> {
  const where = `${request.kind}: ${request.method} ${request.path.slice(0, 300)} ${JSON.stringify(request.options).slice(0, 500)}`;
  let answer: Answer;
  try {
    // The client's checker throws for an answer that is no problem document, or that shows a stack.
    answer = await service.client.send(request.method, request.path, request.options);
  } catch (error) {
    return `${where}\n  ${String(error).slice(0, 600)}`;
  }
  const { code } = (answer.body ?? {}) as { code?: unknown };
  codes.set(String(code), (codes.get(String(code)) ?? 0) + 1);
  if (answer.status >= 400 && answer.status < 500 && typeof code === 'string') return undefined;
  return `${where}\n  ${answer.status} ${answer.text.slice(0, 300)}`;
}

describe('malformed requests', () => {
  it(`are all answered with a 4xx problem document (${REQUESTS}, seed ${SEED})`, { timeout: 600_000 }, async () => {
    const place = {
      account: 'default',
      list: 'films',
      group: 'media',
      version: '1',
      id: '01900000-0000-7000-8000-000000000000',
      name: 'title',
    };
    const mutator = new RequestMutator(service.checker.operations, place, new SeededRandom(SEED));
    const failures: string[] = [];
    let memoryBefore = Number.NaN;
    for (let sent = 0; sent < REQUESTS; sent += AT_A_TIME) {
      if (sent >= Math.min(WARM_UP_REQUESTS, REQUESTS / 2) && Number.isNaN(memoryBefore)) {
        memoryBefore = await service.metric(MEMORY);
      }
      const requests = Array.from({ length: Math.min(AT_A_TIME, REQUESTS - sent) }, () => mutator.next());
      const results = await Promise.all(requests.map(send));
      failures.push(...results.filter((failure) => failure !== undefined));
    }
    const growth = (await service.metric(MEMORY)) - memoryBefore;
    const byCode = [...codes].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`);
    console.log(
      `${REQUESTS} malformed requests (seed ${SEED}): ${failures.length} answered wrongly; memory ${(growth / 1_048_576).toFixed(1)} MiB more after the first ${Math.min(WARM_UP_REQUESTS, REQUESTS / 2)}\n${byCode.join(', ')}`,
    );
    expect(failures.slice(0, 20).join('\n'), `${failures.length} answered wrongly`).toBe('');
    expect(growth).toBeLessThan(MEMORY_GROWTH_BYTES_MAX);

    // The requests have changed nothing, and the service works as before.
    const found = await service.client.get('/search/default/films/1', { query: 'gannet' });
    expect(found.body).toMatchObject({ total_count: 1 });
    expect((await service.client.get('/list/default')).body).toMatchObject({
      lists: [{ name: 'films', record_count: 1 }],
    });
  });
});
