/** Runs Debian's nginx as a separate process that serves a folder on loopback. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packagesFault, unpackedPackages } from '../debian-packages.js';
import { eventually } from '../eventually.js';
import { freePort } from '../free-port.js';

/** Returns why it cannot be started here; undefined if it can. */
export function nginxFault(): string | undefined {
  try {
    unpackedPackages('nginx', ['nginx']);
    return undefined;
  } catch (error) {
    return packagesFault('nginx', error);
  }
}

export class Nginx {
  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly child: ChildProcess,
  ) {}

  /** `rules` are added to its server block, `more` next to it. */
  static async start(rules = '', more = ''): Promise<Nginx> {
    const root = unpackedPackages('nginx', ['nginx']);
    const folder = mkdtempSync(join(tmpdir(), 'gannet-nginx-'));
    mkdirSync(join(folder, 'site'));
    const port = await freePort();
    writeFileSync(join(folder, 'nginx.conf'), settings(folder, port, rules, more));
    const child = spawn(join(root, 'usr/sbin/nginx'), ['-p', folder, '-c', join(folder, 'nginx.conf')], {
      stdio: 'ignore',
    });
    const nginx = new Nginx(folder, port, child);
    await eventually(
      () =>
        fetch(nginx.url('/')).then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status > 0,
    );
    writeFileSync(join(folder, 'log'), '');
    return nginx;
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  write(path: string, content: string): void {
    const file = join(this.folder, 'site', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  remove(path: string): void {
    rmSync(join(this.folder, 'site', path));
  }

  /** Requests as path, status, and `gzip` if the answer was compressed, else `-`. */
  get answered(): string[] {
    return readFileSync(join(this.folder, 'log'), 'utf8').split('\n').slice(0, -1);
  }

  forgetAnswered(): void {
    writeFileSync(join(this.folder, 'log'), '');
  }

  async close(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function settings(folder: string, port: number, rules: string, more: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n  ');
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log ${folder}/errors;
events {}
http {
  ${temporary}
  types { text/html html; application/pdf pdf; text/xml xml; text/plain txt; }
  log_format told '$uri $status $sent_http_content_encoding';
  access_log ${folder}/log told;
  gzip on;
  gzip_min_length 1;
  server {
    listen 127.0.0.1:${port};
    root ${folder}/site;
    index index.html;
    ${rules}
  }
  ${more}
}
`;
}
