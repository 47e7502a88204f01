/**
 * Runs reverse proxies as separate processes, configured by the files in `config` that operators copy. Needs Linux and
 * apt.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MadeCertificate } from './certificate.js';
import { packagesFault, unpackedPackages } from './debian-packages.js';
import { Nginx, nginxFault } from './feeds/nginx.js';

export interface ProxySetup {
  /** Empty folder for its files. */
  readonly folder: string;
  readonly certificate: MadeCertificate;
  /** Host and port of the service. */
  readonly service: string;
  /** Port of the proxy, for TLS as `localhost`. */
  readonly port: number;
}

export interface ProxyKind {
  readonly name: string;
  /** Status of answers while the service is down. */
  readonly downStatus: number;
  /** Why it cannot be started here. Undefined if it can. */
  readonly fault: string | undefined;
  /** Starts the proxy. Resolves with a function that stops it, possibly before it accepts connections. */
  readonly start: (setup: ProxySetup) => Promise<() => Promise<void>>;
}

const PACKAGES = {
  caddy: ['caddy'],
  haproxy: ['haproxy', 'liblua5.3-0', 'libopentracing-c-wrapper0', 'libopentracing1'],
} as const;

export const PROXIES: readonly ProxyKind[] = [
  { name: 'nginx', downStatus: 502, fault: nginxFault(), start: startNginx },
  { name: 'Caddy', downStatus: 502, fault: faultOf('caddy'), start: startCaddy },
  { name: 'HAProxy', downStatus: 503, fault: faultOf('haproxy'), start: startHaproxy },
];

async function startNginx({ certificate, service, port }: ProxySetup): Promise<() => Promise<void>> {
  const site = fileWith('nginx.conf', [
    ['server 127.0.0.1:8400;', `server ${service};`],
    ['listen 443 ssl;', `listen 127.0.0.1:${port} ssl;`],
    ['listen [::]:443 ssl;', ''],
    ['server_name search.example.com;', 'server_name localhost;'],
    ['/etc/ssl/certs/search.example.com.pem', certificate.certificatePath],
    ['/etc/ssl/private/search.example.com.key', certificate.keyPath],
  ]);
  const nginx = await Nginx.start('', site);
  return () => nginx.close();
}

async function startCaddy({ folder, certificate, service, port }: ProxySetup): Promise<() => Promise<void>> {
  const { certificatePath, keyPath } = certificate;
  const site = fileWith('Caddyfile', [
    ['search.example.com {', `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificatePath} ${keyPath}`],
    ['127.0.0.1:8400', service],
  ]);
  const path = join(folder, 'Caddyfile');
  // Without its admin interface and port 80.
  writeFileSync(path, `{\n\tadmin off\n\tauto_https off\n}\n${site}`);
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const program = join(rootOf('caddy'), 'usr/bin/caddy');
  return running(spawn(program, ['run', '--adapter', 'caddyfile', '--config', path], { stdio: 'ignore', env }));
}

async function startHaproxy({ folder, certificate, service, port }: ProxySetup): Promise<() => Promise<void>> {
  const { certificatePath, keyPath } = certificate;
  const both = join(folder, 'both.pem');
  writeFileSync(both, `${readFileSync(certificatePath, 'utf8')}${readFileSync(keyPath, 'utf8')}`, { mode: 0o600 });
  const settings = fileWith('haproxy.cfg', [
    ['bind :::443 v4v6', `bind 127.0.0.1:${port}`],
    ['/etc/haproxy/certs/search.example.com.pem', both],
    ['127.0.0.1:8400', service],
  ]);
  const path = join(folder, 'haproxy.cfg');
  writeFileSync(path, settings);
  const root = rootOf('haproxy');
  const libraries = [`${root}/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`];
  const env = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') };
  return running(spawn(join(root, 'usr/sbin/haproxy'), ['-db', '-f', path], { stdio: 'ignore', env }));
}

function rootOf(name: keyof typeof PACKAGES): string {
  return unpackedPackages(name, PACKAGES[name]);
}

function faultOf(name: keyof typeof PACKAGES): string | undefined {
  try {
    rootOf(name);
    return undefined;
  } catch (error) {
    return packagesFault(name, error);
  }
}

/** Returns the file with an operator's values replaced by the test's. Throws if one is missing. */
function fileWith(name: string, places: readonly (readonly [theirs: string, ours: string])[]): string {
  const file = readFileSync(join(import.meta.dirname, '../../config', name), 'utf8');
  return places.reduce((all, [theirs, ours]) => {
    if (!all.includes(theirs)) throw new Error(`config/${name} has no “${theirs}”`);
    return all.replace(theirs, ours);
  }, file);
}

function running(child: ChildProcess): () => Promise<void> {
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  };
}
