import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { directForms } from '../../../test/support/direct-forms.mjs';
import { createChildProcess, type Host } from './index.js';

interface TestProtocol {
  readonly questions: {
    readonly echo: { readonly ask: unknown; readonly answer: unknown };
    readonly die: { readonly ask: string; readonly answer: never };
  };
  readonly notices: Record<never, never>;
  readonly events: Record<never, never>;
}

const entry = fileURLToPath(new URL('../../../test/support/direct-worker.mjs', import.meta.url));

describe('the direct line to a child process', () => {
  let host: Host<TestProtocol>;
  let deaths: Error[];

  beforeEach(() => {
    deaths = [];
    host = createChildProcess<TestProtocol>({
      name: 'direct',
      entry,
      data: null,
      heapMibMax: 64,
      memoryMibMax: 300,
      niceness: 0,
      shortForms: directForms,
      onDeath: (error) => deaths.push(error),
      onBug: () => undefined,
    });
  });
  afterEach(() => host.close());

  it('carries messages with a short form, even before the process runs, and leaves others to the channel', async () => {
    const answers = await Promise.all([host.call('echo', 'first'), host.call('echo', 2), host.call('echo', ['third'])]);
    expect(answers).toEqual(['by the line: by the line: first', 2, ['third']]);
  });

  it('carries messages that come in many parts, and many at once', async () => {
    const long = 'A gannet dives. '.repeat(200_000);
    const texts = [long, ...Array.from({ length: 50 }, (_, number) => `${number}`), long];
    const answers = await Promise.all(texts.map((text) => host.call('echo', text)));
    expect(answers).toEqual(texts.map((text) => `by the line: by the line: ${text}`));
  });

  it('leaves no call waiting when the process dies, and is created again for the next process', async () => {
    await expect(host.call('die', 'now')).rejects.toMatchObject({ code: 'internal-error' });
    expect(deaths).toHaveLength(1);
    expect(await host.call('echo', 'again')).toBe('by the line: by the line: again');
  });
});
