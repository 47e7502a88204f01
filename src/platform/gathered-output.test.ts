import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { flushLogs, GatheredOutput, type LineOutput } from './gathered-output.js';

/** An output whose background writes end when the test says so. */
class RecordingOutput extends EventEmitter implements LineOutput {
  readonly written: string[] = [];
  private readonly background: string[] = [];

  write(text: string): void {
    this.background.push(text);
  }

  writeSync(text: string): void {
    this.written.push(text);
  }

  flushSync(): void {
    // As in a real output, a background write that has begun keeps its text.
    this.written.push(...this.background.splice(1));
  }

  /** Ends every background write. */
  endWrites(): void {
    this.written.push(...this.background.splice(0));
    this.emit('drain');
  }
}

function recorded(): { output: RecordingOutput; written: string[]; gathered: GatheredOutput } {
  const output = new RecordingOutput();
  return { output, written: output.written, gathered: new GatheredOutput(output) };
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${String(from + index).padStart(99, '0')}\n`);

describe('GatheredOutput', () => {
  it('writes the lines of a turn at once and in order, and those of the next turn afterwards', async () => {
    const { output, written, gathered } = recorded();
    for (const line of ['a\n', 'b\n', 'c\n']) gathered.write(line);
    output.endWrites();
    expect(written).toEqual([]);
    await nextTurn();
    output.endWrites();
    expect(written).toEqual(['a\nb\nc\n']);
    gathered.write('d\n');
    await nextTurn();
    await nextTurn();
    output.endWrites();
    expect(written).toEqual(['a\nb\nc\n', 'd\n']);
  });

  it('keeps outputs separate', async () => {
    const [one, two] = [recorded(), recorded()];
    one.gathered.write('one\n');
    two.gathered.write('two\n');
    await nextTurn();
    one.output.endWrites();
    two.output.endWrites();
    expect([one.written, two.written]).toEqual([['one\n'], ['two\n']]);
  });

  it('writes long text of a turn in parts', async () => {
    const { output, written, gathered } = recorded();
    for (const line of lines(0, 400)) gathered.write(line);
    await nextTurn();
    output.endWrites();
    expect(written.length).toBe(3);
    expect(Math.max(...written.map(({ length }) => length))).toBeLessThan(17_400);
    expect(written.join('')).toBe(lines(0, 400).join(''));
  });

  it('starts no background write at the end of the process, because later lines would come first', () => {
    for (const count of [1, 400]) {
      const { output, written, gathered } = recorded();
      for (const line of lines(0, count)) gathered.write(line);
      gathered.flushSync();
      output.endWrites();
      expect(written.join('')).toBe(lines(0, count).join(''));
    }
  });

  it('drains in order: waiting lines follow the write in progress', async () => {
    const { output, written, gathered } = recorded();
    for (const line of lines(0, 200)) gathered.write(line);
    await nextTurn();
    for (const line of lines(200, 600)) gathered.write(line);
    let drained = false;
    const drain = gathered.drain().then(() => (drained = true));
    await nextTurn();
    expect([drained, written]).toEqual([false, []]);
    output.endWrites();
    await drain;
    expect(written.join('')).toBe(lines(0, 600).join(''));
  });

  it('drains at once if nothing waits, and stops waiting if a write fails', async () => {
    const { output, gathered } = recorded();
    await gathered.drain();
    gathered.write('lost\n');
    const drain = gathered.drain();
    output.emit('error', new Error('ENOSPC'));
    await drain;
  });
});

it('flushLogs writes gathered lines when the process ends abruptly', () => {
  const output = new RecordingOutput();
  new GatheredOutput(output).write('last\n');
  flushLogs();
  expect(output.written).toEqual(['last\n']);
});
