import fc from 'fast-check';
import PostalMime from 'postal-mime';
import { describe, expect, it } from 'vitest';
import { Slices } from '../text/slices.js';
import { parseMessage } from './message-parser.js';
import { readMessage } from './message-reader.js';

const NOW_MS = Date.parse('2026-11-22T00:00:00Z');
const read = (source: string | Uint8Array) =>
  readMessage(Buffer.from(source as string), { folder: 'INBOX', receivedAt: new Date(NOW_MS - 1000), nowMs: NOW_MS });

describe('readMessage', () => {
  it('uses the date of arrival if the message has none or one in the future', async () => {
    const arrived = '2026-11-21T23:59:59.000Z';
    for (const date of ['', 'Date: in a while\r\n', 'Date: Mon, 1 Jan 2046 00:00:00 +0000\r\n'])
      expect((await read(`${date}Subject: x\r\n\r\ntext`)).fields['date']).toBe(arrived);
    const own = await read('Date: Sat, 21 Nov 2026 10:00:00 +0200\r\n\r\ntext');
    expect(own.fields['date']).toBe('2026-11-21T08:00:00.000Z');
  });

  it('has no name if the Message-ID is empty or too long', async () => {
    expect((await read('Message-ID: <>\r\n\r\nx')).messageId).toBeUndefined();
    expect((await read(`Message-ID: <${'a'.repeat(600)}@x>\r\n\r\nx`)).messageId).toBeUndefined();
    expect((await read('Message-ID: <a@b>\r\n\r\nx')).messageId).toBe('a@b');
  });

  it('reads any bytes and returns well-formed text (fuzz)', async () => {
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

  it('reads messages within the message, with their files, in any encoding', async () => {
    const inner = (number: number, behind = '') =>
      [`Subject: Inner ${number}`, 'From: Ada <ada@example.com>', 'Content-Type: multipart/mixed; boundary=i', '']
        .concat('--i', 'Content-Type: text/plain', '', `Text of ${number}`)
        .concat('--i', `Content-Type: application/pdf; name=${number}.pdf`, '', '%PDF-', behind, '--i--', '')
        .join('\r\n');
    const parts = [
      `--b\r\n\r\nSee below`,
      `--b\r\nContent-Type: message/rfc822\r\n\r\n${inner(1)}`,
      `--b\r\nContent-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(inner(2)).toString('base64')}`,
      '--b--',
    ];
    const outer = `Subject: Fwd\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${parts.join('\r\n')}`;
    const { fields, files } = await read(outer);
    expect(fields).toMatchObject({ subject: 'Fwd', attachments: ['1.pdf', '2.pdf'] });
    expect(String(fields['text']).split('\n\n')).toEqual([
      'See below',
      'Inner 1\nAda <ada@example.com>\nText of 1',
      'Inner 2\nAda <ada@example.com>\nText of 2',
    ]);
    expect(files.map(({ kind, content }) => [kind, Buffer.from(content).toString().trim()])).toEqual([
      ['document', '%PDF-'],
    ]);
    // Deeper messages are files like any other.
    const deep = 'Content-Type: message/rfc822\r\n\r\n'.repeat(50).concat('Subject: deep\r\n\r\nx');
    expect((await read(deep)).fields['folder']).toBe('INBOX');
    // In a truncated message the files of inner messages may be truncated, and are left out.
    const context = { folder: 'INBOX', receivedAt: undefined, nowMs: NOW_MS };
    const cut = await readMessage(Buffer.from(outer).subarray(0, outer.indexOf('--i--')), { ...context, isCut: true });
    expect(cut.files).toEqual([]);
    expect(cut.fields['attachments']).toEqual(['1.pdf']);
  });

  it('returns the same bodies line by line as the library does for the whole message', async () => {
    const line = fc.constantFrom(
      ...['--b', '--b--', '', '', ' ', 'text', '-- ', 'QUJD', 'QUI=', '=41=', '=', '>From', 'a\r', '\u00e4'],
      ...['Content-Type: multipart/mixed; boundary=b', 'Content-Type: text/plain', 'Content-Type: application/pdf'],
      ...['Content-Transfer-Encoding: base64', 'Content-Transfer-Encoding: quoted-printable'],
    );
    const message = fc.array(fc.tuple(line, fc.constantFrom('\r\n', '\n')), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(message, async (lines) => {
        const source = Buffer.from(`Content-Type: multipart/mixed; boundary=b\n\n--b\n${lines.flat().join('')}`);
        const slices = new Slices();
        const { email, attachments } = await parseMessage(source, { slices, isCut: false });
        const plain = await PostalMime.parse(source);
        expect([email?.text, email?.html, attachments]).toEqual([plain.text, plain.html, plain.attachments]);
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
