import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessage } from './message-reader.js';

const NOW_MS = Date.parse('2026-11-22T00:00:00Z');
const read = (source: string | Uint8Array) =>
  readMessage(Buffer.from(source as string), { folder: 'INBOX', receivedAt: new Date(NOW_MS - 1000), nowMs: NOW_MS });

describe('readMessage', () => {
  it('takes the date of its arrival where its own is none, or in the future', async () => {
    const arrived = '2026-11-21T23:59:59.000Z';
    for (const date of ['', 'Date: in a while\r\n', 'Date: Mon, 1 Jan 2046 00:00:00 +0000\r\n'])
      expect((await read(`${date}Subject: x\r\n\r\ntext`)).fields['date']).toBe(arrived);
    const own = await read('Date: Sat, 21 Nov 2026 10:00:00 +0200\r\n\r\ntext');
    expect(own.fields['date']).toBe('2026-11-21T08:00:00.000Z');
  });

  it('has no name of a Message-ID that is none', async () => {
    expect((await read('Message-ID: <>\r\n\r\nx')).messageId).toBeUndefined();
    expect((await read(`Message-ID: <${'a'.repeat(600)}@x>\r\n\r\nx`)).messageId).toBeUndefined();
    expect((await read('Message-ID: <a@b>\r\n\r\nx')).messageId).toBe('a@b');
  });

  it('reads whatever comes, and gives well-formed text (fuzz)', async () => {
    const line = fc.constantFrom(
      ...['Content-Type: multipart/mixed; boundary=b', '--b', '--b--', '', 'Content-Transfer-Encoding: base64'],
      ...['Content-Type: text/html; charset=utf-16', 'Subject: =?utf-8?B?////?=', 'From: <<,;"', 'Date: -', 'QUJD'],
    );
    const message = fc.array(fc.oneof(line, fc.string()), { maxLength: 30 }).map((lines) => lines.join('\r\n'));
    await fc.assert(
      fc.asyncProperty(fc.oneof(message, fc.uint8Array({ maxLength: 500 })), async (source) => {
        const { fields } = await read(source);
        expect(fields['folder']).toBe('INBOX');
        for (const value of Object.values(fields).flat()) expect(String(value)).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });

  it('is bounded in depth and time', async () => {
    const before = process.cpuUsage();
    await read(
      'Content-Type: multipart/mixed; boundary=b\r\n\r\n'.concat(
        '--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n'.repeat(5000),
      ),
    );
    await read(`To: ${'<a@b>,'.repeat(100_000)}\r\n\r\nx`);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10);
  });
});
