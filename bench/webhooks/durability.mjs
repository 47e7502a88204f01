/**
 * `node bench/webhooks/durability.mjs [deliveries] [kills] [seed]`: the kill test of webhooks at full size (default 1,000,000
 * deliveries, 20 kills). It is the test of the suite with other numbers, so that there is one of it.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../end-to-end/lib/service.mjs';

const [deliveries = '1000000', kills = '20', seed = '1'] = process.argv.slice(2);
const args = ['run', '--project', 'integration', 'test/durability/webhooks-kill.test.ts'];
const { status } = spawnSync(join(root, 'node_modules', '.bin', 'vitest'), args, {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    GANNET_WEBHOOK_KILL_DELIVERIES: deliveries,
    GANNET_WEBHOOK_KILLS: kills,
    GANNET_KILL_SEED: seed,
  },
});
process.exitCode = status ?? 1;
