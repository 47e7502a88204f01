import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptedServer } from '../../test/support/scripted-server.js';
import { isCutOff } from './cut-files.js';
import { WebFiles } from './web-files.js';

const box = (type: string, bytes: number) => {
  const made = Buffer.alloc(bytes);
  made.writeUInt32BE(bytes);
  made.write(type, 4, 'latin1');
  return made;
};
const riff = Buffer.concat([Buffer.from('RIFF\x14\0\0\0WEBP', 'latin1'), Buffer.alloc(16)]);
const png = Buffer.from('\x89PNG\r\n\x1a\n a picture \0\0\0\0IEND\xaeB`\x82', 'latin1');
const PDF = Buffer.from('%PDF-1.7\nmuch\nstartxref\n9\n%%EOF\n');

it.each([
  ['a PDF', PDF],
  ['a PNG', png],
  ['a WebP', riff],
  ['an MP4', Buffer.concat([box('ftyp', 24), box('moov', 40), box('mdat', 64)])],
])('isCutOff recognizes that %s lacks its end', (_, whole) => {
  expect(isCutOff(whole)).toBe(false);
  expect(isCutOff(whole.subarray(0, -10))).toBe(true);
});

it('isCutOff is false for texts and unknown files, which have no recognizable end', () => {
  for (const text of ['', 'RIF', 'WEBVTT\n\n00:00', '<html>']) expect(isCutOff(Buffer.from(text))).toBe(false);
});

let server: ScriptedServer;
let files: WebFiles;
beforeEach(async () => {
  server = await ScriptedServer.start();
  const rules = { allowed_hosts: [], loopback_allowed: true };
  files = new WebFiles({ rules, bytesMax: 1e6, totalMs: 60_000, connectionsPerHost: 1, connections: 1 });
});
afterEach(async () => {
  await files.close();
  await server.close();
});

it('A file that breaks off is reported as unreachable, even if the server tells neither its length nor its end', async () => {
  let sent = PDF.subarray(0, -10);
  server.script = (_asked, response) => {
    for (const name of ['transfer-encoding', 'content-length']) response.removeHeader(name);
    response.end(sent);
  };
  const room = () => Promise.resolve();
  const { signal } = new AbortController();
  const wanted = { account: 'default', url: server.url('/a.pdf'), known: undefined, bytesMax: 1e6, room, signal };
  expect(await files.fetch(wanted)).toMatchObject({ kind: 'unreachable', error: 'timed-out' });
  sent = PDF;
  expect(await files.fetch(wanted)).toMatchObject({ kind: 'bytes' });
});
