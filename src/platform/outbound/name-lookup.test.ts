import { createSocket, type Socket } from 'node:dgram';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../../test/support/free-port.js';
import { NameLookup, type AddressLookup } from './name-lookup.js';

const TYPES = { 1: 4, 28: 6 } as const;
const NO_SUCH_NAME = 3;
const SERVER_FAILS = 2;
const FOUR = [93, 184, 216, 34];
const SIX = [0x26, 6, 0x28, 0, 2, 0x20, 0, 1, 2, 0x48, 0x18, 0x93, 0x25, 0xc8, 0x19, 0x46];

let server: Socket;
let folder: string;
let names: NameLookup;
/** Names that the system was asked for; it resolves all of them to 127.0.0.1. */
let ofSystem: string[];
/** Returns the label by which a name is answered. */
let kindOf: (labels: readonly string[]) => string | undefined;
/** Called with this label and the whole name of each question that the DNS server gets. */
let onAsked: (first: string, name: string) => void = () => undefined;

/**
 * Answers as a DNS server: `silent…` gets no answer, `none…` does not exist, `broken…` fails; `four…` and `six…` have
 * an address of one family, all others of both.
 */
function answer(question: Buffer): Buffer | undefined {
  const labels: string[] = [];
  let at = 12;
  for (let length = question.readUInt8(at); length > 0; length = question.readUInt8(at)) {
    labels.push(question.toString('ascii', at + 1, at + 1 + length));
    at += length + 1;
  }
  const kind = TYPES[question.readUInt16BE(at + 1) as keyof typeof TYPES];
  const name = kindOf(labels) ?? '';
  onAsked(name, labels.join('.'));
  if (name.startsWith('silent')) return undefined;
  const code = name.startsWith('none') ? NO_SUCH_NAME : name.startsWith('broken') ? SERVER_FAILS : 0;
  const isThere = code === 0 && !name.startsWith(kind === 4 ? 'six' : 'four');
  const bytes = kind === 4 ? FOUR : SIX;
  const address = isThere ? [0xc0, 12, 0, kind === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes] : [];
  const head = [...question.subarray(0, 2), 0x81, 0x80 + code, 0, 1, 0, isThere ? 1 : 0, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from(head), question.subarray(12, at + 5), Buffer.from(address)]);
}

beforeEach(async () => {
  server = createSocket('udp4', (question, { port, address }) => {
    const answered = answer(question);
    if (answered !== undefined) server.send(answered, port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  folder = mkdtempSync(join(tmpdir(), 'gannet-names-'));
  const hostsPath = join(folder, 'hosts');
  writeFileSync(hostsPath, '# here\n127.0.0.9  silent.here.example.com Other.Example.com # that is all\n');
  const servers = [`127.0.0.1:${server.address().port}`];
  ofSystem = [];
  kindOf = ([first]) => first;
  const system: AddressLookup = (name, _options, callback) => {
    ofSystem.push(name);
    callback(null, [{ address: '127.0.0.1', family: 4 }]);
  };
  names = new NameLookup({ hostsPath, serversPath: join(folder, 'none'), servers, system });
});
afterEach(() => {
  onAsked = () => undefined;
  server.close();
  rmSync(folder, { recursive: true });
});

function found(name: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    names.lookup(name, { all: true }, (error, addresses: LookupAddress[]) => {
      if (error === null) resolve(addresses.map(({ address }) => address));
      else reject(error);
    });
  });
}

it('NameLookup resolves a name while a hundred others get no answer', async () => {
  let asked = 0;
  const areAsked = new Promise<void>((resolve) => (onAsked = () => ((asked += 1) >= 200 ? resolve() : undefined)));
  const silent = Array.from({ length: 100 }, (_, number) => found(`silent${number}.example.com`));
  for (const each of silent) each.catch(() => undefined);
  await areAsked;
  expect((await found('good.example.com')).sort()).toEqual(['2606:2800:220:1:248:1893:25c8:1946', '93.184.216.34']);
});

it('NameLookup accepts addresses of one family only, and tells a name that does not exist from a failure of the server', async () => {
  expect(await found('four.example.com')).toEqual(['93.184.216.34']);
  expect(await found('six.example.com')).toEqual(['2606:2800:220:1:248:1893:25c8:1946']);
  await expect(found('none.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  await expect(found('broken.example.com')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
});

it('NameLookup completes short names with the search domains of the machine, in their order', async () => {
  const asked = new Set<string>();
  onAsked = (_first, name) => asked.add(name);
  const namesAsked = async (name: string, resolvConf: string) => {
    asked.clear();
    const serversPath = join(folder, 'resolv.conf');
    writeFileSync(serversPath, resolvConf);
    names = new NameLookup({ hostsPath: '', serversPath, servers: [`127.0.0.1:${server.address().port}`] });
    await found(name).catch(() => undefined);
    return [...asked];
  };
  const cluster = '# of a cluster\nsearch old.example\nsearch tools.svc.local. none.example\noptions ndots:5 edns0\n';
  expect(await namesAsked('ollama', cluster)).toEqual(['ollama.tools.svc.local']);
  expect(await namesAsked('none', cluster)).toEqual(['none.tools.svc.local', 'none.none.example', 'none']);
  expect(await namesAsked('none.example.com.', cluster)).toEqual(['none.example.com']);
  expect(await namesAsked('none.example.com', 'domain here.example\n')).toEqual([
    'none.example.com',
    'none.example.com.here.example',
  ]);
});

it('NameLookup passes over search domains whose server fails, and tells such a failure from a name that does not exist', async () => {
  const serversPath = join(folder, 'resolv.conf');
  writeFileSync(serversPath, 'search broken.example none.example\noptions ndots:3\n');
  kindOf = (labels) => (labels.length > 3 ? labels.at(-2) : labels[0]);
  names = new NameLookup({ hostsPath: '', serversPath, servers: [`127.0.0.1:${server.address().port}`] });
  expect((await found('api.example.com')).sort()).toEqual(['2606:2800:220:1:248:1893:25c8:1946', '93.184.216.34']);
  await expect(found('none.example.com')).rejects.toMatchObject({ code: 'EAI_AGAIN' });
});

it('NameLookup asks the system about local names and names of the hosts file, and if no name server answers', async () => {
  const here = ['localhost', 'on.localhost', 'silent.here.example.com', 'other.example.com'];
  for (const name of here) expect(await found(name)).toEqual(['127.0.0.1']);
  expect(ofSystem).toEqual(here);
  await found('four.example.com');
  expect(ofSystem).toEqual(here);
  const servers = [`127.0.0.1:${await freePort()}`];
  names = new NameLookup({
    hostsPath: '',
    serversPath: '',
    servers,
    system: (_name, _options, callback) => callback(null, []),
  });
  expect(await found('good.example.com')).toEqual([]);
});
