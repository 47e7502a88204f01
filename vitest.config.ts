import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'native-bindings/*.test.ts', 'config/*.test.ts', 'scripts/**/*.test.mjs'],
          // The kernel keeps one registry for a process and its worker threads: tests run in processes, as the service does.
          pool: 'forks',
          env: { GANNET_KERNEL_CHECK_LEASES: '1' },
          testTimeout: 20_000,
          hookTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts'],
          pool: 'forks',
          env: { GANNET_KERNEL_CHECK_LEASES: '1' },
          // Each of these starts services of its own; one file at a time keeps their timing honest on a small machine.
          fileParallelism: false,
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
