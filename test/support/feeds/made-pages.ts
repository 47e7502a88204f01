/** Answers other than HTML pages with status 200. */
import type { MadePage } from './made-site.js';

export const status =
  (code: number, headers: Readonly<Record<string, string>> = {}): MadePage =>
  (_asked, response) =>
    response.writeHead(code, headers).end('no');

export const typed =
  (type: string, body: string | Buffer): MadePage =>
  (_asked, response) =>
    response.writeHead(200, { 'content-type': type }).end(body);

export const redirect = (to: string): MadePage => status(301, { location: to });
