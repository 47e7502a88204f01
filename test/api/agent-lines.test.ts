/** Lines that no client of the protocol would send to `gannet mcp`, and that are refused over HTTP. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const PACKAGE = join(import.meta.dirname, '../..');

/** Returns the messages that came back for these lines, each parsed. */
async function answersTo(lines: readonly string[]): Promise<unknown[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-agent-lines-'));
  const child = spawn(process.execPath, [join(PACKAGE, 'bin', 'gannet.js'), 'mcp'], {
    env: { ...process.env, GANNET_DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(lines.map((line) => `${line}\n`).join(''));
  const said = await text(child.stdout);
  rmSync(dataDir, { recursive: true, force: true });
  return said
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
}

const START =
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}';

it('A malformed message over standard input is refused with its reason, and later messages are answered', async () => {
  const twice =
    '{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"search_list","arguments":{"list":"a","list":"b"}}}';
  const deep = `{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`;
  const answers = await answersTo([
    START,
    '{"jsonrpc":"2.0","method":"notifications/initialized"}',
    twice,
    deep,
    '{"jsonrpc":"2.0","id":4,',
    '',
    '{"jsonrpc":"2.0","id":5,"method":"ping"}',
  ]);
  const refused = (id: unknown, code: number, sentence: RegExp) =>
    expect.objectContaining({ id, error: { code, message: expect.stringMatching(sentence) as string } }) as unknown;
  expect(answers).toHaveLength(5);
  expect(answers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 1, result: expect.anything() as unknown }),
      refused('two', -32_600, /^At line 1, column \d+: .*list.*twice/),
      refused(3, -32_600, /more than 100 levels deep/),
      refused(null, -32_700, /^At line 1, column 25: the text ends/),
      { jsonrpc: '2.0', id: 5, result: {} },
    ]),
  );
});
