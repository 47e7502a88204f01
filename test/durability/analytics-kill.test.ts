/** Tests analytics of a service that is killed: what was counted stays counted, and counting goes on. */
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { SeededRandom } from '../support/random.js';
import { startTestService, type TestService } from '../support/service.js';

const KILLS = 3;
const SEED = 20_261_122;

let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  service = undefined;
});

async function startWithList(env: Record<string, string> = {}): Promise<TestService> {
  service = await startTestService({ env: { GANNET_ANALYTICS_ROLL_UP_SECONDS: '1', ...env } });
  await service.client.post('/list/default', { name: 'birds', searchable_fields: [{ name: 'text' }] });
  await service.client.bulk('default', 'birds', [{ name: 'gannet', text: 'dives at full speed' }]);
  return service;
}

const search = ({ client }: TestService, query: string) => client.get('/search/default/birds/1', { query });
/** On a busy machine, a report waits for its turn and may be refused meanwhile. */
const total = async ({ client }: TestService) => {
  const report = await eventually(
    () => client.get('/analytics/list/default/birds'),
    ({ status }) => status === 200,
  );
  return (report.body as { total_searches: number }).total_searches;
};

describe('analytics', () => {
  it(`lose nothing that a report has shown, over ${KILLS} kills of the service`, async () => {
    const running = await startWithList();
    const random = new SeededRandom(SEED);
    let answered = 0;
    for (let kill = 0; kill < KILLS; ++kill) {
      const searchSome = async (count: number) => {
        for (let done = 0; done < count; ++done) await search(running, `dive ${done % 7}`);
        answered += count;
      };
      await searchSome(50 + random.below(200));
      const reported = await total(running);
      await searchSome(random.below(100));
      await running.stop('SIGKILL');
      await running.start();
      const counted = await total(running);
      expect(counted).toBeGreaterThanOrEqual(reported);
      expect(counted).toBeLessThanOrEqual(answered);
      expect(counted).toBeGreaterThan(0);
    }
  });

  it('are stored without a request for a report', async () => {
    const running = await startWithList();
    for (let count = 0; count < 100; ++count) await search(running, 'dive');
    await eventually(
      () => running.metric('gannet_analytics_events_rolled_up_total'),
      (events) => events === 100,
    );
    await running.stop('SIGKILL');
    await running.start();
    expect(await total(running)).toBe(100);
  });

  it('lose nothing at a clean stop', async () => {
    const running = await startWithList();
    for (let count = 0; count < 50; ++count) await search(running, 'dive');
    expect(await running.stop()).toBe(0);
    await running.start();
    expect(await total(running)).toBe(50);
  });

  it('are added up after the next start if the service was killed before', async () => {
    const running = await startWithList({ GANNET_ANALYTICS_ROLL_UP_SECONDS: '3600' });
    for (let count = 0; count < 50; ++count) await search(running, 'dive');
    expect(await total(running)).toBe(50);
    await running.stop('SIGKILL');
    await running.start();
    await eventually(
      () => running.metric('gannet_analytics_events_rolled_up_total'),
      (events) => events === 50,
    );
    expect(await total(running)).toBe(50);
  });

  it('count nothing if they are turned off', async () => {
    const running = await startWithList({ GANNET_ANALYTICS_ENABLED: 'false' });
    await search(running, 'dive');
    expect(await total(running)).toBe(0);
  });
});
